package retriever_test

import (
	"math"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/retriever"
)

func TestCheck(t *testing.T) {
	nan := float32(math.NaN())
	for _, test := range []struct {
		want   string // in the error; empty for none
		change func(*retriever.Document)
	}{
		{"", func(d *retriever.Document) {}},
		{"", func(d *retriever.Document) { d.Vector = []float32{0.6005, 0.8, 0} }},
		{"", func(d *retriever.Document) { d.Text, d.Chunks = "", nil }},
		{"", func(d *retriever.Document) { d.Chunks[0].Source = chunker.Range{} }},
		{"", func(d *retriever.Document) {
			d.Metadata = map[string]any{"s": "", "b": true, "i": 1, "j": int64(1), "f": 1.5, "l": []string{"x"}, "n": []string(nil)}
		}},
		{"without an ID", func(d *retriever.Document) { d.ID = "" }},
		{"ID: byte 1 is not UTF-8", func(d *retriever.Document) { d.ID = "a\xff" }},
		{"title: NUL at byte 0", func(d *retriever.Document) { d.Title = "\x00" }},
		{"hash: byte 0", func(d *retriever.Document) { d.Hash = "\xc3" }},
		{"text: byte 2", func(d *retriever.Document) { d.Text = "ab\x80" }},
		{"it has no vector", func(d *retriever.Document) { d.Vector = nil }},
		{"vector of length 2: want 3", func(d *retriever.Document) { d.Vector = []float32{1, 0} }},
		{"chunk 1: vector of length 4: want 3", func(d *retriever.Document) { d.Chunks[1].Vector = []float32{1, 0, 0, 0} }},
		{"norm of NaN", func(d *retriever.Document) { d.Chunks[1].Vector[2] = nan }},
		{"norm of +Inf", func(d *retriever.Document) { d.Vector[0] = float32(math.Inf(-1)) }},
		{"norm of 0", func(d *retriever.Document) { d.Vector = make([]float32, 3) }},
		{"norm of 1.009", func(d *retriever.Document) { d.Vector = []float32{1.01, 0, 0} }},
		{"chunk 0 covers bytes 1-4", func(d *retriever.Document) { d.Chunks[0].Text.Start = 1 }},
		{"chunk 1 covers bytes 5-8", func(d *retriever.Document) { d.Chunks[1].Text.Start++ }},
		{"chunk 1 covers bytes 4-3", func(d *retriever.Document) { d.Chunks[1].Text.End = 3 }},
		{"chunk 1 covers bytes 4-9", func(d *retriever.Document) { d.Chunks[1].Text.End = 9 }},
		{"chunks end at byte 4 of a text of 8", func(d *retriever.Document) { d.Chunks = d.Chunks[:1] }},
		{"chunks end at byte 0 of a text of 8", func(d *retriever.Document) { d.Chunks = nil }},
		{"source range 5-4", func(d *retriever.Document) { d.Chunks[0].Source = chunker.Range{Start: 5, End: 4} }},
		{"source range -1-4", func(d *retriever.Document) { d.Chunks[0].Source = chunker.Range{Start: -1, End: 4} }},
		{"lines 0 to 2", func(d *retriever.Document) { d.Chunks[0].Lines = retriever.Lines{Last: 2} }},
		{"lines 3 to 2", func(d *retriever.Document) { d.Chunks[0].Lines = retriever.Lines{First: 3, Last: 2} }},
		{"-1 tokens", func(d *retriever.Document) { d.Chunks[0].Tokens = -1 }},
		{"norm NaN", func(d *retriever.Document) { d.Chunks[0].Norm = nan }},
		{"norm -1", func(d *retriever.Document) { d.Chunks[0].Norm = -1 }},
		{"heading", func(d *retriever.Document) { d.Chunks[0].Headings = []string{"ok", "\xff"} }},
		{`metadata "": the key is empty`, func(d *retriever.Document) { d.Metadata = map[string]any{"": "x"} }},
		{`metadata "\xff": byte 0`, func(d *retriever.Document) { d.Metadata = map[string]any{"\xff": "x"} }},
		{`metadata "k": byte 0`, func(d *retriever.Document) { d.Metadata = map[string]any{"k": "\xff"} }},
		{`metadata "k": NUL`, func(d *retriever.Document) { d.Metadata = map[string]any{"k": []string{"a", "\x00"}} }},
		{`metadata "k": NaN`, func(d *retriever.Document) { d.Metadata = map[string]any{"k": math.NaN()} }},
		{`metadata "k": a value of type int32`, func(d *retriever.Document) { d.Metadata = map[string]any{"k": int32(1)} }},
		{`metadata "k": a value of type <nil>`, func(d *retriever.Document) { d.Metadata = map[string]any{"k": nil} }},
		{`metadata "k": a value of type []interface {}`, func(d *retriever.Document) { d.Metadata = map[string]any{"k": []any{"x"}} }},
	} {
		d := retriever.Document{ID: "doc", Title: "Title", Text: "onetwo..", Vector: []float32{0.6, 0.8, 0}, Chunks: []retriever.Chunk{
			{Text: chunker.Range{Start: 0, End: 4}, Vector: []float32{1, 0, 0}, Lines: retriever.Lines{First: 1, Last: 1}},
			{Text: chunker.Range{Start: 4, End: 8}, Vector: []float32{0, 0, -1}},
		}}
		test.change(&d)
		for _, dim := range []int{3, 0} {
			if strings.Contains(test.want, "length 2") {
				dim = 3
			}
			err := retriever.Check(&d, dim)
			if test.want == "" {
				if err != nil {
					t.Errorf("%v", err)
				}
			} else if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("dim %d: %v, want %q", dim, err, test.want)
			}
		}
	}
	d := retriever.Document{ID: "doc", Vector: []float32{1}}
	if err := retriever.Check(&d, 2); err == nil || !strings.Contains(err.Error(), `"doc"`) {
		t.Errorf("%v, want the document named", err)
	}
}

func TestMismatchError(t *testing.T) {
	err := &retriever.MismatchError{
		Have: retriever.Fingerprint{Model: "a", Dim: 384, Reader: "v1"},
		Want: retriever.Fingerprint{Model: "b", Dim: 384, Reader: "v2"},
	}
	want := "the store was indexed with model a, not b; reader v1, not v2: open it with what made it, or index again into a new one"
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	if (retriever.Fingerprint{Dim: 1}).IsZero() || !(retriever.Fingerprint{}).IsZero() {
		t.Error("IsZero does not tell the zero fingerprint from others")
	}
}
