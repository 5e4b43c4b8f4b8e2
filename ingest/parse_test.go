package ingest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/ingest"
)

func TestParseSkips(t *testing.T) {
	random := make([]byte, 4096)
	for i, x := 0, uint32(1); i < len(random); i++ {
		x = x*1664525 + 1013904223
		random[i] = byte(x >> 24)
	}
	for _, tc := range []struct {
		name, data string
		want       ingest.Reason
	}{
		{"a.txt", "", ingest.Empty},
		{"a.txt", " \t\r\n\u00a0\u2003\n", ingest.Blank},
		{"a.md", "\xef\xbb\xbf \n", ingest.Blank},
		{"a.md", "---\ntitle: only front matter\n---\n\n", ingest.Blank},
		{"a.html", "<html><script>var x = 1</script><p> &nbsp; </p></html>", ingest.Blank},
		{"a.txt", string(random), ingest.Binary},
		{"a", string(random), ingest.Binary},
		{"a.html", "<html>" + string(random), ingest.Binary},
		{"a.txt", "\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\x06\x00\x07\x00\x08\x00\x0b\x00\x0e\x00", ingest.Binary}, // numbers, not UTF-16
		{"a.txt", "\xff\xfe\x00\x00o\x00\x00\x00n\x00\x00\x00e\x00\x00\x00o\x00\x00\x00f\x00\x00\x00m\x00\x00\x00a\x00\x00\x00n\x00\x00\x00y\x00\x00\x00", ingest.Binary},
		{"a.txt", "\xd0\xcf\x00\xcf\xd0", ingest.Binary},
		{"a.ipynb", "no JSON", ingest.Damaged},
		{"a.ipynb", `{"cells": {}}`, ingest.Damaged},
		{"a.ipynb", `{"cells": [{"cell_type": "code", "source": [" "]}, 3]}`, ingest.Blank},
		{"Report.PDF", "anything", ingest.Damaged},
		{"folder.txt/photo.jpeg", "anything", ingest.Unsupported},
		{"report", "%PDF-1.7\n1 0 obj", ingest.Damaged},
		{"sheet.unknown", "PK\x03\x04rest", ingest.Damaged},
		{"a.html", `<meta charset="iso-2022-kr"><p>text`, ingest.Unsupported},
	} {
		l, err := parse(tc.name, []byte(tc.data))
		var skip *ingest.Skip
		if !errors.As(err, &skip) || skip.Reason != tc.want || skip.Path != tc.name {
			t.Errorf("Parse(%q, %.20q) = %v, %v; want a skip of it as %q", tc.name, tc.data, l, err, tc.want)
		}
	}
}

func TestParseNames(t *testing.T) {
	for _, name := range []string{"", "a\x00b.txt"} {
		if _, err := parse(name, []byte("text")); err == nil || errors.As(err, new(*ingest.Skip)) {
			t.Errorf("Parse(%q) gives %v, want an error that is no skip", name, err)
		}
	}
}

func TestParseFormats(t *testing.T) {
	for _, tc := range []struct {
		name, data, format string
		syntax             chunker.Syntax
		language           any
	}{
		{"notes", "some text", "text", chunker.Plain, nil},
		{".profile", "some text", "text", chunker.Plain, nil},
		{"notes.unknown", "some text", "text", chunker.Plain, nil},
		{"page", "\xef\xbb\xbf \n<!DOCTYPE HTML><p>x", "html", chunker.Plain, nil},
		{"page.unknown", "<?xml version='1.0'?><html><p>x", "html", chunker.Plain, nil},
		{"page.txt", "<html><p>x", "text", chunker.Plain, nil},
		{"READ.ME.MD", "text", "markdown", chunker.Markdown, nil},
		{"a/Makefile", "all:", "code", chunker.Code, "make"},
		{"CMakeLists.txt", "project(x)", "code", chunker.Code, "cmake"},
		{"a.Py", "pass", "code", chunker.Code, "python"},
		{"few.txt", "before\x00after", "text", chunker.Plain, nil},
		{"few.txt", "ab\xffcd", "text", chunker.Plain, nil},
	} {
		l, err := parse(tc.name, []byte(tc.data))
		if err != nil {
			t.Errorf("Parse(%q): %v", tc.name, err)
			continue
		}
		checkLoaded(t, []byte(tc.data), l)
		doc := l.Document
		if l.Format != tc.format || doc.Metadata[ingest.MetaFormat] != tc.format ||
			doc.Syntax != tc.syntax || doc.Metadata[ingest.MetaLanguage] != tc.language {
			t.Errorf("Parse(%q) has format %q, syntax %q, metadata %v", tc.name, l.Format, doc.Syntax, doc.Metadata)
		}
		if doc.ID != tc.name || doc.Metadata[ingest.MetaPath] != tc.name {
			t.Errorf("Parse(%q) has id %q, path %q", tc.name, doc.ID, doc.Metadata[ingest.MetaPath])
		}
	}
}

