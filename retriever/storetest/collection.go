package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/waymark-rag/waymark/retriever"
)

// letters fills a store with the documents a to f, of one chunk each, with the
// metadata n = 0 to 5 and even.
func letters(t *testing.T, s retriever.Store) {
	t.Helper()
	var docs []retriever.Document
	for i, id := range []string{"c", "a", "f", "b", "e", "d"} {
		n := int(id[0] - 'a')
		docs = append(docs, with(document(id, axis(i%4), part{"letter " + id, axis(i % 4)}),
			map[string]any{"n": n, "even": n%2 == 0}))
	}
	upsert(t, s, docs...)
}

func testDelete(t *testing.T, open Open) {
	s, reopen := open(t, 4)
	letters(t, s)
	n, err := s.Delete(t.Context(), []string{"b", "nosuch", "d", "b"})
	if n != 2 || err != nil {
		t.Errorf("Delete = %d, %v, want 2", n, err)
	}
	check := func(s retriever.Store) {
		t.Helper()
		ids, err := scroll(t.Context(), s, retriever.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		wantDiff(t, "left", []string{"a", "c", "e", "f"}, ids)
		if docs, chunks := stats(t, s); docs != 4 || chunks != 4 {
			t.Errorf("the store holds %d documents with %d chunks, want 4 with 4", docs, chunks)
		}
		c := candidates(t, s, retriever.Query{Vector: axis(0), Words: "letter"})
		if len(c.Dense) != 4 || len(c.Lexical) != 4 {
			t.Errorf("found %q and %q, want 4 each", places(c.Dense), places(c.Lexical))
		}
	}
	check(s)
	check(reopen())
}

func testDeleteWhere(t *testing.T, open Open) {
	s, _ := open(t, 4)
	letters(t, s)
	if _, err := s.DeleteWhere(t.Context(), retriever.Filter{}); err == nil {
		t.Error("deleting by an empty filter was not refused")
	}
	var unknown *retriever.UnknownKeyError
	if _, err := s.DeleteWhere(t.Context(), where("nosuch", retriever.Ne, "x")); !errors.As(err, &unknown) {
		t.Errorf("deleting by an unknown key: %v, want an *UnknownKeyError", err)
	}
	if _, err := s.DeleteWhere(t.Context(), where("n", "about", 1)); err == nil {
		t.Error("deleting by an unknown operation was not refused")
	}
	if docs, _ := stats(t, s); docs != 6 {
		t.Fatalf("refused deletes left %d documents of 6", docs)
	}
	if n, err := s.DeleteWhere(t.Context(), where("even", retriever.Eq, true)); n != 3 || err != nil {
		t.Errorf("DeleteWhere = %d, %v, want 3", n, err)
	}
	ids, err := scroll(t.Context(), s, retriever.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	wantDiff(t, "left", []string{"b", "d", "f"}, ids)
	if n, err := s.DeleteWhere(t.Context(), where("even", retriever.Eq, true)); n != 0 || err != nil {
		t.Errorf("the second time DeleteWhere = %d, %v, want 0", n, err)
	}
}

func testFetch(t *testing.T, open Open) {
	s, _ := open(t, 4)
	letters(t, s)
	for _, want := range []retriever.Want{
		{}, {Text: true}, {Chunks: true}, {Vectors: true}, {Chunks: true, Vectors: true}, {Text: true, Chunks: true}, all,
	} {
		docs := fetch(t, s, want, "f", "nosuch", "a", "f")
		var ids []string
		for _, d := range docs {
			ids = append(ids, d.ID)
			if d.Title != "Title of "+d.ID || d.Hash != "hash-"+d.ID || d.Metadata["n"] == nil {
				t.Errorf("%+v: title, hash or metadata is missing: %+v", want, d)
			}
			if (d.Text != "") != want.Text || (d.Chunks != nil) != want.Chunks || (d.Vector != nil) != want.Vectors {
				t.Errorf("%+v: other parts came: %+v", want, d)
			}
			for _, c := range d.Chunks {
				if (c.Vector != nil) != want.Vectors {
					t.Errorf("%+v: other parts of a chunk came: %+v", want, c)
				}
			}
		}
		wantDiff(t, fmt.Sprintf("order with %+v", want), []string{"f", "a", "f"}, ids)
	}
	if docs := fetch(t, s, all); len(docs) != 0 {
		t.Errorf("asked for nothing, got %v", docs)
	}
}

func testScroll(t *testing.T, open Open) {
	s, _ := open(t, 4)
	const n = 300
	var docs []retriever.Document
	var ids []string
	for i := range n {
		id := fmt.Sprintf("doc %d", i*7919%n)
		ids = append(ids, id)
		docs = append(docs, with(document(id, axis(0), part{id, axis(0)}), map[string]any{"i": i}))
	}
	upsert(t, s, docs...)
	slices.Sort(ids)
	got, err := scroll(t.Context(), s, retriever.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	wantDiff(t, "all", ids, got)
	if got, err = scroll(t.Context(), s, where("i", retriever.Lt, 150)); err != nil || len(got) != 150 || !slices.IsSorted(got) {
		t.Errorf("by filter: %d documents, %v, want 150 in order", len(got), err)
	}
	for d, err := range s.Scroll(t.Context(), where("i", retriever.Eq, 17), all) {
		if err != nil {
			t.Fatal(err)
		}
		wantDiff(t, "a document with all parts", docs[17].Chunks, d.Chunks)
	}
	var unknown *retriever.UnknownKeyError
	if _, err := scroll(t.Context(), s, where("nosuch", retriever.Eq, "x")); !errors.As(err, &unknown) {
		t.Errorf("scrolling by an unknown key: %v, want an *UnknownKeyError", err)
	}
	if _, err := scroll(t.Context(), s, where("i", "about", 1)); err == nil {
		t.Error("scrolling by an unknown operation was not refused")
	}
	for range s.Scroll(t.Context(), retriever.Filter{}, all) {
		break // must not hang or leak
	}
}

func testScrollWhileWriting(t *testing.T, open Open) {
	s, _ := open(t, 4)
	const n = 200
	for i := range n {
		upsert(t, s, document(fmt.Sprintf("%03d", i), axis(0), part{"x", axis(0)}))
	}
	seen := make(map[string]int)
	for d, err := range s.Scroll(t.Context(), retriever.Filter{}, retriever.Want{Text: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if seen[d.ID]++; seen[d.ID] > 1 {
			t.Errorf("saw %q again", d.ID)
		}
		switch d.ID {
		case "010":
			if _, err := s.Delete(t.Context(), []string{"000", "199"}); err != nil {
				t.Fatal(err)
			}
		case "020":
			upsert(t, s, document("0", axis(0), part{"new", axis(0)}))
		}
	}
	for i := 1; i < n-1; i++ {
		if id := fmt.Sprintf("%03d", i); seen[id] == 0 {
			t.Errorf("did not see %q, which was there all the time", id)
		}
	}
}

func testStats(t *testing.T, open Open) {
	s, _ := open(t, 4)
	letters(t, s)
	st, err := s.Stats(t.Context())
	if err != nil || st.Documents != 6 || st.Chunks != 6 || st.Bytes < 0 {
		t.Errorf("Stats = %+v, %v, want 6 documents with 6 chunks", st, err)
	}
}

func testReopen(t *testing.T, open Open) {
	s, reopen := open(t, 4)
	letters(t, s)
	q := retriever.Query{Vector: unit(1, 2, 3, 4), Words: "letter c"}
	found := candidates(t, s, q)
	docs := fetch(t, s, all, "a", "b", "c", "d", "e", "f")
	s = reopen()
	wantDiff(t, "candidates", found, candidates(t, s, q))
	wantDiff(t, "documents", docs, fetch(t, s, all, "a", "b", "c", "d", "e", "f"))
}
