package storetest

import (
	"fmt"
	"math"
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

// testFetchOnly reads some chunks of documents: those are right, and at the places
// where they always are.
func testFetchOnly(t *testing.T, at Open) {
	s := create(t, at, 4)
	a, b, none := long("a", 200, "first"), long("b", 70, "second"), document("none", axis(0))
	a.Chunks[150].Header = a.Chunks[140].Text
	upsert(t, s, a, b, none)
	const far = math.MaxInt
	for _, test := range []struct {
		only        map[string][][2]int
		a, b        []int // chunks that have to be there
		description string
	}{
		{map[string][][2]int{}, nil, nil, "none"},
		{map[string][][2]int{"a": {{3, 3}}}, []int{3}, nil, "one"},
		{map[string][][2]int{"a": {{199, 199}, {0, 1}}, "b": {{64, 65}}}, []int{0, 1, 199}, []int{64, 65}, "of two documents"},
		{map[string][][2]int{"a": {{63, 66}, {65, 67}}}, []int{63, 64, 65, 66, 67}, nil, "that overlap"},
		{map[string][][2]int{"b": {{-5, 1}, {68, far}, {far, far}}, "nosuch": {{0, 0}}, "none": {{0, 0}}}, nil, []int{0, 1, 68, 69}, "beyond the ends"},
		{map[string][][2]int{"a": {{150, 150}}}, []int{150}, nil, "below a header"},
	} {
		want := all
		want.Only = test.only
		docs := fetch(t, s, want, "b", "none", "a")
		if len(docs) != 3 || len(docs[0].Chunks) != 70 || len(docs[1].Chunks) != 0 || len(docs[2].Chunks) != 200 {
			t.Fatalf("%s: other documents came, or ones with more or fewer chunks than they have", test.description)
		}
		for _, pair := range []struct {
			whole, got retriever.Document
			chunks     []int
		}{{a, docs[2], test.a}, {b, docs[0], test.b}} {
			for _, i := range pair.chunks {
				what := fmt.Sprintf("%s: chunk %d of %q", test.description, i, pair.whole.ID)
				c := pair.got.Chunks[i]
				wantDiff(t, what, pair.whole.Chunks[i], c)
				if len(pair.got.Text) < c.Text.End || c.Text.Of(pair.got.Text) != c.Text.Of(pair.whole.Text) || c.Header.Of(pair.got.Text) != c.Header.Of(pair.whole.Text) {
					t.Errorf("%s: its text or its header is not where it was", what)
				}
			}
			wantDiff(t, test.description, pair.whole.Vector, pair.got.Vector)
		}
		for _, d := range fetch(t, s, retriever.Want{Only: test.only}, "a", "b") {
			if d.Text != "" || d.Chunks != nil || d.Vector != nil || d.Title == "" {
				t.Errorf("%s: only title, hash and metadata were wanted, and %+v came", test.description, d)
			}
		}
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