func TestParseFrontMatter(t *testing.T) {
	for _, tc := range []struct {
		name, data string
		title      string
		meta       map[string]any // besides path and format
		text       string
	}{
		{name: "none", data: "# A\n", title: "A", text: "# A\n"},
		{name: "reserved keys lose", data: "---\nformat: x\nlanguage: en\nkind: y\n---\nt", title: "f.md", meta: map[string]any{"kind": "y"}, text: "t"},
		{name: "dots end it", data: "---\nkind: y\n...\nt", title: "f.md", meta: map[string]any{"kind": "y"}, text: "t"},
		{name: "comments and blanks", data: "---\n# c\n\nkind: y # c\n---\nt", title: "f.md", meta: map[string]any{"kind": "y"}, text: "t"},
		{name: "never closed", data: "---\nkind: y\n\nt", title: "f.md", text: "---\nkind: y\n\nt"},
		{name: "not first", data: "\n---\nkind: y\n---\nt", title: "f.md", text: "\n---\nkind: y\n---\nt"},
		{name: "two rules", data: "---\n\n---\nt", title: "f.md", text: "---\n\n---\nt"},
		{name: "aliases", data: "---\na: &a [x, y]\nb: *a\nc: [*a, *a]\nd: z\n---\nt", title: "f.md", meta: map[string]any{"d": "z"}, text: "t"},
		{name: "too deep", data: "---\na: " + strings.Repeat("[", 60_000) + "\nd: z\n---\nt", title: "f.md", meta: map[string]any{"d": "z"}, text: "t"},
		{name: "text before a key", data: "---\ntext\nkind: y\n---\nt", title: "f.md", text: "---\ntext\nkind: y\n---\nt"},
		{name: "escapes", data: "---\ntitle: \"a\\0b\"\n---\nt", title: "a\uFFFDb", text: "t"},
		{name: "number as title", data: "---\ntitle: 1984\n---\n# One\n", title: "One", meta: map[string]any{"title": int64(1984)}, text: "# One\n"},
		{name: "numbers", data: "---\na: 99999999999999999999\nb: -3\nc: .inf\nd: 0x10\ne: 1.5\n---\nt", title: "f.md",
			meta: map[string]any{"a": "99999999999999999999", "b": int64(-3), "d": int64(16), "e": 1.5}, text: "t"},
		{name: "CRLF", data: "---\r\nkind: y\r\ntags:\r\n- a\r\n- b\r\n---\r\nt\r\n", title: "f.md", meta: map[string]any{"kind": "y", "tags": []string{"a", "b"}}, text: "t\r\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l, err := parse("f.md", []byte(tc.data))
			if err != nil {
				t.Fatal(err)
			}
			checkLoaded(t, []byte(tc.data), l)
			want := map[string]any{"path": "f.md", "format": "markdown"}
			for key, value := range tc.meta {
				want[key] = value
			}
			if diff := cmp.Diff(want, l.Document.Metadata); diff != "" {
				t.Errorf("metadata, -want +got:\n%s", diff)
			}
			if l.Document.Title != tc.title || l.Document.Text != tc.text {
				t.Errorf("title %q, text %q; want %q, %q", l.Document.Title, l.Document.Text, tc.title, tc.text)
			}
		})
	}
}

