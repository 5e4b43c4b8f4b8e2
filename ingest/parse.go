package ingest

import (
	"context"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/waymark-rag/waymark/chunker"
)

// Metadata keys that Parse sets. A front matter key of the same name loses.
const (
	MetaPath     = "path"     // the document's id
	MetaFormat   = "format"   // text, markdown, html or code
	MetaLanguage = "language" // of code, such as "go"
)

// Loaded is a document with what identifies the content it was made from.
type Loaded struct {
	Document chunker.Document
	Hash     string // SHA-256 of the bytes in hex
	Format   string // as in MetaFormat
}

// Read loads and parses a file.
func Read(ctx context.Context, f File, opts *ReadOptions) (*Loaded, error) {
	raw, err := Load(ctx, f, opts)
	if err != nil {
		return nil, err
	}
	return raw.Parse()
}

// Parse makes a document of content that does not come from a file that Walk
// found; see [NewRaw] for the name.
func Parse(name string, data []byte) (*Loaded, error) {
	return NewRaw(name, data).Parse()
}

// Parse makes a document of the content. Content that gives no text is a
// *[Skip]. The document's title is the one in its front matter, its first
// heading of level 1 or its <title>, else the last part of its id.
func (r *Raw) Parse() (*Loaded, error) {
	if r.ID == "" || !utf8.ValidString(r.ID) || strings.Contains(r.ID, "\x00") {
		return nil, fmt.Errorf("document id %q: want a name in UTF-8 without NUL", r.ID)
	}
	doc, format, err := r.read()
	if err != nil {
		err.Path = r.path
		return nil, err
	}
	doc.ID = r.ID
	if doc.Title == "" {
		doc.Title = path.Base(r.ID)
	}
	doc.Title = clip(doc.Title)
	if doc.Metadata == nil {
		doc.Metadata = map[string]any{}
	}
	doc.Metadata[MetaPath] = r.ID
	doc.Metadata[MetaFormat] = format.name
	if format.language != "" {
		doc.Metadata[MetaLanguage] = format.language
	} else {
		delete(doc.Metadata, MetaLanguage)
	}
	return &Loaded{Document: doc, Hash: r.Hash, Format: format.name}, nil
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

func (r *Raw) read() (chunker.Document, format, *Skip) {
	if len(r.Data) == 0 {
		return chunker.Document{}, format{}, &Skip{Reason: Empty}
	}
	f, skip := formatOf(r.ID, r.Data)
	if skip != nil {
		return chunker.Document{}, f, skip
	}
	doc, skip := f.reader.read(r.Data)
	if skip == nil && strings.TrimSpace(doc.Text) == "" {
		skip = &Skip{Reason: Blank}
	}
	return doc, f, skip
}
