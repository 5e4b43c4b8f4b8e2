package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-rag/waymark/configs"
	"github.com/waymark-rag/waymark/ingest"
	"github.com/waymark-rag/waymark/internal/wire"
	"github.com/waymark-rag/waymark/pipeline"
)

func newIndex(a *app) *cobra.Command {
	var opts pipeline.IndexOptions
	var shard, list, name string
	var quiet, watch bool
	cmd := &cobra.Command{
		Use:   "index DIR... | s3://BUCKET/PREFIX | https://HOST/sitemap.xml | -",
		Short: "Bring the index up to date with folders or files",
		Args:  usageArgs(cobra.MinimumNArgs(1)),
		Long: `Index reads the folders and files named, encodes what is new or changed (by the
hash of its content) and stores it. Documents whose files are gone are removed, files
under a new name are not encoded again. A file that cannot be indexed is reported with
the reason and never stops the run, which then ends with exit code 3. A run that was
interrupted is completed by the next.

Objects of a bucket are read like files, with the credentials that Amazon's programs
use; --set ingest.s3.endpoint=URL names another service. The pages of a sitemap are
read from the hosts that --host names, and from no other.

What .gitignore and .waymarkignore files leave out is left out. With - the document
itself is read from the standard input, under the name that --name gives it.

With --watch it goes on, and takes in every change soon after it is made.

Several processes can index the same folders at once, each a share of the documents:
--shard 1/3, 2/3 and 3/3 do together what one run does.`,
		Example: "  waymark index docs\n  waymark index --exclude '*.log' --dry-run docs notes\n" +
			"  waymark index --watch ~/notes\n  git ls-files | waymark index --files-from - .\n" +
			"  pdftotext report.pdf - | waymark index --name report.txt -\n  waymark index --store qdrant://localhost:6334/docs --shard 2/8 docs",
	}
	f := cmd.Flags()
	f.BoolVar(&opts.DryRun, "dry-run", false, "say what would be done, encode and store nothing")
	f.BoolVar(&opts.KeepMissing, "keep-missing", false, "keep documents whose files are gone")
	f.StringVar(&shard, "shard", "", "index only this share of the documents, such as 2/8 for the second of eight (default 1/1)")
	f.BoolVarP(&watch, "watch", "w", false, "stay and index every change until interrupted")
	f.StringVar(&list, "files-from", "", "index only the files that this one lists, a line (or NUL) for each; - is the standard input")
	f.StringVar(&name, "name", "", "name of the document on the standard input; its extension says the format")
	f.BoolVarP(&quiet, "quiet", "q", false, "no progress")
	f.StringSlice("include", nil, "globs of paths to read")
	f.StringSlice("exclude", nil, "globs of paths to leave out")
	f.StringSlice("host", nil, "hosts that may be asked for the pages of a sitemap")
	f.Bool("hidden", false, "read hidden files and folders too")
	f.Bool("ignored", false, "read what .gitignore and .waymarkignore leave out too")
	f.Bool("follow-symlinks", false, "go into folders that are symbolic links")
	cmd.RunE = func(cmd *cobra.Command, roots []string) error {
		cfg, err := a.config(changed(cmd, map[string]string{
			"include": "ingest.include", "exclude": "ingest.exclude",
			"host": "ingest.sitemap.hosts", "hidden": "ingest.hidden", "ignored": "ingest.ignored", "follow-symlinks": "ingest.follow_symlinks",
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
		piped := slices.Equal(roots, []string{"-"})
		if err := checkIndexArgs(roots, piped, watch, list, name, opts); err != nil {
			return usageError{err}
		}
		if list != "" {
			if opts.Walk.Only, err = readList(a.stdin, list); err != nil {
				return err
			}
			opts.KeepMissing = true // the list says what to read, not what there is
		}
		var sources []ingest.Source
		if !piped {
			if sources, err = wire.Sources(cfg, roots, opts.Walk); err != nil {
				return err
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
		run := &indexing{app: a, built: b, opts: opts, roots: roots, sources: sources, quiet: quiet}
		if piped {
			err = run.piped(cmd.Context(), a.stdin, name)
		} else {
			run.opts.Manifest = openManifest(cfg, b, opts)
			err = run.once(cmd.Context())
			if watch && (err == nil || errors.Is(err, errSkipped)) {
				err = run.watch(cmd.Context())
			}
		}
		return errors.Join(err, b.Close())
	}
	return cmd
}

// checkIndexArgs refuses what does not go together.
func checkIndexArgs(roots []string, piped, watch bool, list, name string, opts pipeline.IndexOptions) error {
	switch {
	case !piped && slices.Contains(roots, "-"):
		return errors.New("- stands for the standard input and goes with no folder")
	case piped && name == "":
		return errors.New("--name: want a name for the document on the standard input, such as notes.md")
	case !piped && name != "":
		return errors.New("--name: names a document on the standard input, which - reads")
	case piped && (watch || list != "" || opts.DryRun || opts.Shard != (pipeline.Shard{})):
		return errors.New("the standard input is one document: --watch, --files-from, --dry-run and --shard go with folders")
	case (watch || list != "") && slices.ContainsFunc(roots, wire.IsRemote):
		return errors.New("--watch and --files-from go with files and folders on disk")
	case watch && (opts.DryRun || list != ""):
		return errors.New("--watch goes with folders, and neither with --dry-run nor with --files-from")
	}
	return nil
}

// indexing is what a call of index has open.
type indexing struct {
	*app
	built   *wire.Built
	opts    pipeline.IndexOptions
	roots   []string
	sources []ingest.Source
	quiet   bool
}

// once indexes and tells what came of it.
func (x *indexing) once(ctx context.Context) error {
	opts := x.opts
	var bar *progress
	if !x.quiet && !x.json {
		bar = newProgress(x.stderr, "indexing", true)
		opts.Progress = bar.update
	}
	report, err := x.run(ctx, opts)
	if bar != nil {
		bar.finish()
	}
	if err != nil {
		return err
	}
	return x.tell(report)
}

// run brings the index up to date with each source.
func (x *indexing) run(ctx context.Context, opts pipeline.IndexOptions) (report pipeline.Report, err error) {
	for i, source := range x.sources {
		var more pipeline.Report
		more, err = x.built.IndexFrom(ctx, source, opts)
		if report = report.Plus(more); i == 0 {
			report = more
		}
		if err != nil {
			break
		}
	}
	return report, err
}

// tell prints a report, and is errSkipped where something was.
func (x *indexing) tell(report pipeline.Report) error {
	var err error
	if x.json {
		err = x.printJSON(report)
	} else {
		err = printReport(x.stdout, report, x.built.Model.Config().Dim)
	}
	if err == nil && len(report.Skipped) > 0 {
		err = errSkipped
	}
	return err
}

func ingestOptions(cfg configs.Config) (ingest.WalkOptions, ingest.ReadOptions) {
	return ingest.WalkOptions{
			Include:     cfg.Ingest.Include,
			Exclude:     cfg.Ingest.Exclude,
			All:         cfg.Ingest.Hidden,
			Ignored:     cfg.Ingest.Ignored,
			FollowLinks: cfg.Ingest.FollowSymlinks,
		}, ingest.ReadOptions{
			MaxBytes:    cfg.Ingest.MaxFileBytes,
			MaxUnpacked: cfg.Ingest.MaxUnpackedBytes,
			MaxTime:     cfg.Ingest.Timeout,
		}
}

// printReport tells a person what an indexing run did.
func printReport(w io.Writer, r pipeline.Report, dim int) error {
	verb := ""
	if r.DryRun {
		verb = "to be "
	}
	moved := ""
	if r.Moved > 0 {
		moved = fmt.Sprintf("%d %smoved, ", r.Moved, verb)
	}
	_, err := fmt.Fprintf(w, "%d %sadded, %d %schanged, %s%d unchanged, %d %sremoved, %d skipped\n",
		r.Added, verb, r.Changed, verb, moved, r.Unchanged, r.Removed, verb, len(r.Skipped))
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
