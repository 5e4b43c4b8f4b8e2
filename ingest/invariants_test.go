package ingest_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/ingest"
)

// parse gives the first that comes of content that holds one document.
func parse(name string, data []byte) (*ingest.Loaded, error) {
	return one(ingest.Parse(context.Background(), name, data, nil))
}

func one(all iter.Seq2[*ingest.Loaded, error]) (*ingest.Loaded, error) {
	for l, err := range all {
		return l, err
	}
	return nil, errors.New("nothing came")
}

// checkParsed tests that a file gives documents that hold what every document must,
// or skips.
func checkParsed(t *testing.T, name string, data []byte) {
	t.Helper()
	for l, err := range ingest.Parse(context.Background(), name, data, nil) {
		if skip := (*ingest.Skip)(nil); errors.As(err, &skip) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		checkLoaded(t, data, l)
	}
}

// checkLoaded tests what must hold for every document, whatever the file was.
func checkLoaded(t *testing.T, data []byte, l *ingest.Loaded) {
	t.Helper()
	doc := l.Document
	part := doc.Source.Part()
	switch {
	case !utf8.ValidString(doc.Text) || strings.Contains(doc.Text, "\x00"):
		t.Errorf("text is not UTF-8 without NUL: %q", doc.Text)
	case strings.TrimSpace(doc.Text) == "":
		t.Errorf("text is blank: %q", doc.Text)
	case !utf8.ValidString(doc.Title) || doc.Title == "" || strings.Contains(doc.Title, "\x00"):
		t.Errorf("title = %q, want text", doc.Title)
	}
	switch l.Format {
	case "text", "markdown", "code", "csv": // the file as it is
		if packed(data) {
			break // the file is a member of data
		}
		if doc.Metadata["encoding"] == nil {
			checkSameBytes(t, doc, data)
		}
		if part != (chunker.Range{End: len(data)}) && doc.ID == doc.Metadata["path"] && !strings.Contains(doc.ID, "/") {
			t.Errorf("map is for bytes %v, file has %d", part, len(data))
		}
	}
	if slices.Contains([]string{"pdf", "docx", "xlsx", "pptx", "odt", "ods", "odp", "epub"}, l.Format) { // text that is made
		if part.Len() > 0 || strings.Contains(doc.Text, "\u00ad") || strings.Trim(doc.Text, "\n") != doc.Text {
			t.Errorf("part %v, text %q: want none, and no soft hyphens or line breaks at its ends", part, doc.Text)
		}
	}
	if part.Len() > 0 {
		checkTiles(t, doc, part)
	} else if r := doc.Source.Tile(chunker.Range{End: len(doc.Text)}); r.Len() != 0 {
		t.Errorf("text of no bytes in the file stands at %v", r)
	}
	checkPlaces(t, doc)
	end := 0
	for _, h := range doc.Headings {
		if h.Start < end || h.Len() <= 0 || h.End > len(doc.Text) || h.Level < 1 || h.Level > 6 {
			t.Fatalf("heading %v level %d after %d of %d", h.Range, h.Level, end, len(doc.Text))
		}
		if got := strings.Join(strings.Fields(h.Of(doc.Text)), " "); got != h.Title {
			t.Errorf("heading text %q, title %q", got, h.Title)
		}
		end = h.End
	}
	for key, value := range doc.Metadata {
		switch v := value.(type) {
		case string:
			if !utf8.ValidString(v) || strings.Contains(v, "\x00") {
				t.Errorf("metadata %q = %q, want UTF-8 without NUL", key, v)
			}
		case []string, bool, int64, float64:
		default:
			t.Errorf("metadata %q has type %T", key, value)
		}
		if !utf8.ValidString(key) {
			t.Errorf("metadata key %q is not UTF-8", key)
		}
	}
}

// checkPlaces tests that tables and places lie in the text, in order, and that
// headers do in their tables.
func checkPlaces(t *testing.T, doc chunker.Document) {
	t.Helper()
	end := 0
	for _, table := range doc.Tables {
		h := table.Header
		if table.Start < end || table.Len() <= 0 || table.End > len(doc.Text) || h.Len() > 0 && (h.Start < table.Start || h.End > table.End) {
			t.Fatalf("table %v with header %v after %d of %d", table.Range, h, end, len(doc.Text))
		}
		end = table.End
	}
	end = 0
	for _, p := range doc.Places {
		if p.Start < end || p.Len() < 0 || p.End > len(doc.Text) || p.Place.IsZero() {
			t.Fatalf("place %v %+v after %d of %d", p.Range, p.Place, end, len(doc.Text))
		}
		end = p.End
	}
}

// checkTiles maps every character; the file ranges must tile the part of the file
// that the document is of.
func checkTiles(t *testing.T, doc chunker.Document, part chunker.Range) {
	t.Helper()
	end := part.Start
	for i, r := range doc.Text {
		got := doc.Source.Tile(chunker.Range{Start: i, End: i + utf8.RuneLen(r)})
		if got.Start != end || got.End < end {
			t.Fatalf("text byte %d maps to file %v, want it to start at %d", i, got, end)
		}
		end = got.End
	}
	if end != part.End {
		t.Fatalf("the text maps to file bytes up to %d of %v", end, part)
	}
}

// checkSameBytes compares each character with the file bytes it maps to, which
// must be the same but for what is left out before the first and for U+FFFD.
func checkSameBytes(t *testing.T, doc chunker.Document, data []byte) {
	t.Helper()
	for i, r := range doc.Text {
		text := doc.Text[i : i+utf8.RuneLen(r)]
		at := doc.Source.Tile(chunker.Range{Start: i, End: i + len(text)})
		file := at.Of(string(data[:at.End]))
		switch {
		case i == 0:
			if r != utf8.RuneError && !strings.HasSuffix(file, text) {
				t.Fatalf("text starts with %q, file has %q", text, file)
			}
		case file == text:
		case r == utf8.RuneError && len(file) == 1 && (file == "\x00" || !utf8.ValidString(file)):
		default:
			t.Fatalf("text byte %d is %q, file has %q at %v", i, text, file, at)
		}
	}
}

// packed reports whether data is an archive of some kind.
func packed(data []byte) bool {
	for _, start := range []string{"PK\x03\x04", "\x1f\x8b", "BZh", "\xfd7zXZ", "\x28\xb5\x2f\xfd"} {
		if strings.HasPrefix(string(data), start) {
			return true
		}
	}
	_, err := tar.NewReader(bytes.NewReader(data)).Next()
	return err == nil
}
