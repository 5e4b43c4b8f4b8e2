package storetest

import (
	"fmt"
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

func testFetch(t *testing.T, at Open) {
	s := create(t, at, 4)
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

func testStats(t *testing.T, at Open) {
	s := create(t, at, 4)
	letters(t, s)
	st, err := s.Stats(t.Context())
	if err != nil || st.Documents != 6 || st.Chunks != 6 || st.Bytes < 0 {
		t.Errorf("Stats = %+v, %v, want 6 documents with 6 chunks", st, err)
	}
}

func testReopen(t *testing.T, at Open) {
	s := create(t, at, 4)
	letters(t, s)
	q := retriever.Query{Vector: unit(1, 2, 3, 4), Words: "letter c"}
	found := candidates(t, s, q)
	docs := fetch(t, s, all, "a", "b", "c", "d", "e", "f")
	s = reopen(t, at, s)
	wantDiff(t, "candidates", found, candidates(t, s, q))
	wantDiff(t, "documents", docs, fetch(t, s, all, "a", "b", "c", "d", "e", "f"))
}
