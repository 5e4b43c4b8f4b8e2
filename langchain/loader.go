package langchain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/textsplitter"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/ingest"
)

// LoaderOptions say which files a Loader takes. The zero value is the default.
type LoaderOptions struct {
	Walk ingest.WalkOptions
	Read ingest.ReadOptions
}

// Loader reads files and folders as langchaingo's documentloaders.Loader. It is safe
// for concurrent use.
//
// A document's metadata is what package ingest finds (path, format, language, front
// matter), MetaID, which is the path, MetaTitle, and where the text stands in its
// file: MetaSourceStart, MetaSourceEnd, MetaFirstLine and MetaLastLine. A VectorStore
// reads these, so that passages are known by their bytes and lines in the file; where
// the text is not in the file byte for byte (HTML, UTF-16, repaired bytes), by those
// of the whole text loaded.
type Loader struct {
	roots []string
	opts  LoaderOptions

	mu      sync.Mutex
	skipped []*ingest.Skip
}

// NewLoader returns a Loader of the given files and folders; nil options are the
// default.
func NewLoader(roots []string, opts *LoaderOptions) (*Loader, error) {
	if len(roots) == 0 {
		return nil, errors.New("a loader needs a file or folder")
	}
	l := &Loader{roots: append([]string(nil), roots...)}
	if opts != nil {
		l.opts = *opts
	}
	if err := l.opts.Read.Validate(); err != nil {
		return nil, err
	}
	return l, nil
}

// Load returns a document for each file that holds text, in the order of ingest.Walk.
// A file that gives no document does not end the load: Skipped tells of it. A load
// that finds only such files fails with what they are skipped for.
func (l *Loader) Load(ctx context.Context) ([]schema.Document, error) {
	return l.load(ctx, func(f file) ([]schema.Document, error) {
		return []schema.Document{f.document(chunker.Range{Start: 0, End: len(f.doc.Text)})}, nil
	})
}

// LoadAndSplit is Load with each document cut into pieces, whose ids are the path with
// #1, #2 and so on; those of nothing but white space are left out. A TextSplitter of
// this package cuts a file along its own structure. The pieces of another are known by
// their place in the file if they are the text without gaps or overlaps.
//
// A VectorStore cuts documents by itself, and the landmarks of their chunks have then
// seen their neighbours, which pieces have not: Load serves it better.
func (l *Loader) LoadAndSplit(ctx context.Context, splitter textsplitter.TextSplitter) ([]schema.Document, error) {
	if splitter == nil {
		return nil, errors.New("splitting needs a text splitter")
	}
	return l.load(ctx, func(f file) ([]schema.Document, error) { return f.split(splitter) })
}

// Skipped returns the files that the last load passed over, with the reasons.
func (l *Loader) Skipped() []*ingest.Skip {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]*ingest.Skip(nil), l.skipped...)
}

func (l *Loader) load(ctx context.Context, convert func(file) ([]schema.Document, error)) ([]schema.Document, error) {
	out := []schema.Document{}
	var skipped []*ingest.Skip
	for f, err := range ingest.Walk(ctx, l.roots, &l.opts.Walk) {
		var docs []schema.Document
		if err == nil {
			var inside []*ingest.Skip
			docs, inside, err = l.read(ctx, f, convert)
			skipped = append(skipped, inside...)
		}
		var skip *ingest.Skip
		switch {
		case errors.As(err, &skip):
			skipped = append(skipped, skip)
		case err != nil:
			return nil, err
		}
		out = append(out, docs...)
	}
	l.mu.Lock()
	l.skipped = skipped
	l.mu.Unlock()
	if len(out) == 0 && len(skipped) > 0 {
		errs := []error{fmt.Errorf("none of %d files under %q gives a document", len(skipped), l.roots)}
		for _, s := range skipped {
			errs = append(errs, s)
		}
		return nil, errors.Join(errs...)
	}
	return out, nil
}

func (l *Loader) read(ctx context.Context, f ingest.File, convert func(file) ([]schema.Document, error)) (docs []schema.Document, skipped []*ingest.Skip, err error) {
	raw, err := ingest.Load(ctx, f, &l.opts.Read)
	if err != nil {
		return nil, nil, err
	}
	data := string(raw.Data)
	for loaded, err := range raw.Documents(ctx, &l.opts.Read) {
		var skip *ingest.Skip
		switch {
		case errors.As(err, &skip):
			skipped = append(skipped, skip)
			continue
		case err != nil:
			return nil, nil, err
		}
		made, err := convert(file{loaded.Document, data})
		if err != nil {
			return nil, nil, fmt.Errorf("file %q: %w", f.Path, err)
		}
		docs = append(docs, made...)
	}
	return docs, skipped, nil
}

// file is a document and the bytes that it was read from.
type file struct {
	doc  chunker.Document
	data string
}

// document is the part r of the file's text.
func (f file) document(r chunker.Range) schema.Document {
	d := f.textOnly(r.Of(f.doc.Text))
	source := f.doc.Source.Tile(r)
	// The source of a part has in it what the reader left out in front. If the text
	// itself ends it, that is the better place.
	if start := source.End - r.Len(); start >= source.Start && source.End <= len(f.data) && f.data[start:source.End] == d.PageContent {
		source.Start = start
	}
	d.Metadata[MetaSourceStart], d.Metadata[MetaSourceEnd] = source.Start, source.End
	if first, last := f.doc.Lines(r); first > 0 {
		d.Metadata[MetaFirstLine], d.Metadata[MetaLastLine] = first, last
	}
	if place := f.doc.Place(r); !place.IsZero() {
		d.Metadata[MetaPlace] = place.String()
	}
	return d
}

// textOnly is a document whose place in the file is not known.
func (f file) textOnly(text string) schema.Document {
	metadata := maps.Clone(f.doc.Metadata)
	for key, v := range metadata {
		if list, ok := v.([]string); ok {
			metadata[key] = slices.Clone(list) // or the pieces of a file would share it
		}
	}
	metadata[MetaID], metadata[MetaTitle] = f.doc.ID, f.doc.Title
	return schema.Document{PageContent: text, Metadata: metadata}
}

// split cuts the file's text into pieces.
func (f file) split(splitter textsplitter.TextSplitter) ([]schema.Document, error) {
	var docs []schema.Document
	if ours, ok := splitter.(*TextSplitter); ok {
		ranges, err := ours.ranges(f.doc)
		if err != nil {
			return nil, err
		}
		for _, r := range ranges {
			docs = append(docs, f.document(r))
		}
	} else {
		pieces, err := splitter.SplitText(f.doc.Text)
		if err != nil {
			return nil, err
		}
		docs = f.place(pieces)
	}
	docs = slices.DeleteFunc(docs, func(d schema.Document) bool { return isBlank(d.PageContent) })
	for i := range docs {
		docs[i].Metadata[MetaID] = fmt.Sprintf("%s#%d", f.doc.ID, i+1)
	}
	return docs, nil
}

// place finds pieces in the text they were cut from, if they tile it.
func (f file) place(pieces []string) []schema.Document {
	tiles := strings.Join(pieces, "") == f.doc.Text
	docs := make([]schema.Document, len(pieces))
	start := 0
	for i, p := range pieces {
		if docs[i] = f.textOnly(p); tiles {
			docs[i] = f.document(chunker.Range{Start: start, End: start + len(p)})
		}
		start += len(p)
	}
	return docs
}
