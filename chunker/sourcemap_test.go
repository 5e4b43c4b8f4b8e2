package chunker

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// htmlPage is what a reader makes of a small page: the tags are left out, line
// breaks put between blocks, and the entity is replaced.
func htmlPage() (doc Document, file string) {
	file = "\ufeff<html>\n<body>\n<p>Hello</p>\n\n<p>salt &amp;\npepper</p>\n</body>\n</html>\n"
	var b SourceMapBuilder
	var text strings.Builder
	add := func(s, source string) {
		at := strings.Index(file, source)
		text.WriteString(s)
		b.Add(len(s), at, len(source))
	}
	add("Hello", "Hello")
	b.Add(2, strings.Index(file, "Hello")+len("Hello"), 0)
	text.WriteString("\n\n")
	add("salt ", "salt ")
	add("&", "&amp;")
	add("\npepper", "\npepper")
	b.Add(1, strings.Index(file, "pepper")+len("pepper"), 0)
	text.WriteString("\n")
	return Document{Text: text.String(), Source: b.Finish([]byte(file))}, file
}

func TestTile(t *testing.T) {
	doc, file := htmlPage()
	var got []string
	for _, r := range []Range{{0, 7}, {7, 12}, {12, 13}, {13, 21}} {
		got = append(got, r.Of(doc.Text), doc.Source.Tile(r).Of(file))
	}
	want := []string{
		"Hello\n\n", "\ufeff<html>\n<body>\n<p>Hello",
		"salt ", "</p>\n\n<p>salt ",
		"&", "&amp;",
		"\npepper\n", "\npepper</p>\n</body>\n</html>\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("text ranges and the bytes of the file for them (-want +got):\n%s", diff)
	}
}

func TestDocumentLines(t *testing.T) {
	page, _ := htmlPage()
	plain := func(file string) Document {
		var b SourceMapBuilder
		b.Add(len(file), 0, len(file))
		return Document{Text: file, Source: b.Finish([]byte(file))}
	}
	tests := []struct {
		name        string
		doc         Document
		text        string
		first, last int
	}{
		{"head left out", page, "Hello", 3, 3},
		{"inserted break", page, "Hello\n\n", 3, 3},
		{"tags between", page, "salt &\npepper", 5, 6},
		{"replaced", page, "&", 5, 5},
		{"one line", plain("a\nb\nc\n"), "b", 2, 2},
		{"with its line break", plain("a\nb\nc\n"), "b\n", 2, 2},
		{"blank lines at the end", plain("a\n\n\n\nb\n"), "a\n\n\n\n", 1, 1},
		{"blank lines at the start", plain("a\n\n\n\nb\n"), "\n\n\n\nb", 5, 5},
		{"indentation of the next line", plain("a\n   b"), "a\n   ", 1, 1},
		{"last line without break", plain("a\nb"), "b", 2, 2},
		{"crlf", plain("a\r\nb\r\nc"), "b\r\n", 2, 2},
		{"all", plain("a\nb\nc\n"), "a\nb\nc\n", 1, 3},
		{"white space alone", plain("a\n\n\nb"), "\n\n\n", 1, 3},
		{"zero map", Document{Text: "a\nb"}, "b", 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			at := strings.Index(tt.doc.Text, tt.text)
			first, last := tt.doc.Lines(Range{at, at + len(tt.text)})
			if first != tt.first || last != tt.last {
				t.Errorf("lines of %q: %d-%d, want %d-%d", tt.text, first, last, tt.first, tt.last)
			}
		})
	}
}

func TestSourceMapLines(t *testing.T) {
	var b SourceMapBuilder
	b.Add(6, 0, 6)
	m := b.Finish([]byte("a\nb\n\nc"))
	for _, tt := range []struct {
		r           Range
		first, last int
	}{
		{Range{0, 1}, 1, 1},
		{Range{0, 2}, 1, 1}, // a line break belongs to the line it ends
		{Range{0, 3}, 1, 2},
		{Range{4, 5}, 3, 3},
		{Range{5, 6}, 4, 4},
		{Range{2, 2}, 2, 2},
	} {
		if first, last := m.Lines(tt.r); first != tt.first || last != tt.last {
			t.Errorf("lines of %s: %d-%d, want %d-%d", tt.r, first, last, tt.first, tt.last)
		}
	}
}

func TestZeroSourceMap(t *testing.T) {
	var m SourceMap
	r := Range{3, 9}
	if got := m.Tile(r); got != r {
		t.Errorf("tile of %s: %s", r, got)
	}
	if m.Part().Len() != 0 {
		t.Errorf("size %d", m.Part().Len())
	}
}

func TestSourceMapBuilderMergesRuns(t *testing.T) {
	var b SourceMapBuilder
	b.Add(0, 3, 0)  // nothing
	b.Add(4, 3, 4)  // as it is
	b.Add(6, 7, 6)  // goes on
	b.Add(3, 13, 1) // a bad byte
	b.Add(3, 14, 1) // another
	b.Add(1, 15, 1) // as it is
	b.Add(1, 20, 1) // after a gap
	b.Add(2, 21, 0) // inserted
	b.Add(1, 21, 1) // as it is
	m := b.Finish(make([]byte, 25))
	want := []run{
		{text: 0, source: 3, n: 10, textUnit: 1, sourceUnit: 1},
		{text: 10, source: 13, n: 2, textUnit: 3, sourceUnit: 1},
		{text: 16, source: 15, n: 1, textUnit: 1, sourceUnit: 1},
		{text: 17, source: 20, n: 1, textUnit: 1, sourceUnit: 1},
		{text: 18, source: 21, n: 1, textUnit: 2, sourceUnit: 0},
		{text: 20, source: 21, n: 1, textUnit: 1, sourceUnit: 1},
	}
	if diff := cmp.Diff(want, m.runs, cmp.AllowUnexported(run{})); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if m.Part().Len() != 25 {
		t.Errorf("size %d, want 25", m.Part().Len())
	}
}

