package storetest

import (
	"math"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/retriever"
)

func testEmpty(t *testing.T, at Open) {
	s := create(t, at, 4)
	c := candidates(t, s, retriever.Query{Vector: axis(0), Words: "anything", Filter: where("nosuch", retriever.Eq, "x")})
	if len(c.Dense)+len(c.Lexical) != 0 {
		t.Errorf("an empty store found %v", c)
	}
	if docs := fetch(t, s, all, "a"); len(docs) != 0 {
		t.Errorf("an empty store returned %v", docs)
	}
	if ids, err := scroll(t.Context(), s, where("nosuch", retriever.Eq, "x")); len(ids) != 0 || err != nil {
		t.Errorf("scrolling an empty store: %v, %v", ids, err)
	}
	if n, err := s.Delete(t.Context(), []string{"a"}); n != 0 || err != nil {
		t.Errorf("deleting from an empty store: %d, %v", n, err)
	}
	if n, err := s.DeleteWhere(t.Context(), where("nosuch", retriever.Eq, "x")); n != 0 || err != nil {
		t.Errorf("deleting from an empty store by filter: %d, %v", n, err)
	}
	if err := s.Upsert(t.Context(), nil); err != nil {
		t.Errorf("storing no documents: %v", err)
	}
	if docs, chunks := stats(t, s); docs != 0 || chunks != 0 {
		t.Errorf("an empty store holds %d documents and %d chunks", docs, chunks)
	}
}

func testRoundTrip(t *testing.T, at Open) {
	s := create(t, at, 4)
	d := document("a", unit(1, 2, 3, 4),
		part{"Grüße, 世界.\r\n", unit(1, 0, 0, 1)}, part{"", unit(1, -1, 0, 0)}, part{"second 🙂\t", unit(0, 0, -1, 2)})
	d.Metadata = map[string]any{"format": "markdown"}
	d.Chunks[1].Headings = nil
	upsert(t, s, d)
	wantDiff(t, "document", []retriever.Document{d}, fetch(t, s, all, "a"))
}

func testReplace(t *testing.T, at Open) {
	s := create(t, at, 4)
	three := document("a", axis(0), part{"one alpha ", axis(0)}, part{"two alpha ", axis(1)}, part{"three alpha", axis(2)})
	one := document("a", axis(3), part{"only beta", axis(3)})
	other := document("b", axis(1), part{"bystander gamma", axis(1)})
	check := func(d retriever.Document) {
		t.Helper()
		wantDiff(t, "documents", []retriever.Document{d, other}, fetch(t, s, all, "a", "b"))
		if docs, chunks := stats(t, s); docs != 2 || chunks != len(d.Chunks)+1 {
			t.Errorf("the store holds %d documents with %d chunks, want 2 with %d", docs, chunks, len(d.Chunks)+1)
		}
		c := candidates(t, s, retriever.Query{Vector: axis(0), Words: "alpha beta"})
		if len(c.Dense) != len(d.Chunks)+1 || len(c.Lexical) != len(d.Chunks) {
			t.Errorf("found %q and %q, want %d and %d chunks", places(c.Dense), places(c.Lexical), len(d.Chunks)+1, len(d.Chunks))
		}
	}
	upsert(t, s, three, other)
	check(three)
	upsert(t, s, one)
	check(one)
	if c := candidates(t, s, retriever.Query{Words: "alpha"}); len(c.Lexical) != 0 {
		t.Errorf("words of the old version still find %q", places(c.Lexical))
	}
	upsert(t, s, three)
	check(three)
	s = reopen(t, at, s)
	check(three)
}

func testSameIDTwice(t *testing.T, at Open) {
	s := create(t, at, 4)
	first := document("a", axis(0), part{"first ", axis(0)}, part{"version", axis(0)})
	second := document("a", axis(1), part{"second", axis(1)})
	upsert(t, s, first, second)
	wantDiff(t, "the later version", []retriever.Document{second}, fetch(t, s, all, "a"))
	if docs, chunks := stats(t, s); docs != 1 || chunks != 1 {
		t.Errorf("the store holds %d documents with %d chunks, want 1 with 1", docs, chunks)
	}
}

