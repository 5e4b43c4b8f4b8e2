package qdrant

import (
	"fmt"
	"testing"

	"github.com/waymark-rag/waymark/internal/qdranttest"
	"github.com/waymark-rag/waymark/retriever"
)

// TestLongDocument stores a document of 200,000 tokens, 1600 chunks of 125, in
// points of one landmark and of many.
func TestLongDocument(t *testing.T) {
	const chunks = 1600
	for _, part := range []int{1, 64} {
		t.Run(fmt.Sprintf("part of %d", part), func(t *testing.T) {
			parts := func(n int) int { return (n + part - 1) / part }
			s := openTest(t, qdranttest.Collection(t), Options{Layout: Layout{PartLandmarks: part}})
			upsert(t, s, lines("long", "first", chunks))
			wantPoints(t, s, "stored,", parts(chunks))
			if got, want := best(t, s, fmt.Sprint("line", chunks-1)), fmt.Sprint("long/", chunks-1); got != want {
				t.Errorf("words of its last line find %q, want %q", got, want)
			}
			hits, err := retriever.Search(t.Context(), s, retriever.Request{Words: fmt.Sprint("line", chunks-1), K: 1})
			if err != nil || len(hits) != 1 || hits[0].Text != fmt.Sprintf("first line%d of the document.\n", chunks-1) || hits[0].Lines.First != chunks {
				t.Errorf("the hit is %+v, %v, want its last line", hits, err)
			}
			upsert(t, s, lines("long", "second", chunks+100))
			wantPoints(t, s, "replaced by a longer version,", parts(chunks+100))
			if got := best(t, s, "first"); got != "" {
				t.Errorf("words of the old version find %q", got)
			}
			upsert(t, s, lines("long", "second", chunks+100))
			wantPoints(t, s, "stored again,", parts(chunks+100))
			upsert(t, s, lines("long", "third", 5))
			wantPoints(t, s, "replaced by a short version,", parts(5))
			if n, err := s.Delete(t.Context(), []string{"long"}); n != 1 || err != nil {
				t.Errorf("Delete = %d, %v", n, err)
			}
			wantPoints(t, s, "deleted,", 0)
		})
	}
}

// TestManyDocuments stores 2000 documents of 40 landmarks in one call.
func TestManyDocuments(t *testing.T) {
	const documents, chunks = 2000, 40
	s := openTest(t, qdranttest.Collection(t), Options{Layout: Layout{PartLandmarks: 40}})
	docs := make([]retriever.Document, documents)
	for i := range docs {
		docs[i] = lines(fmt.Sprintf("d%04d", i), fmt.Sprint("name", i), chunks)
	}
	upsert(t, s, docs...)
	wantPoints(t, s, "stored,", documents)
	if got := best(t, s, "name1999 line39"); got != "d1999/39" {
		t.Errorf("the last line of the last document is found as %q", got)
	}
	upsert(t, s, docs...)
	wantPoints(t, s, "stored again,", documents)
	stats, err := s.Stats(t.Context())
	if err != nil || stats.Documents != documents || stats.Chunks != documents*chunks {
		t.Errorf("Stats = %+v, %v", stats, err)
	}
	n, err := s.DeleteWhere(t.Context(), retriever.Filter{All: []retriever.Condition{{Key: "name", Op: retriever.Prefix, Value: "name1"}}})
	if n != 1111 || err != nil {
		t.Errorf("DeleteWhere = %d, %v, want 1111", n, err)
	}
	wantPoints(t, s, "after deleting some,", documents-1111)
}