// FuzzSourceMap builds a map of random runs and checks what must hold for any.
func FuzzSourceMap(f *testing.F) {
	f.Add(uint64(1), uint8(3))
	f.Add(uint64(2), uint8(0))
	f.Add(uint64(3), uint8(40))
	f.Fuzz(func(t *testing.T, seed uint64, runs uint8) {
		random := rand.New(rand.NewPCG(seed, 0))
		var b SourceMapBuilder
		text, source := 0, 0
		for range runs {
			source += random.IntN(3) * random.IntN(5) // left out
			textLen, sourceLen := random.IntN(5), random.IntN(5)
			if textLen == 0 {
				sourceLen = 0
			}
			b.Add(textLen, source, sourceLen)
			text += textLen
			source += sourceLen
		}
		file := make([]byte, source+random.IntN(4))
		for i := range file {
			file[i] = "a \n"[random.IntN(3)]
		}
		m := b.Finish(file)
		if text == 0 || len(file) == 0 {
			return
		}
		at := Range{}
		for start := 0; start < text; {
			r := Range{start, start + 1 + random.IntN(text-start)}
			tile := m.Tile(r)
			if tile.Start != at.End || tile.End < tile.Start {
				t.Fatalf("tile of %s is %s, after one that ends at %d", r, tile, at.End)
			}
			span := m.span(r)
			if span.End < span.Start || span.Start < 0 || span.End > len(file) {
				t.Fatalf("span of %s is %s in a file of %d bytes", r, span, len(file))
			}
			first, last := m.Lines(span)
			lines := 1 + strings.Count(string(file), "\n")
			if first < 1 || last < first || last > lines {
				t.Fatalf("lines of %s are %d-%d of %d", span, first, last, lines)
			}
			at, start = tile, r.End
		}
		if at.End != len(file) {
			t.Fatalf("tiles end at %d of %d", at.End, len(file))
		}
	})
}

func TestSourceMapOfAPart(t *testing.T) {
	var b SourceMapBuilder
	b.Add(4, 0, 4)
	b.Add(1, 4, 2) // an escape
	b.Add(3, 6, 3)
	m := b.Finish([]byte("ab\nc\\\"d\ne")).In(100, 7)
	if got := m.Part(); got != (Range{100, 109}) {
		t.Errorf("part %s", got)
	}
	for _, tt := range []struct{ text, want Range }{
		{Range{0, 8}, Range{100, 109}},
		{Range{4, 5}, Range{104, 106}},
		{Range{6, 7}, Range{107, 108}},
	} {
		if got := m.Tile(tt.text); got != tt.want {
			t.Errorf("tile of %s: %s, want %s", tt.text, got, tt.want)
		}
	}
	if first, last := m.Lines(Range{100, 109}); first != 8 || last != 10 {
		t.Errorf("lines %d-%d, want 8-10", first, last)
	}
}

func TestNoSource(t *testing.T) {
	d := Document{Text: "of a page", Source: NoSource()}
	if got := d.Source.Tile(Range{3, 9}); got != (Range{}) {
		t.Errorf("tile %s", got)
	}
	if first, last := d.Lines(Range{3, 9}); first != 0 || last != 0 {
		t.Errorf("lines %d-%d", first, last)
	}
}

// A text of bytes that are decoded from a file leads to the bytes of that file.
func TestSourceMapAddText(t *testing.T) {
	file := "x: a=C3=A9&amp;b" // "é&b" in HTML in quoted-printable
	var decoded SourceMapBuilder
	decoded.Add(1, 3, 1)  // a
	decoded.Add(1, 4, 3)  // the first byte of é
	decoded.Add(1, 7, 3)  // the second
	decoded.Add(5, 10, 5) // &amp;
	decoded.Add(1, 15, 1) // b
	outer := decoded.Finish([]byte(file))
	var text SourceMapBuilder
	text.Add(3, 0, 3) // aé
	text.Add(1, 3, 5) // &
	text.Add(1, 8, 0) // a line break
	text.Add(1, 8, 1) // b
	inner := text.Finish([]byte("a\u00e9&amp;b"))
	var b SourceMapBuilder
	b.AddText(6, &inner, &outer)
	m := b.Finish([]byte(file))
	for _, tc := range []struct {
		r    Range
		want string
	}{
		{Range{Start: 1, End: 3}, "=C3=A9"}, {Range{Start: 3, End: 4}, "&amp;"}, {Range{Start: 4, End: 5}, ""},
		{Range{Start: 5, End: 6}, "b"}, {Range{End: 6}, file},
	} {
		if got := m.Tile(tc.r).Of(file); got != tc.want {
			t.Errorf("%v stands at %q, want %q", tc.r, got, tc.want)
		}
	}
	var same SourceMapBuilder
	same.AddText(9, new(SourceMap), &outer)
	m = same.Finish([]byte(file))
	if got := m.Tile(Range{Start: 1, End: 3}).Of(file); got != "=C3=A9" {
		t.Errorf("the bytes themselves stand at %q", got)
	}
}