func testRefused(t *testing.T, at Open) {
	s := create(t, at, 4)
	upsert(t, s, document("kept", axis(0), part{"kept", axis(0)}))
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, change := range map[string]func(*retriever.Document){
		"empty ID":         func(d *retriever.Document) { d.ID = "" },
		"no vector":        func(d *retriever.Document) { d.Vector = nil },
		"short vector":     func(d *retriever.Document) { d.Vector = unit(1, 2) },
		"long vector":      func(d *retriever.Document) { d.Vector = unit(1, 2, 3, 4, 5) },
		"NaN":              func(d *retriever.Document) { d.Vector = []float32{nan, 0, 0, 1} },
		"infinity":         func(d *retriever.Document) { d.Chunks[0].Vector = []float32{inf, 0, 0, 0} },
		"zero vector":      func(d *retriever.Document) { d.Chunks[1].Vector = make([]float32, 4) },
		"vector of norm 2": func(d *retriever.Document) { d.Chunks[1].Vector = []float32{2, 0, 0, 0} },
		"chunk without":    func(d *retriever.Document) { d.Chunks[1].Vector = nil },
		"gap":              func(d *retriever.Document) { d.Chunks[1].Text.Start++ },
		"overlap":          func(d *retriever.Document) { d.Chunks[1].Text.Start-- },
		"short chunks":     func(d *retriever.Document) { d.Chunks = d.Chunks[:1] },
		"range beyond":     func(d *retriever.Document) { d.Chunks[1].Text.End += 5 },
		"negative source":  func(d *retriever.Document) { d.Chunks[0].Source = chunker.Range{Start: -1, End: 4} },
		"lines backwards":  func(d *retriever.Document) { d.Chunks[0].Lines = retriever.Lines{First: 5, Last: 4} },
		"place not UTF-8":  func(d *retriever.Document) { d.Chunks[0].Place = chunker.Place{In: "\xff"} },
		"header below":     func(d *retriever.Document) { d.Chunks[0].Header = chunker.Range{Start: 1, End: 2} },
		"metadata type":    func(d *retriever.Document) { d.Metadata = map[string]any{"k": struct{}{}} },
		"metadata NaN":     func(d *retriever.Document) { d.Metadata = map[string]any{"k": math.NaN()} },
		"bytes not UTF-8":  func(d *retriever.Document) { d.Title = "\xff" },
		"NUL":              func(d *retriever.Document) { d.Title = "a\x00b" },
	} {
		good := document("good", axis(1), part{"good", axis(1)})
		bad := document("bad", axis(1), part{"some ", axis(1)}, part{"text", axis(2)})
		change(&bad)
		err := s.Upsert(t.Context(), []retriever.Document{good, bad})
		if err == nil {
			t.Errorf("%s: stored without an error", name)
			continue
		}
		if bad.ID != "" && !strings.Contains(err.Error(), `"bad"`) {
			t.Errorf("%s: the error does not name the document: %v", name, err)
		}
		if ids, err := scroll(t.Context(), s, retriever.Filter{}); err != nil || diff([]string{"kept"}, ids) != "" {
			t.Fatalf("%s: afterwards the store holds %q, %v, want what it held before", name, ids, err)
		}
	}
	if c := candidates(t, s, retriever.Query{Vector: axis(1), Words: "good some"}); len(c.Dense) != 1 || len(c.Lexical) != 0 {
		t.Errorf("refused documents are found: %v", c)
	}
}

