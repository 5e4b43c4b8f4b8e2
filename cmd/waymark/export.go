package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-rag/waymark/configs"
	"github.com/waymark-rag/waymark/internal/wire"
	"github.com/waymark-rag/waymark/retriever"
)

// exported is what export prints for programs.
type exported struct {
	To string `json:"to"`
	retriever.CopyReport
	Target retriever.Stats `json:"target"` // all that it holds now
}

func newExport(a *app) *cobra.Command {
	var to string
	var sets, filters []string
	var quiet bool
	cmd := &cobra.Command{
		Use:   "export --to PLACE",
		Short: "Copy the index to another store, vectors included",
		Args:  usageArgs(cobra.NoArgs),
		Long: `Export copies documents from --store to --to as they are, without encoding them
again: from a file to a Qdrant server, back, or from one to its like. The target is
made if it is not there; one that was made by another model is refused. What it has
already in this version is left alone, so that a run that was interrupted goes on
where it ended. Documents that only the target has stay.

Both stores are opened with the same settings; --to-set changes those of the target,
such as its tenant. A key is sent to one server alone: from one server to another,
--to-set qdrant.api_key_env=VARIABLE names the target's.`,
		Example: "  waymark export --to qdrant://localhost:6334/docs\n" +
			"  waymark export --store qdrant://localhost:6334/docs --filter format=markdown --to local:markdown.db\n" +
			"  waymark export --tenant acme --to-set tenant=acme2 --to local:.waymark/index.db",
	}
	f := cmd.Flags()
	f.StringVar(&to, "to", "", "where the documents go, as --store names a place")
	f.StringArrayVar(&sets, "to-set", nil, "set any setting for the target alone, such as tenant=acme; may be repeated")
	addFilters(cmd, &filters)
	f.BoolVarP(&quiet, "quiet", "q", false, "no progress")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		source, err := a.config()
		if err != nil {
			return err
		}
		target, err := a.targetConfig(source, to, sets)
		if err != nil {
			return err
		}
		filter, err := parseFilters(filters)
		if err != nil {
			return err
		}
		if err := checkApart(source, target); err != nil {
			return err
		}
		var bar *progress
		if !quiet && !a.json {
			bar = newProgress(a.stderr, "copying", false)
		}
		out, err := a.export(cmd.Context(), source, target, filter, bar)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(out)
		}
		return printExported(a.stdout, out)
	}
	return cmd
}

// targetConfig returns the settings that the target is opened with.
func (a *app) targetConfig(source configs.Config, to string, sets []string) (configs.Config, error) {
	if to == "" {
		return configs.Config{}, usageError{errors.New("export needs to know where to: want --to PLACE, such as --to qdrant://localhost:6334/docs")}
	}
	place, err := configs.ParsePlace(to)
	if err != nil {
		return configs.Config{}, usageError{fmt.Errorf("--to: %w", err)}
	}
	from, err := source.Place()
	if err != nil {
		return configs.Config{}, err
	}
	extra := []configs.Setting{{Key: "store", Value: to, From: "--to"}}
	if from.Kind == configs.KindQdrant && from.Address != place.Address { // the key is for that server
		extra = append(extra, configs.Setting{Key: "qdrant.api_key_env", From: "--to"}, configs.Setting{Key: "qdrant.api_key_file", From: "--to"})
	}
	if place.Tenant != "" { // it wins over the source's
		extra = append(extra, configs.Setting{Key: "tenant", Value: place.Tenant, From: "--to"})
	}
	more, err := parseSets("--to-set", sets)
	if err != nil {
		return configs.Config{}, err
	}
	return a.config(append(extra, more...)...)
}

// checkApart refuses a store as its own target.
func checkApart(source, target configs.Config) error {
	from, err := source.Place()
	if err != nil {
		return err
	}
	to, err := target.Place()
	if err != nil {
		return err
	}
	same := from == to
	if from.Kind == configs.KindLocal && to.Kind == configs.KindLocal && from.Tenant == to.Tenant {
		a, errA := os.Stat(from.Path)
		b, errB := os.Stat(to.Path)
		same = same || errA == nil && errB == nil && os.SameFile(a, b)
	}
	if same {
		return usageError{fmt.Errorf("--to %s: it is the store that is copied from: want another place, or another tenant with --to-set tenant=NAME", to)}
	}
	return nil
}

func (a *app) export(ctx context.Context, source, target configs.Config, filter retriever.Filter, bar *progress) (out exported, err error) {
	from, err := wire.OpenStore(ctx, source, a.getenv)
	if err != nil {
		return exported{}, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	// A mistake in the filter must not leave an empty target behind.
	if len(filter.All) > 0 {
		for _, err := range from.Scroll(ctx, filter, retriever.Want{}) {
			if err != nil {
				return exported{}, err
			}
			break
		}
	}
	to, err := wire.CreateStore(ctx, target, from.Fingerprint(), a.getenv)
	if err != nil {
		return exported{}, fmt.Errorf("--to: %w", err)
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	opts := retriever.CopyOptions{Filter: filter}
	if bar != nil {
		opts.Progress = bar.copied
		defer bar.finish()
	}
	out.To = target.Store
	if out.CopyReport, err = retriever.Copy(ctx, from, to, opts); err != nil {
		return exported{}, err
	}
	a.log().Info("copied", "documents", out.Copied, "unchanged", out.Unchanged, "elapsed", out.Elapsed)
	out.Target, err = to.Stats(ctx)
	return out, err
}

// printExported tells a person what was copied.
func printExported(w io.Writer, e exported) error {
	gone := ""
	if e.Gone > 0 {
		gone = fmt.Sprintf(", %d deleted meanwhile", e.Gone)
	}
	_, err := fmt.Fprintf(w, "%d copied, %d unchanged%s; %d chunks in %s\n%s has %d documents, %d chunks\n",
		e.Copied, e.Unchanged, gone, e.Chunks, e.Elapsed.Round(10*time.Millisecond), e.To, e.Target.Documents, e.Target.Chunks)
	return err
}
