package ingest

import (
	"context"
	"fmt"
	"iter"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/waymark-rag/waymark/chunker"
)

// Metadata keys that Parse sets. A front matter key of the same name loses.
const (
	MetaPath     = "path"     // the document's id
	MetaFormat   = "format"   // such as text, markdown, html, code; docs/formats.md has all
	MetaLanguage = "language" // of code, such as "go"
	MetaEncoding = "encoding" // character set of the file's text if not UTF-8, such as "shift_jis"
	// MetaContainer is the id of the file that a document was in: an archive, a
	// mailbox, a file of records.
	MetaContainer = "container"
	MetaAuthor    = "author"   // of an office file, a PDF or a book, as the file says
	MetaModified  = "modified" // when, in RFC 3339 and UTC, as the file says
	// MetaTextLanguage is the language that a book is written in, such as "de".
	MetaTextLanguage = "text_language"
)

// Loaded is a document with what identifies the content it was made from.
type Loaded struct {
	Document chunker.Document
	Hash     string // SHA-256 of the bytes in hex
	Format   string // as in MetaFormat
}

// Read loads a file and yields its documents; see [Raw.Documents].
func Read(ctx context.Context, f File, opts *ReadOptions) iter.Seq2[*Loaded, error] {
	return func(yield func(*Loaded, error) bool) {
		raw, err := Load(ctx, f, opts)
		if err != nil {
			yield(nil, err)
			return
		}
		raw.Documents(ctx, opts)(yield)
	}
}

// Parse yields the documents of content that does not come from a file that Walk
// found; see [NewRaw] for the name.
func Parse(ctx context.Context, name string, data []byte, opts *ReadOptions) iter.Seq2[*Loaded, error] {
	return NewRaw(name, data).Documents(ctx, opts)
}

// Documents yields what the content holds: one document as a rule, those of its
// members for an archive, a mailbox or a file of records. What gives no text, the
// content as a whole, a member or a page, is a *[Skip]; the others are not affected.
// Any other error is ctx's or about the options, and the last.
//
// A document's title is the one in its front matter, its first heading of level 1 or
// its <title>, else the last part of its id.
func (r *Raw) Documents(ctx context.Context, opts *ReadOptions) iter.Seq2[*Loaded, error] {
	return func(yield func(*Loaded, error) bool) {
		if opts == nil {
			opts = &ReadOptions{}
		}
		if err := opts.Validate(); err != nil {
			yield(nil, err)
			return
		}
		if r.ID == "" || !utf8.ValidString(r.ID) || strings.Contains(r.ID, "\x00") {
			yield(nil, fmt.Errorf("document id %q: want a name in UTF-8 without NUL", r.ID))
			return
		}
		b, done := newBudget(ctx, *opts)
		defer done()
		enough := false
		r.documents(b, format{}, 0, func(l *Loaded, err error) bool {
			if ctx.Err() == nil {
				b.pause(func() { enough = !yield(l, err) })
			}
			return ctx.Err() == nil && !enough
		})
		if ctx.Err() != nil && !enough {
			yield(nil, ctx.Err())
		}
	}
}

// documents yields the documents of content in a format; the zero format is told by
// name and content. It reports whether more is wanted.
func (r *Raw) documents(b *budget, f format, depth int, yield func(*Loaded, error) bool) bool {
	if len(r.Data) == 0 {
		return yield(nil, r.skip(&Skip{Reason: Empty}))
	}
	if f.isZero() {
		var skip *Skip
		if f, skip = chosen(r.formatName(), r.Data); skip != nil {
			return yield(nil, r.skip(skip))
		}
	}
	if f.container != nil {
		return r.open(b, f.container, depth, yield)
	}
	doc, skip := read(f.reader, b, r.Data)
	left := b.takeLeft()
	switch {
	case skip == nil && strings.TrimSpace(doc.Text) == "":
		skip = &Skip{Reason: Blank}
		if len(left) > 0 { // they say why
			skip, left = left[0], left[1:]
		}
		fallthrough
	case skip != nil:
		left = append([]*Skip{skip}, left...)
	default:
		if !yield(r.loaded(doc, f), nil) {
			return false
		}
	}
	for _, s := range left {
		if !yield(nil, r.skip(s)) {
			return false
		}
	}
	return true
}

// loaded completes a document that a reader has made.
func (r *Raw) loaded(doc chunker.Document, f format) *Loaded {
	doc.ID = r.ID
	if doc.Title == "" {
		doc.Title = path.Base(r.ID)
	}
	doc.Title = clip(doc.Title)
	doc.Source = doc.Source.In(r.start, r.lines)
	if len(doc.Places) == 0 && !r.place.IsZero() {
		doc.Places = []chunker.Placed{{Range: chunker.Range{End: len(doc.Text)}, Place: r.place}}
	}
	if doc.Metadata == nil {
		doc.Metadata = map[string]any{}
	}
	doc.Metadata[MetaPath] = r.ID
	doc.Metadata[MetaFormat] = f.name
	delete(doc.Metadata, MetaContainer)
	if r.container != "" {
		doc.Metadata[MetaContainer] = r.container
	}
	if f.language != "" {
		doc.Metadata[MetaLanguage] = f.language
	} else {
		delete(doc.Metadata, MetaLanguage)
	}
	return &Loaded{Document: doc, Hash: r.Hash, Format: f.name}
}

// skip says which content a Skip is about. One with a path of its own names a part.
func (r *Raw) skip(s *Skip) *Skip {
	named := *s
	named.Path = r.path
	if s.Path != "" {
		named.Path += ", " + s.Path
	}
	return &named
}

// clip bounds a title: a tag that is never closed may make it as long as the page.
func clip(title string) string {
	const limit = 300
	if len(title) <= limit {
		return title
	}
	end := limit
	for !utf8.RuneStart(title[end]) {
		end--
	}
	return title[:end] + "\u2026"
}