func testMemory(t *testing.T, at Open) {
	s := create(t, at, 4)
	fresh := func() retriever.Document {
		return with(document("a", unit(1, 2, 0, 0), part{"words", unit(1, 0, 2, 0)}),
			map[string]any{"tags": []string{"x", "y"}, "n": int64(1)})
	}
	spoil := func(d *retriever.Document) {
		d.Vector[0], d.Chunks[0].Vector[0] = 9, 9
		d.Chunks[0].Headings[0] = "spoilt"
		d.Chunks[0].Tokens = -1
		d.Metadata["tags"].([]string)[0] = "spoilt"
		d.Metadata["n"] = "spoilt"
	}
	docs := []retriever.Document{fresh()}
	if err := s.Upsert(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	wantDiff(t, "the argument after the call", []retriever.Document{fresh()}, docs)
	for range 2 {
		spoil(&docs[0])
		docs = fetch(t, s, all, "a")
		wantDiff(t, "the document after the caller wrote to its copy", []retriever.Document{fresh()}, docs)
	}
	c := candidates(t, s, retriever.Query{Vector: axis(0), Filter: where("tags", retriever.Eq, "x")})
	if len(c.Dense) != 1 {
		t.Errorf("the filter finds %v, want the document", c.Dense)
	}
	c.Dense[0].Document = "spoilt"
	vector, list := axis(0), []string{"x"}
	c = candidates(t, s, retriever.Query{Vector: vector, Filter: where("tags", retriever.In, list)})
	wantDiff(t, "candidates", []string{"a/0"}, places(c.Dense))
	wantDiff(t, "the query", axis(0), vector)
	wantDiff(t, "the filter", []string{"x"}, list)
}

func testMetadataTypes(t *testing.T, at Open) {
	s := create(t, at, 4)
	metadata := map[string]any{
		"string": "text", "empty": "", "quote": `a "b" 'c' \ <&>`, "true": true, "false": false,
		"int": int64(7), "negative": int64(-7), "largest": int64(math.MaxInt64), "smallest": int64(math.MinInt64),
		"float": 1.5, "whole": 3.0, "tiny": 5e-324, "huge": -1.7e308,
		"list": []string{"b", "a", "b"}, "empty list": []string{}, "ключ ✓": "значение",
	}
	d := with(document("a", axis(0), part{"x", axis(0)}), metadata)
	d.Metadata["plain int"] = 5
	upsert(t, s, d)
	d.Metadata["plain int"] = int64(5)
	check := func(s retriever.Store) {
		got := fetch(t, s, retriever.Want{}, "a")
		if len(got) != 1 {
			t.Fatalf("got %d documents", len(got))
		}
		for key, want := range d.Metadata {
			if have := got[0].Metadata[key]; diff(want, have) != "" {
				t.Errorf("metadata %q came back as %T %v, want %T %v", key, have, have, want, want)
			}
		}
		if len(got[0].Metadata) != len(d.Metadata) {
			t.Errorf("got %d metadata keys, want %d", len(got[0].Metadata), len(d.Metadata))
		}
	}
	check(s)
	check(reopen(t, at, s))
}

func testStrangeIDs(t *testing.T, at Open) {
	s := create(t, at, 4)
	ids := []string{
		" ", "a b", "a\nb", `quote " and ' and \`, "a/b/../c", "C:\\x", "%41", "?*", "ключ", "日本語.md", "🙂",
		"'; DROP TABLE documents; --", "A", "a", "a ", strings.Repeat("long/", 200),
	}
	for i, id := range ids {
		upsert(t, s, with(document(id, axis(0), part{id, axis(0)}), map[string]any{"i": i}))
	}
	for i, id := range ids {
		got := fetch(t, s, retriever.Want{Text: true}, id)
		if len(got) != 1 || got[0].ID != id || got[0].Text != id || got[0].Metadata["i"] != int64(i) {
			t.Errorf("ID %q came back as %+v", id, got)
		}
	}
	for _, id := range ids {
		if n, err := s.Delete(t.Context(), []string{id}); n != 1 || err != nil {
			t.Errorf("Delete(%q) = %d, %v", id, n, err)
		}
	}
}

func testEmptyText(t *testing.T, at Open) {
	s := create(t, at, 4)
	none := document("none", axis(0))
	one := document("one", axis(1), part{"", axis(1)})
	upsert(t, s, none, one)
	wantDiff(t, "documents", []retriever.Document{none, one}, fetch(t, s, all, "none", "one"))
	c := candidates(t, s, retriever.Query{Vector: axis(0)})
	wantDiff(t, "candidates", []string{"one/0"}, places(c.Dense))
}
