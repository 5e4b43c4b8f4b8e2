package ingest_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/ingest"
)

// checkLoaded tests what must hold for every document, whatever the file was.
func checkLoaded(t *testing.T, data []byte, l *ingest.Loaded) {
	t.Helper()
	doc := l.Document
	switch {
	case !utf8.ValidString(doc.Text) || strings.Contains(doc.Text, "\x00"):
		t.Errorf("text is not UTF-8 without NUL: %q", doc.Text)
	case strings.TrimSpace(doc.Text) == "":
		t.Errorf("text is blank: %q", doc.Text)
	case !utf8.ValidString(doc.Title) || doc.Title == "" || strings.Contains(doc.Title, "\x00"):
		t.Errorf("title = %q, want text", doc.Title)
	case doc.Source.Part().Len() != len(data):
		t.Errorf("map is for %d bytes, file has %d", doc.Source.Part().Len(), len(data))
	}
	checkTiles(t, doc, len(data))
	if l.Format != "html" && !isUTF16(data) {
		checkSameBytes(t, doc, data)
	}
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

// checkTiles maps every character; the file ranges must tile the file.
func checkTiles(t *testing.T, doc chunker.Document, size int) {
	t.Helper()
	end := 0
	for i, r := range doc.Text {
		got := doc.Source.Tile(chunker.Range{Start: i, End: i + utf8.RuneLen(r)})
		if got.Start != end || got.End < end {
			t.Fatalf("text byte %d maps to file %v, want it to start at %d", i, got, end)
		}
		end = got.End
	}
	if end != size {
		t.Fatalf("the text maps to %d of %d file bytes", end, size)
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

func isUTF16(data []byte) bool {
	return strings.HasPrefix(string(data), "\xff\xfe") || strings.HasPrefix(string(data), "\xfe\xff")
}
