package pipeline

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/ingest"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/retriever"
)

// How a run is spread: files are read and cut by a few goroutines, gathered into
// batches of about batchTokens, and encoded by two, so that the model never
// waits for the store or for the slowest window of a batch.
const (
	batchTokens = 8 << 10
	encoders    = 2
)

// prepared is a document on its way to the model.
type prepared struct {
	doc    chunker.Document
	chunks []chunker.Chunk
	hash   string
	isNew  bool
	path   string // for the report
	// ends is set on the last document of a file, and size is then the file's.
	ends bool
	size int64
	// moved has the vectors of the same content under another id, whose file is gone.
	moved *landmark.Embedding
}

func (p prepared) tokens() int {
	n := 0
	for _, c := range p.chunks {
		n += c.Tokens
	}
	return n
}

// encodeFiles takes every file through reading, cutting, encoding and storing.
// The channels are short: what is in memory does not grow with the number of
// files.
func (r *indexRun) encodeFiles(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	fail := func(err error) {
		if err != nil {
			cancel(err)
		}
	}
	files := make(chan ingest.File)
	ready := make(chan prepared)
	batches := make(chan []prepared)

	var read, all sync.WaitGroup
	all.Go(func() {
		defer close(files)
		for _, f := range r.files {
			select {
			case files <- f:
			case <-ctx.Done():
				return
			}
		}
	})
	for range max(2, runtime.GOMAXPROCS(0)/2) {
		read.Go(func() {
			for f := range files {
				fail(r.prepare(ctx, f, ready))
			}
		})
	}
	all.Go(func() {
		read.Wait()
		close(ready)
	})
	all.Go(func() {
		defer close(batches)
		gather(ctx, ready, batches)
	})
	for range encoders {
		all.Go(func() {
			for batch := range batches {
				fail(r.store(ctx, batch))
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// prepare reads and cuts the documents of a file and sends them on, but for those
// that the store has as they are and those that nothing can be made of. The error is
// for what must end the run.
func (r *indexRun) prepare(ctx context.Context, f ingest.File, ready chan<- prepared) error {
	if ctx.Err() != nil {
		return nil // the cause is known
	}
	var held *prepared // the next may be the last
	send := func(ends bool) {
		if held == nil {
			return
		}
		if held.ends = ends; ends {
			held.size = f.Size
		}
		if r.opts.DryRun {
			r.count(*held, 0)
		} else {
			select {
			case ready <- *held:
			case <-ctx.Done():
			}
		}
		held = nil
	}
	if r.asNoted(f) {
		r.tally.done(f.ID, f.Size, 0, true)
		return nil
	}
	made := manifestEntry{Read: time.Now(), Documents: map[string]string{}}
	lasts := true // what is found holds as long as the file stays the same
	for p, err := range r.read(ctx, f, &made) {
		var skip *ingest.Skip
		switch {
		case errors.As(err, &skip):
			r.skip(skip)
			made.Skipped = append(made.Skipped, Skipped{skip.Path, skip.Why()})
			lasts = lasts && inContent(skip.Reason)
			if skip.Reason == ingest.Unreadable {
				r.keepFile(f.ID)
			}
		case err != nil:
			return err
		default:
			send(false)
			held = &p
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	if lasts {
		r.opts.Manifest.note(r.roots[f.Root], f, made)
	}
	if held != nil {
		send(true)
		return nil
	}
	r.tally.done(f.ID, f.Size, 0, true)
	return nil
}

// keep says that a document of the store must stay.
func (r *indexRun) keep(id string) {
	r.tally.update(func(*Report) { r.found[id] = true })
}

// keepFile says that all that the store has of a file must stay.
func (r *indexRun) keepFile(id string) {
	r.tally.update(func(*Report) { r.keptFiles[id] = true })
}

// inContent reports whether a skip is for what a file holds, and not for access to it,
// a limit or another file.
func inContent(reason ingest.Reason) bool {
	switch reason {
	case ingest.Empty, ingest.Blank, ingest.Binary, ingest.Unsupported, ingest.Encrypted, ingest.Damaged, ingest.NoText, ingest.Hidden:
		return true
	}
	return false
}

// asNoted reports whether a file is as the manifest has it and the store still has
// what it became, which is then kept.
func (r *indexRun) asNoted(f ingest.File) bool {
	root := r.roots[f.Root]
	e, ok := r.opts.Manifest.unchanged(root, f)
	if !ok {
		return false
	}
	for id, hash := range e.Documents {
		if k, had := r.known[id]; !had || k.root != root || k.hash != hash {
			return false
		}
	}
	for id := range e.Documents {
		r.unchanged(id)
	}
	r.asBefore(e.Skipped)
	return true
}

// asBefore reports what was skipped when the file was last read.
func (r *indexRun) asBefore(skipped []Skipped) {
	for _, s := range skipped {
		r.report(s.Path, s.Reason)
	}
}

// read yields the documents of a file that are new or changed, cut, and notes the
// hashes of all.
func (r *indexRun) read(ctx context.Context, f ingest.File, made *manifestEntry) iter.Seq2[prepared, error] {
	return func(yield func(prepared, error) bool) {
		raw, err := ingest.Load(ctx, f, &r.opts.Read)
		if err != nil {
			yield(prepared{}, err)
			return
		}
		r.tally.update(func(rep *Report) { rep.Bytes += int64(len(raw.Data)) })
		if k, had := r.known[f.ID]; had && k.root == r.roots[f.Root] && k.hash == raw.Hash && raw.Single() {
			made.Documents[f.ID] = raw.Hash
			made.Skipped = r.opts.Manifest.skippedIn(r.roots[f.Root], f.ID, raw.Hash)
			r.asBefore(made.Skipped)
			r.unchanged(f.ID)
			return
		}
		for loaded, err := range raw.Documents(ctx, &r.opts.Read) {
			var p prepared
			if err == nil {
				made.Documents[loaded.Document.ID] = loaded.Hash
				if p, err = r.cut(ctx, f, loaded); errors.Is(err, errUnchanged) {
					continue
				}
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

// errUnchanged says that the store has a document as it is.
var errUnchanged = errors.New("unchanged")

func (r *indexRun) unchanged(id string) {
	r.keep(id)
	r.tally.update(func(rep *Report) { rep.Unchanged++ })
}

// cut makes what was read ready for the model.
func (r *indexRun) cut(ctx context.Context, f ingest.File, loaded *ingest.Loaded) (prepared, error) {
	doc, root := loaded.Document, r.roots[f.Root]
	old, had := r.known[doc.ID]
	switch {
	case had && old.root != root:
		return prepared{}, &ingest.Skip{Path: f.Path, Reason: ingest.Duplicate,
			Detail: fmt.Sprintf("the store has %q from %q; use another store, or index a folder above both", doc.ID, old.root)}
	case had && old.hash == loaded.Hash:
		r.unchanged(doc.ID)
		return prepared{}, errUnchanged
	}
	r.keep(doc.ID)
	doc.Metadata = maps.Clone(doc.Metadata)
	doc.Metadata[MetaRoot] = root
	chunks, err := r.Chunker.Split(doc)
	if err != nil {
		return prepared{}, fmt.Errorf("cutting %q: %w", doc.ID, err)
	}
	p := prepared{doc: doc, chunks: chunks, hash: loaded.Hash, isNew: !had, path: f.Path}
	if !had {
		p.moved, err = r.movedFrom(ctx, p)
	}
	return p, err
}

// gather collects documents until they are worth a call of the model.
func gather(ctx context.Context, ready <-chan prepared, batches chan<- []prepared) {
	var batch []prepared
	tokens := 0
	send := func() {
		if len(batch) == 0 {
			return
		}
		select {
		case batches <- batch:
		case <-ctx.Done():
		}
		batch, tokens = nil, 0
	}
	for p := range ready {
		batch = append(batch, p)
		if tokens += p.tokens(); tokens >= batchTokens {
			send()
		}
	}
	send()
}

// store encodes and stores a batch. When that fails for the batch it goes on
// with each document alone, so that one that cannot be encoded is reported and
// does not take the others with it.
func (r *indexRun) store(ctx context.Context, batch []prepared) error {
	if ctx.Err() != nil {
		return nil
	}
	docs, encoded, err := r.embed(ctx, batch)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil && len(batch) > 1:
		for i := range batch {
			if err := r.store(ctx, batch[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	case err != nil:
		r.report(batch[0].path, fmt.Sprintf("cannot be encoded: %v", err))
		r.tally.done(batch[0].doc.ID, batch[0].size, 0, batch[0].ends)
		return nil
	}
	if err := r.Store.Upsert(ctx, docs); err != nil {
		return fmt.Errorf("storing %d documents from %q on: %w", len(docs), docs[0].ID, err)
	}
	r.Log.Info("stored", "documents", len(docs), "first", docs[0].ID)
	for i, p := range batch {
		r.count(p, encoded[i])
	}
	return nil
}

// count reports a document as done.
func (r *indexRun) count(p prepared, encoded int) {
	tokens := p.tokens()
	r.tally.update(func(rep *Report) {
		switch {
		case p.moved != nil:
			rep.Moved++
		case p.isNew:
			rep.Added++
		default:
			rep.Changed++
		}
		if p.moved == nil {
			rep.Chunks += len(p.chunks)
			rep.Tokens += tokens
			rep.Encoded += encoded
		}
	})
	if p.moved != nil {
		tokens = 0
	}
	r.tally.done(p.doc.ID, p.size, tokens, p.ends)
}

func (r *indexRun) embed(ctx context.Context, batch []prepared) (docs []retriever.Document, encoded []int, err error) {
	var inputs []landmark.Input
	for _, p := range batch {
		if p.moved == nil {
			inputs = append(inputs, input(p))
		}
	}
	var embeddings []landmark.Embedding
	if len(inputs) > 0 {
		r.tally.encoding(func() { embeddings, err = r.Embedder.Encode(ctx, inputs) })
		if err != nil {
			return nil, nil, err
		}
	}
	for _, p := range batch {
		e := p.moved
		if e == nil {
			e, embeddings = &embeddings[0], embeddings[1:]
		}
		docs = append(docs, document(p, *e))
		encoded = append(encoded, e.Encoded)
	}
	return docs, encoded, nil
}

func input(p prepared) landmark.Input {
	in := landmark.Input{Text: p.doc.Text, Above: Above(p.doc)}
	for _, c := range p.chunks {
		in.Chunks = append(in.Chunks, c.Range)
	}
	return in
}

// Above is what the chunks of a document are encoded under: its title, unless its text
// starts with that, or it is but the file's name.
func Above(d chunker.Document) string {
	const start = 500 // bytes in which a title of the text stands
	head := d.Text[:min(len(d.Text), start)]
	if d.Title == path.Base(d.ID) || strings.Contains(strings.Join(strings.Fields(head), " "), d.Title) {
		return ""
	}
	return d.Title
}

// document puts together what the store keeps.
func document(p prepared, e landmark.Embedding) retriever.Document {
	out := retriever.Document{
		ID:       p.doc.ID,
		Title:    p.doc.Title,
		Hash:     p.hash,
		Text:     p.doc.Text,
		Metadata: p.doc.Metadata,
		Vector:   e.Document,
	}
	for i, c := range p.chunks {
		first, last := p.doc.Lines(c.Range)
		out.Chunks = append(out.Chunks, retriever.Chunk{
			Text:     c.Range,
			Source:   p.doc.Source.Tile(c.Range),
			Lines:    retriever.Lines{First: first, Last: last},
			Place:    p.doc.Place(c.Range),
			Header:   c.Header,
			Tokens:   c.Tokens,
			Headings: c.Headings,
			Vector:   e.Landmarks[i],
			Norm:     e.Norms[i],
		})
	}
	return out
}