func TestParseMarkdownTitle(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"## Two\n\n# One #\n", "One"},
		{"#\n# C# \n", "C#"},
		{"```\n# a\n````\n# b\n", "b"},
		{"~~~ sh\n# a\n```\n# b\n", "f.md"},
		{"```not``` a fence\n# a\n", "a"},
		{"Two lines of\ntitle\n===\n", "title"},
		{"\n===\ntext", "f.md"},
		{"    # code\n\t# code\n", "f.md"},
		{"# " + strings.Repeat("long \u00e9", 100), strings.Repeat("long \u00e9", 42) + "long \u2026"},
	} {
		l, err := parse("f.md", []byte(tc.text))
		if err != nil {
			t.Fatal(err)
		}
		if l.Document.Title != tc.want {
			t.Errorf("title of %q = %q, want %q", tc.text, l.Document.Title, tc.want)
		}
	}
}

// A phrase of the text leads to its very bytes in the file.
func TestParseSpans(t *testing.T) {
	for _, tc := range []struct{ file, phrase, want string }{
		{"utf16le.txt", "\u6d77 \U0001F600", "\x77\x6d\x20\x00\x3d\xd8\x00\xde"},
		{"bad-bytes.txt", "\uFFFDafter", "\x00after"},
		{"front-matter.md", "Body text.", "Body text."},
		{"windows-1252.html", "\u20ac5", "\x805"},
		{"windows-1252.html", "a & b < c, <b>", "a & b < c, &lt;b&gt;"},
		{"windows-1252.html", "&amp; \u00e9", "&amp;amp; &eacute;"},
		{"shift-jis.html", "\u30c6\u30b9\u30c8 ABC \uff76", "\x83\x65\x83\x58\x83\x67 ABC \xb6"},
		{"iso-2022-jp.html", "\u672c\u8a9e", "\x4b\x5c\x38\x6c\x1b(B"}, // with the switch to ASCII
		{"utf16.html", "& b ", "&\x00a\x00m\x00p\x00;\x00 \x00b\x00 \x00"},
		{"lists-tables.html", "tables", "tables"},
		{"lists-tables.html", "Tea | 2", "<tr><td><p>Tea</p></td><td><p>2"},
		{"meeting.vtt", "es & no.\nit is", "es &amp; no.</v>\n\n00:04.000 --> 00:06.000\nYes &amp; no.\n<00:00:04.500><c>it</c> is"},
		{"talk.srt", "< 7 & mehr", "< 7 &amp; <font color=\"red\">mehr"},
		{"notebook.ipynb", "tab\tand", `tab\tand`},
		{"images.html", "a chart of rising costs", "<img src=\"a.png\" alt=\"a chart of\n rising  costs\">"},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", tc.file))
		if err != nil {
			t.Fatal(err)
		}
		l, err := parse(tc.file, data)
		if err != nil {
			t.Fatal(err)
		}
		start := strings.Index(l.Document.Text, tc.phrase)
		if start < 0 {
			t.Errorf("%s: the text lacks %q", tc.file, tc.phrase)
			continue
		}
		at := l.Document.Source.Tile(chunker.Range{Start: start, End: start + len(tc.phrase)})
		if got := at.Of(string(data)); got != tc.want {
			t.Errorf("%s: %q maps to %q, want %q", tc.file, tc.phrase, got, tc.want)
		}
	}
}

// FuzzParse holds every format to the rules of checkLoaded.
func FuzzParse(f *testing.F) {
	names := []string{"a.txt", "a.md", "a.html", "a.go", "a", "a.csv", "a.srt", "a.vtt", "a.ipynb"}
	for _, name := range inputs(f) {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		for i := range names {
			f.Add(uint8(i), data)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		name := names[int(which)%len(names)]
		l, err := parse(name, data)
		if err != nil {
			var skip *ingest.Skip
			if !errors.As(err, &skip) || !strings.HasPrefix(skip.Path, name) {
				t.Fatal(err)
			}
			return
		}
		checkLoaded(t, data, l)
	})
}

func BenchmarkParse(b *testing.B) {
	line := "A line of plain text with some words in it, é and 日本 too, <b>&amp; a tag</b>.\n"
	data := []byte(strings.Repeat(line, 1<<20/len(line)))
	for _, name := range []string{"a.txt", "a.md", "a.html"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := parse(name, data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestSingleByName(t *testing.T) {
	for name, want := range map[string]bool{
		"a.txt": true, "sub/a.PDF": true, "main.go": true, "Makefile": true,
		"a.zip": false, "a.tar.gz": false, "a.eml": false, "a.json": false, "a": false, "a.unknown": false,
	} {
		if got := ingest.SingleByName(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
