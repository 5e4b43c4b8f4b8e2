package storetest

import (
	"fmt"
	"testing"

	"github.com/waymark-rag/waymark/retriever"
)

func testTies(t *testing.T, at Open) {
	s := create(t, at, 4)
	same := part{"the same words ", axis(0)}
	for _, id := range []string{"d", "b", "e", "a", "c"} {
		upsert(t, s, document(id, axis(0), same, same))
	}
	// Within a document the landmark decides between equal dense scores.
	upsert(t, s, document("z", axis(0), part{"worst ", axis(1)}, part{"best ", axis(0)}, part{"middle", unit(1, 1, 0, 0)}))
	q := retriever.Query{Vector: axis(0), Limit: 7}
	want := []string{"a/0", "a/1", "b/0", "b/1", "c/0", "c/1", "d/0"}
	wantDiff(t, "by landmark", want, places(candidates(t, s, q).Dense))
	q.Weights = retriever.Weights{Document: 1}
	wantDiff(t, "by document", want, places(candidates(t, s, q).Dense))
	q.Limit, q.PerDocument = 10, 1
	wantDiff(t, "one of each document", []string{"a/0", "b/0", "c/0", "d/0", "e/0", "z/1"}, places(candidates(t, s, q).Dense))
	q.PerDocument, q.Filter = 0, retriever.Filter{}
	q.Limit = 20
	got := places(candidates(t, s, q).Dense)
	wantDiff(t, "the landmark before the ID", []string{"e/1", "z/1", "z/2", "z/0"}, got[len(got)-4:])
	q = retriever.Query{Words: "same", Limit: 3}
	wantDiff(t, "by words", []string{"a/0", "a/1", "b/0"}, places(candidates(t, s, q).Lexical))
}

// testTiesAtTheCut lets the limit fall among candidates that are all equal.
func testTiesAtTheCut(t *testing.T, at Open) {
	s := create(t, at, 4)
	same := part{"the same words ", axis(0)}
	var docs []retriever.Document
	for i := range 40 {
		docs = append(docs, with(document(fmt.Sprintf("d%02d", i*17%40), axis(0), same, same, same), map[string]any{"even": i%2 == 0}))
	}
	wide := make([]part, 100)
	for i := range wide {
		wide[i] = same
	}
	docs = append(docs, with(document("d20w", axis(0), wide...), map[string]any{"even": true}))
	upsert(t, s, docs...)
	for _, limit := range []int{1, 2, 63, 64, 65, 100, 163, 164, 219, 220, 500} {
		for _, q := range []retriever.Query{
			{Weights: retriever.Weights{Landmark: 1}},
			{Weights: retriever.Weights{Document: 1}, PerDocument: 2},
			{Weights: retriever.Weights{Landmark: 0.5, Document: 0.5}, Filter: where("even", retriever.Eq, true)},
		} {
			q.Vector, q.Words, q.Limit = axis(0), "same", limit
			want := places(reference(docs, q))
			got := candidates(t, s, q)
			what := fmt.Sprintf("limit %d, %d per document, %+v: ", limit, q.PerDocument, q.Weights)
			wantDiff(t, what+"dense", want, places(got.Dense))
			wantDiff(t, what+"lexical", want, places(got.Lexical))
		}
	}
}
