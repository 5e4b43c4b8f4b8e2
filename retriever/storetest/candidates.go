package storetest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/waymark-rag/waymark/retriever"
)

func testDenseScores(t *testing.T, at Open) {
	s := create(t, at, 4)
	upsert(t, s,
		document("a", []float32{0.6, 0.8, 0, 0}, part{"x ", []float32{1, 0, 0, 0}}, part{"y", []float32{0, 1, 0, 0}}),
		document("b", []float32{-1, 0, 0, 0}, part{"z", []float32{0.8, 0, 0.6, 0}}),
	)
	score := func(landmark, document, dense float64) retriever.Score {
		return retriever.Score{Dense: dense, Landmark: landmark, Document: document}
	}
	for _, test := range []struct {
		weights retriever.Weights
		want    []retriever.Candidate
	}{
		{retriever.Weights{Landmark: 1}, []retriever.Candidate{
			{Document: "a", Chunk: 0, Score: score(1, 0.6, 1)},
			{Document: "b", Chunk: 0, Score: score(0.8, -1, 0.8)},
			{Document: "a", Chunk: 1, Score: score(0, 0.6, 0)},
		}},
		{retriever.Weights{Document: 1}, []retriever.Candidate{
			{Document: "a", Chunk: 0, Score: score(1, 0.6, 0.6)},
			{Document: "a", Chunk: 1, Score: score(0, 0.6, 0.6)},
			{Document: "b", Chunk: 0, Score: score(0.8, -1, -1)},
		}},
		{retriever.Weights{Landmark: 0.5, Document: 0.25}, []retriever.Candidate{
			{Document: "a", Chunk: 0, Score: score(1, 0.6, 0.65)},
			{Document: "a", Chunk: 1, Score: score(0, 0.6, 0.15)},
			{Document: "b", Chunk: 0, Score: score(0.8, -1, 0.15)},
		}},
	} {
		got := candidates(t, s, retriever.Query{Vector: axis(0), Weights: test.weights})
		if len(got.Dense) == 3 && math.Abs(got.Dense[1].Score.Dense-got.Dense[2].Score.Dense) < tolerance {
			slices.SortFunc(got.Dense[1:], byPlace) // a tie but for rounding
		}
		wantDiff(t, fmt.Sprintf("%+v", test.weights), test.want, rounded(got.Dense))
		if len(got.Lexical) != 0 {
			t.Errorf("%+v: a query without words found %v by words", test.weights, got.Lexical)
		}
	}
}

// rounded takes what rounding to 16 bits adds off scores of two digits.
func rounded(list []retriever.Candidate) []retriever.Candidate {
	round := func(x *float64) { *x = math.Round(*x*100) / 100 }
	for i := range list {
		s := &list[i].Score
		round(&s.Dense)
		round(&s.Landmark)
		round(&s.Document)
	}
	return list
}

func testPerDocument(t *testing.T, at Open) {
	s := create(t, at, 4)
	near := func(i int) []float32 { return unit(10, float32(i), 0, 0) }
	var long []part
	for i := range 400 {
		long = append(long, part{fmt.Sprintf("common word %d. ", i), near(i % 5)})
	}
	upsert(t, s, document("long", axis(0), long...))
	for i := range 6 {
		upsert(t, s, document(fmt.Sprintf("short%d", i), axis(1),
			part{"common text and quite a few more of them ", unit(1, 2, float32(i), 0)}, part{"nothing here", axis(2)}))
	}
	for _, per := range []int{1, 2, 3} {
		c := candidates(t, s, retriever.Query{Vector: axis(0), Words: "common", Limit: 6, PerDocument: per})
		for name, list := range map[string][]retriever.Candidate{"dense": c.Dense, "lexical": c.Lexical} {
			count := make(map[string]int)
			for _, c := range list {
				count[c.Document]++
			}
			if len(list) != 6 {
				t.Errorf("%d per document, %s: %d candidates, want 6: %q", per, name, len(list), places(list))
			}
			for id, n := range count {
				if n > per {
					t.Errorf("%d per document, %s: %d of %q", per, name, n, id)
				}
			}
		}
		if first := places(c.Dense)[0]; first != "long/0" {
			t.Errorf("%d per document: the best is %s, want long/0", per, first)
		}
	}
}

func testQueryRefused(t *testing.T, at Open) {
	s := create(t, at, 4)
	letters(t, s)
	nan := float32(math.NaN())
	for name, change := range map[string]func(*retriever.Query){
		"nothing to search for": func(q *retriever.Query) { q.Vector, q.Words = nil, "" },
		"short vector":          func(q *retriever.Query) { q.Vector = unit(1, 1) },
		"NaN":                   func(q *retriever.Query) { q.Vector = []float32{nan, 0, 0, 0} },
		"zero vector":           func(q *retriever.Query) { q.Vector = make([]float32, 4) },
		"no limit":              func(q *retriever.Query) { q.Limit = 0 },
		"negative limit":        func(q *retriever.Query) { q.Limit = -1 },
		"no weights":            func(q *retriever.Query) { q.Weights = retriever.Weights{} },
		"negative weight":       func(q *retriever.Query) { q.Weights.Document = -1 },
		"negative per document": func(q *retriever.Query) { q.PerDocument = -1 },
		"unknown operation":     func(q *retriever.Query) { q.Filter = where("n", "about", 3) },
		"wrong value":           func(q *retriever.Query) { q.Filter = where("n", retriever.Lt, true) },
	} {
		q := retriever.Query{Vector: axis(0), Words: "letter", Limit: 3, Weights: retriever.Weights{Landmark: 1}}
		change(&q)
		if c, err := s.Candidates(t.Context(), q); err == nil {
			t.Errorf("%s: no error but %v", name, c)
		}
	}
}
