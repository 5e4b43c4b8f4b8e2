package storetest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/waymark-rag/waymark/retriever"
)

func testDenseScores(t *testing.T, open Open) {
	s, _ := open(t, 4)
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

func testTies(t *testing.T, open Open) {
	s, _ := open(t, 4)
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

func testPerDocument(t *testing.T, open Open) {
	s, _ := open(t, 4)
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

func testFilterBeforeCut(t *testing.T, open Open) {
	s, _ := open(t, 4)
	var docs []retriever.Document
	for i := range 1000 {
		x, kind := unit(10, float32(i)/100, 0, 0), "common"
		if i%100 == 99 {
			x, kind = unit(-1, float32(i)/100, 0, 0), "rare" // the worst of all
		}
		docs = append(docs, with(document(fmt.Sprintf("%03d", i), x, part{"word and " + kind, x}), map[string]any{"kind": kind}))
	}
	upsert(t, s, docs...)
	q := retriever.Query{Vector: axis(0), Words: "word", Limit: 8, Filter: where("kind", retriever.Eq, "rare")}
	c := candidates(t, s, q)
	want := []string{"999/0", "899/0", "799/0", "699/0", "599/0", "499/0", "399/0", "299/0"}
	wantDiff(t, "dense", want, places(c.Dense))
	if len(c.Lexical) != 8 {
		t.Errorf("lexical: %d candidates, want 8", len(c.Lexical))
	}
	for _, c := range append(c.Dense, c.Lexical...) {
		if c.Document[1:] != "99" {
			t.Errorf("%q does not match the filter", c.Document)
		}
	}
	q.Limit = 50
	if c = candidates(t, s, q); len(c.Dense) != 10 || len(c.Lexical) != 10 {
		t.Errorf("%d and %d candidates, want the 10 that match", len(c.Dense), len(c.Lexical))
	}
	q.Filter = where("kind", retriever.Eq, "none of them")
	if c = candidates(t, s, q); len(c.Dense)+len(c.Lexical) != 0 {
		t.Errorf("a filter that matches nothing found %v", c)
	}
}

// testFilterMeaning holds what a store finds against Filter.Match.
func testFilterMeaning(t *testing.T, open Open) {
	s, _ := open(t, 4)
	metadata := []map[string]any{
		nil,
		{"path": "guide/a.md", "year": int64(2019), "draft": false, "tags": []string{"go", "rag"}, "score": 0.5},
		{"path": "guide/b.md", "year": int64(2020), "draft": true, "tags": []string{"golang"}, "score": 1.0},
		{"path": "other/guide.md", "year": 2020.5, "tags": []string{}},
		{"path": "2020", "year": "2020", "draft": "true", "tags": "go", "score": int64(1)},
		{"path": "über/c.md", "year": int64(1) << 60, "score": -3.25},
	}
	var docs []retriever.Document
	for i, m := range metadata {
		docs = append(docs, with(document(fmt.Sprint(i), axis(0), part{"text", axis(0)}), m))
	}
	upsert(t, s, docs...)
	one := func(key string, op retriever.Op, value any) retriever.Condition {
		return retriever.Condition{Key: key, Op: op, Value: value}
	}
	for _, all := range [][]retriever.Condition{
		nil,
		{one("path", retriever.Eq, "guide/a.md")},
		{one("path", retriever.Ne, "guide/a.md")},
		{one("path", retriever.Prefix, "guide/")},
		{one("path", retriever.Prefix, "")},
		{one("path", retriever.Contains, "guide")},
		{one("path", retriever.Contains, "ü")},
		{one("path", retriever.Lt, "guide/b.md")},
		{one("year", retriever.Eq, int64(2020))},
		{one("year", retriever.Eq, 2020.0)},
		{one("year", retriever.Eq, "2020")},
		{one("year", retriever.Ne, 2020.0)},
		{one("year", retriever.Gte, 2020)},
		{one("year", retriever.Gt, 2020.0)},
		{one("year", retriever.Lte, 2020.5)},
		{one("year", retriever.Lt, 2019.5)},
		{one("year", retriever.Eq, float64(1<<60))},
		{one("year", retriever.Gt, int64(1)<<60-1)},
		{one("year", retriever.In, []any{2019.0, "2020"})},
		{one("year", retriever.Exists, true)},
		{one("year", retriever.Exists, false)},
		{one("draft", retriever.Eq, true)},
		{one("draft", retriever.Ne, true)},
		{one("draft", retriever.In, []any{false, "true"})},
		{one("tags", retriever.Eq, "go")},
		{one("tags", retriever.Ne, "go")},
		{one("tags", retriever.Contains, "go")},
		{one("tags", retriever.Prefix, "go")},
		{one("tags", retriever.In, []string{"rag", "golang"})},
		{one("tags", retriever.Gt, "gop")},
		{one("tags", retriever.Exists, true)},
		{one("score", retriever.Eq, int64(1))},
		{one("score", retriever.Gte, 0.5)},
		{one("score", retriever.Lt, 0)},
		{one("path", retriever.Prefix, "guide/"), one("year", retriever.Gte, 2020), one("tags", retriever.Exists, true)},
	} {
		f := retriever.Filter{All: all}
		var want []string
		for _, d := range docs {
			if f.Match(d.Metadata) {
				want = append(want, d.ID)
			}
		}
		ids, err := scroll(t.Context(), s, f)
		if err != nil {
			t.Fatalf("%v: %v", f, err)
		}
		wantDiff(t, fmt.Sprintf("Scroll by %v", f), want, ids)
		var found []string
		for _, c := range candidates(t, s, retriever.Query{Vector: axis(0), Filter: f}).Dense {
			found = append(found, c.Document)
		}
		wantDiff(t, fmt.Sprintf("Candidates by %v", f), want, found)
	}
}

func testUnknownKey(t *testing.T, open Open) {
	s, _ := open(t, 4)
	letters(t, s)
	q := retriever.Query{Vector: axis(0), Words: "letter", Limit: 3, Weights: retriever.Weights{Landmark: 1}}
	for _, op := range []retriever.Op{retriever.Eq, retriever.Ne} {
		q.Filter = where("evne", op, "x")
		_, err := s.Candidates(t.Context(), q)
		var unknown *retriever.UnknownKeyError
		if !errors.As(err, &unknown) {
			t.Fatalf("%s: Candidates: %v, want an *UnknownKeyError", op, err)
		}
		wantDiff(t, "the error", &retriever.UnknownKeyError{Key: "evne", Known: []string{"even", "n"}}, unknown)
	}
	q.Filter = where("n", retriever.Eq, 1)
	if n, err := s.DeleteWhere(t.Context(), where("n", retriever.Gte, 0)); n != 6 || err != nil {
		t.Fatal(n, err)
	}
	if _, err := s.Candidates(t.Context(), q); err != nil {
		t.Errorf("once the store is empty: %v, want no error", err)
	}
	upsert(t, s, document("plain", axis(0), part{"letter", axis(0)}))
	if _, err := s.Candidates(t.Context(), q); err == nil {
		t.Error("a key that only deleted documents had was not refused")
	}
}

func testQueryRefused(t *testing.T, open Open) {
	s, _ := open(t, 4)
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
