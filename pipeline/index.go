package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waymark-rag/waymark/ingest"
	"github.com/waymark-rag/waymark/retriever"
)

// IndexOptions says what to index and how. The zero value is the default.
type IndexOptions struct {
	Walk ingest.WalkOptions // of folders
	Read ingest.ReadOptions
	// DryRun reads and cuts everything, but encodes and stores nothing.
	DryRun bool
	// KeepMissing leaves documents in the store whose files are gone.
	KeepMissing bool
	// Shard restricts the run to a share of the documents: no other is read,
	// stored, removed or reported. Runs on all shares, at once or one after the
	// other, do together what one run on the whole does.
	Shard Shard
	// Manifest, if there is one, spares the reading of files that have not changed
	// since it was written; the run brings it up to date.
	Manifest *Manifest
	// Progress is called after each file, from one goroutine at a time.
	Progress func(Progress)
}

// MetaRoot is the metadata key that indexing adds to what the reader found: the
// folder or file that was given to Index, as an absolute path. A later run looks
// there for documents whose files are gone.
const MetaRoot = "root"

// Shown is metadata for whoever reads a hit or an answer: without MetaRoot, which is of
// use on the machine that indexed alone, and tells others about it.
func Shown(metadata map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range metadata {
		if key != MetaRoot {
			out[key] = value
		}
	}
	return out
}

// Index brings the store up to date with the files under roots: new and changed
// ones are encoded and stored, unchanged ones (by the hash of their content, or by
// size and time where a manifest knows them) are left alone, those under a new name
// are stored under it without being encoded again, and documents whose files are gone are removed, as are those whose
// files no longer hold usable text. A file that cannot be indexed is reported
// and never stops the run; the error, with the report so far, is for what does.
//
// What was done when a run is cut short stays done; running it again completes
// it.
func (p *Pipeline) Index(ctx context.Context, roots []string, opts IndexOptions) (Report, error) {
	return p.IndexFrom(ctx, ingest.Folders{Paths: roots, Options: opts.Walk}, opts)
}

// IndexFrom is Index for files that a source lists; IndexOptions.Walk is for folders
// and says nothing here.
func (p *Pipeline) IndexFrom(ctx context.Context, source ingest.Source, opts IndexOptions) (Report, error) {
	if p.Chunker == nil {
		return Report{}, errors.New("indexing needs a chunker")
	}
	if err := opts.Shard.validate(); err != nil {
		return Report{}, err
	}
	start := time.Now()
	r := &indexRun{
		Pipeline: p,
		opts:     opts,
		tally:    &tally{tell: opts.Progress, report: Report{DryRun: opts.DryRun, Skipped: []Skipped{}}},
		found:    map[string]bool{}, keptFiles: map[string]bool{}, listed: map[string]bool{}, walked: map[string]bool{},
		lost: lost{}, moved: map[string]bool{},
	}
	err := r.all(ctx, source)
	report := r.tally.report
	report.Elapsed = time.Since(start)
	slices.SortFunc(report.Skipped, func(a, b Skipped) int { return strings.Compare(a.Path, b.Path) })
	return report, err
}

// indexRun is one call of Index.
type indexRun struct {
	*Pipeline
	opts  IndexOptions
	tally *tally

	files []ingest.File
	roots map[string]string // as given -> absolute
	known map[string]known  // by document id
	// found are the documents that must stay, as their files hold usable text, and
	// keptFiles the files that cannot be read now, which says nothing about what they
	// hold.
	found, keptFiles map[string]bool
	listed           map[string]bool // ids of files
	walked           map[string]bool // absolute paths of roots
	lost             lost
	moved            map[string]bool // ids that are now under another
	// dark are folders that could not be read; what is below them stays too.
	dark []ingest.File
}

// known is what the store has of a document.
type known struct{ hash, root, container string }

func (r *indexRun) all(ctx context.Context, source ingest.Source) error {
	if err := r.walk(ctx, source); err != nil {
		return err
	}
	if err := r.loadKnown(ctx); err != nil {
		return err
	}
	if err := r.encodeFiles(ctx); err != nil {
		return err
	}
	if !r.opts.KeepMissing {
		if err := r.removeMissing(ctx); err != nil {
			return err
		}
	}
	if r.opts.DryRun {
		return nil
	}
	return r.opts.Manifest.save(func(root, file string) bool {
		return r.walked[root] && r.opts.Shard.Has(file) && !r.listed[file] && !r.inTheDark(file, root)
	})
}

// walk lists the files, so that progress knows where the end is.
func (r *indexRun) walk(ctx context.Context, source ingest.Source) (err error) {
	if r.roots, err = source.Roots(); err != nil {
		return err
	}
	for _, abs := range r.roots {
		r.walked[abs] = true
	}
	for file, err := range source.Files(ctx) {
		var skip *ingest.Skip
		switch {
		case errors.As(err, &skip):
			if r.opts.Shard.Has(file.ID) {
				r.skip(skip)
			}
			if skip.Reason == ingest.Unreadable {
				r.dark = append(r.dark, file)
			}
		case err != nil:
			return err
		case r.opts.Shard.Has(file.ID):
			r.files = append(r.files, file)
			r.listed[file.ID] = true
			r.tally.progress.Files++
			r.tally.progress.Bytes += file.Size
		}
	}
	return nil
}

// skip reports a file or folder that could not be used.
func (r *indexRun) skip(s *ingest.Skip) {
	r.report(s.Path, s.Why())
}

// report notes why a document is left out.
func (r *indexRun) report(path, reason string) {
	r.Log.Warn("skipped", "path", path, "reason", reason)
	r.tally.skip(path, reason)
}

func (r *indexRun) loadKnown(ctx context.Context) error {
	r.known = map[string]known{}
	for doc, err := range r.Store.Scroll(ctx, retriever.Filter{}, retriever.Want{}) {
		if err != nil {
			return fmt.Errorf("reading what the store has: %w", err)
		}
		container, _ := doc.Metadata[ingest.MetaContainer].(string)
		if r.opts.Shard.Has(cmp.Or(container, doc.ID)) {
			root, _ := doc.Metadata[MetaRoot].(string)
			r.known[doc.ID] = known{doc.Hash, root, container}
		}
	}
	for id, k := range r.known {
		if r.isGone(id, k) {
			r.lost[k.hash] = id
		}
	}
	return nil
}

// removeMissing deletes the documents of the walked roots whose files are gone
// or hold no usable text any more.
func (r *indexRun) removeMissing(ctx context.Context) error {
	var gone []string
	for id, k := range r.known {
		file := cmp.Or(k.container, id)
		if r.walked[k.root] && !r.found[id] && !r.keptFiles[file] && !r.inTheDark(file, k.root) {
			gone = append(gone, id)
			if !r.moved[id] {
				r.tally.report.Removed++
			}
		}
	}
	slices.Sort(gone)
	if len(gone) == 0 || r.opts.DryRun {
		return nil
	}
	if _, err := r.Store.Delete(ctx, gone); err != nil {
		return fmt.Errorf("removing documents whose files are gone: %w", err)
	}
	r.Log.Info("removed", "documents", len(gone), "first", gone[0])
	return nil
}

// inTheDark reports whether a document lies where the walk could not look.
func (r *indexRun) inTheDark(id, root string) bool {
	return slices.ContainsFunc(r.dark, func(f ingest.File) bool {
		return r.roots[f.Root] == root && (f.ID == "" || id == f.ID || strings.HasPrefix(id, f.ID+"/"))
	})
}
