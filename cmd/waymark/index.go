package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-rag/waymark/configs"
	"github.com/waymark-rag/waymark/ingest"
	"github.com/waymark-rag/waymark/internal/wire"
	"github.com/waymark-rag/waymark/pipeline"
)

func newIndex(a *app) *cobra.Command {
	var opts pipeline.IndexOptions
	var shard string
	var quiet bool
	cmd := &cobra.Command{
		Use:   "index DIR...",
		Short: "Bring the index up to date with folders or files",
		Args:  usageArgs(cobra.MinimumNArgs(1)),
		Long: `Index reads the folders and files named, encodes what is new or changed (by the
hash of its content) and stores it. Documents whose files are gone are removed.
A file that cannot be indexed is reported with the reason and never stops the
run, which then ends with exit code 3. A run that was interrupted is completed
by the next.

Several processes can index the same folders at once, each a share of the documents:
--shard 1/3, 2/3 and 3/3 do together what one run does.`,
		Example: "  waymark index docs\n  waymark index --exclude '*.log' --dry-run docs notes\n" +
			"  waymark index --store qdrant://localhost:6334/docs --shard 2/8 docs",
	}
	f := cmd.Flags()
	f.BoolVar(&opts.DryRun, "dry-run", false, "say what would be done, encode and store nothing")
	f.BoolVar(&opts.KeepMissing, "keep-missing", false, "keep documents whose files are gone")
	f.StringVar(&shard, "shard", "", "index only this share of the documents, such as 2/8 for the second of eight (default 1/1)")
	f.BoolVarP(&quiet, "quiet", "q", false, "no progress")
	f.StringSlice("include", nil, "globs of paths to read")
	f.StringSlice("exclude", nil, "globs of paths to leave out")
	f.Bool("hidden", false, "read hidden files and folders too")
	f.Bool("follow-symlinks", false, "go into folders that are symbolic links")
	cmd.RunE = func(cmd *cobra.Command, roots []string) error {
		cfg, err := a.config(changed(cmd, map[string]string{
			"include": "ingest.include", "exclude": "ingest.exclude",
			"hidden": "ingest.hidden", "follow-symlinks": "ingest.follow_symlinks",
		})...)
		if err != nil {
			return err
		}
		opts.Walk, opts.Read = ingestOptions(cfg)
		if shard != "" {
			if opts.Shard, err = pipeline.ParseShard(shard); err != nil {
				return usageError{fmt.Errorf("--shard: %w", err)}
			}
		}
		access := wire.Write
		if opts.DryRun {
			access = wire.Plan
		}
		b, err := a.open(cmd.Context(), cfg, access)
		if err != nil {
			return err
		}
		var bar *progress
		if !quiet && !a.json {
			bar = newProgress(a.stderr, "indexing", true)
			opts.Progress = bar.update
		}
		report, err := b.Index(cmd.Context(), roots, opts)
		if bar != nil {
			bar.finish()
		}
		dim := b.Model.Config().Dim
		if err = errors.Join(err, b.Close()); err != nil {
			return err
		}
		if a.json {
			err = a.printJSON(report)
		} else {
			err = printReport(a.stdout, report, dim)
		}
		if err == nil && len(report.Skipped) > 0 {
			err = errSkipped
		}
		return err
	}
	return cmd
}

func ingestOptions(cfg configs.Config) (ingest.WalkOptions, ingest.ReadOptions) {
	return ingest.WalkOptions{
			Include:     cfg.Ingest.Include,
			Exclude:     cfg.Ingest.Exclude,
			All:         cfg.Ingest.Hidden,
			FollowLinks: cfg.Ingest.FollowSymlinks,
		}, ingest.ReadOptions{
			MaxBytes: cfg.Ingest.MaxFileBytes,
		}
}

// printReport tells a person what an indexing run did.
func printReport(w io.Writer, r pipeline.Report, dim int) error {
	verb := ""
	if r.DryRun {
		verb = "to be "
	}
	_, err := fmt.Fprintf(w, "%d %sadded, %d %schanged, %d unchanged, %d %sremoved, %d skipped\n",
		r.Added, verb, r.Changed, verb, r.Unchanged, r.Removed, verb, len(r.Skipped))
	if err != nil {
		return err
	}
	switch {
	case r.DryRun:
		fmt.Fprintf(w, "%d chunks, %d tokens to encode; %d landmarks of %d dimensions, %s of vectors\n",
			r.Chunks, r.Tokens, r.Chunks, dim, size(int64(r.Chunks)*int64(dim)*2))
	case r.Chunks > 0:
		fmt.Fprintf(w, "%d chunks, %d tokens in %s; %.0f tokens/s, %.1f %% of the time encoding\n",
			r.Chunks, r.Tokens, r.Elapsed.Round(10*time.Millisecond), float64(r.Tokens)/r.Elapsed.Seconds(), 100*r.Encoding.Seconds()/r.Elapsed.Seconds())
	}
	for _, s := range r.Skipped {
		if _, err := fmt.Fprintf(w, "skipped %q: %s\n", s.Path, s.Reason); err != nil {
			return err
		}
	}
	return nil
}

// size writes a number of bytes for people.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
