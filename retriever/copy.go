package retriever

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"time"
)

// FingerprintedStore is a Store that knows what made its vectors, as those of this
// module do.
type FingerprintedStore interface {
	Store
	// Fingerprint is what the collection was created with.
	Fingerprint() Fingerprint
}

// What Copy has in memory at a time: the documents of one Fetch, and those that
// wait to be stored.
const (
	copyLook  = 512     // documents that are looked for at the target in one call
	copyFetch = 16      // documents read whole in one call
	copyBytes = 8 << 20 // from which what waits is stored
)

// CopyOptions says what is copied. The zero value is everything.
type CopyOptions struct {
	Filter Filter
	// Progress is called after each step.
	Progress func(CopyReport)
}

// CopyReport counts documents.
type CopyReport struct {
	Documents int `json:"documents"` // that the filter matches
	Copied    int `json:"copied"`
	Unchanged int `json:"unchanged"` // of which the target had this version
	Gone      int `json:"gone"`      // that were deleted from the source meanwhile
	// Chunks is how many were copied.
	Chunks  int           `json:"chunks"`
	Elapsed time.Duration `json:"elapsed_ns"`
}

// Done is how many documents have been dealt with.
func (r CopyReport) Done() int { return r.Copied + r.Unchanged + r.Gone }

// Copy stores the documents of one store in another as they are, vectors included,
// each replacing an older version there. Documents of the target that the source
// does not have stay. Stores whose vectors were not made by the same are refused
// with a *MismatchError.
//
// A document that stands at the target with the same hash, title and metadata is
// left alone, so that a copy that was interrupted goes on where it ended; one
// without a hash is always copied. What was copied when an error ends the copy
// stays; the report says how much that was.
func Copy(ctx context.Context, from, to FingerprintedStore, opts CopyOptions) (CopyReport, error) {
	if have, want := to.Fingerprint(), from.Fingerprint(); have != want {
		return CopyReport{}, &MismatchError{Have: have, Want: want}
	}
	start := time.Now()
	c := copying{from: from, to: to, tell: opts.Progress}
	err := c.run(ctx, opts.Filter)
	c.report.Elapsed = time.Since(start)
	return c.report, err
}

// copying is one call of Copy.
type copying struct {
	from, to FingerprintedStore
	tell     func(CopyReport)
	report   CopyReport

	waiting []Document // to be stored
	bytes   int        // of those
}

// listed is a document of the source: its ID and what its version is known by.
type listed struct {
	id      string
	version [sha256.Size]byte
}

func (c *copying) run(ctx context.Context, filter Filter) error {
	var all []listed
	for doc, err := range c.from.Scroll(ctx, filter, Want{}) {
		if err != nil {
			return fmt.Errorf("listing the documents: %w", err)
		}
		all = append(all, listed{doc.ID, versionOf(&doc)})
	}
	c.report.Documents = len(all)
	for batch := range slices.Chunk(all, copyLook) {
		missing, err := c.missing(ctx, batch)
		if err != nil {
			return err
		}
		for ids := range slices.Chunk(missing, copyFetch) {
			if err := c.read(ctx, ids); err != nil {
				return err
			}
		}
	}
	return c.store(ctx)
}

// versionOf is the same for two documents that were made from the same content and
// are described alike.
func versionOf(d *Document) [sha256.Size]byte {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q\n", d.Hash, d.Title)
	for _, key := range slices.Sorted(maps.Keys(d.Metadata)) {
		fmt.Fprintf(h, "%q %T %#v\n", key, d.Metadata[key], d.Metadata[key])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// missing returns those of which the target has no version, or another.
func (c *copying) missing(ctx context.Context, batch []listed) ([]string, error) {
	ids := make([]string, len(batch))
	for i, l := range batch {
		ids[i] = l.id
	}
	there, err := c.to.Fetch(ctx, ids, Want{})
	if err != nil {
		return nil, fmt.Errorf("looking for documents at the target: %w", err)
	}
	have := make(map[string][sha256.Size]byte, len(there))
	for i := range there {
		if there[i].Hash != "" {
			have[there[i].ID] = versionOf(&there[i])
		}
	}
	var out []string
	for _, l := range batch {
		if version, ok := have[l.id]; !ok || version != l.version {
			out = append(out, l.id)
		}
	}
	c.step(func(r *CopyReport) { r.Unchanged += len(batch) - len(out) })
	return out, nil
}

// read takes documents whole from the source.
func (c *copying) read(ctx context.Context, ids []string) error {
	docs, err := c.from.Fetch(ctx, ids, Want{Text: true, Chunks: true, Vectors: true})
	if err != nil {
		return fmt.Errorf("reading documents from %q on: %w", ids[0], err)
	}
	c.step(func(r *CopyReport) { r.Gone += len(ids) - len(docs) })
	for i := range docs {
		c.waiting = append(c.waiting, docs[i])
		c.bytes += len(docs[i].Text) + 4*len(docs[i].Vector)*(1+len(docs[i].Chunks))
	}
	if c.bytes < copyBytes {
		return nil
	}
	return c.store(ctx)
}

// store writes what waits to the target.
func (c *copying) store(ctx context.Context) error {
	if len(c.waiting) == 0 {
		return ctx.Err()
	}
	if err := c.to.Upsert(ctx, c.waiting); err != nil {
		return fmt.Errorf("storing %d documents from %q on: %w", len(c.waiting), c.waiting[0].ID, err)
	}
	chunks := 0
	for i := range c.waiting {
		chunks += len(c.waiting[i].Chunks)
	}
	stored := len(c.waiting)
	c.waiting, c.bytes = nil, 0
	c.step(func(r *CopyReport) { r.Copied += stored; r.Chunks += chunks })
	return nil
}

// step counts, and tells whoever watches.
func (c *copying) step(count func(*CopyReport)) {
	count(&c.report)
	if c.tell != nil {
		c.tell(c.report)
	}
}
