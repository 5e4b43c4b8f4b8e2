package retriever_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/retriever"
)

// canned is a store that finds what it is told to and keeps what it was asked.
type canned struct {
	retriever.Store // nil: Search calls nothing else
	documents       map[string]retriever.Document
	found           retriever.Candidates
	err             error

	asked   []retriever.Query
	fetched [][]string
	wanted  []retriever.Want
	// vanish is called before each Fetch.
	vanish func(c *canned)
}

func (c *canned) Candidates(ctx context.Context, q retriever.Query) (retriever.Candidates, error) {
	c.asked = append(c.asked, q)
	found := retriever.Candidates{Dense: slices.Clone(c.found.Dense), Lexical: slices.Clone(c.found.Lexical)}
	if q.Words == "" {
		found.Lexical = nil
	}
	if q.Vector == nil {
		found.Dense = nil
	}
	return found, c.err
}

func (c *canned) Fetch(ctx context.Context, ids []string, want retriever.Want) ([]retriever.Document, error) {
	if c.vanish != nil {
		c.vanish(c)
	}
	c.fetched = append(c.fetched, ids)
	c.wanted = append(c.wanted, want)
	var out []retriever.Document
	for _, id := range ids {
		if d, ok := c.documents[id]; ok {
			out = append(out, only(d, want))
		}
	}
	return out, c.err
}

// only leaves out of a document what a Store may leave out.
func only(d retriever.Document, want retriever.Want) retriever.Document {
	if want.Only == nil {
		return d
	}
	chunks, text := make([]retriever.Chunk, len(d.Chunks)), bytes.Repeat([]byte(" "), len(d.Text))
	for _, r := range want.Only[d.ID] {
		for i := max(r[0], 0); i <= min(r[1], len(chunks)-1); i++ {
			chunks[i] = d.Chunks[i]
			copy(text[chunks[i].Text.Start:], chunks[i].Text.Of(d.Text))
		}
	}
	d.Chunks, d.Text = chunks, string(text)
	return d
}

func (c *canned) Scroll(context.Context, retriever.Filter, retriever.Want) iter.Seq2[retriever.Document, error] {
	panic("Search scrolls")
}

// newCanned makes a store of documents a, b and c with ten chunks "a0 " to
// "c9 "; the vectors of chunks 2n and 2n+1 are alike.
func newCanned() *canned {
	c := &canned{documents: make(map[string]retriever.Document)}
	for _, id := range []string{"a", "b", "c"} {
		d := retriever.Document{ID: id, Title: "T" + id, Metadata: map[string]any{"id": id}}
		for i := range 10 {
			start := len(d.Text)
			d.Text += fmt.Sprintf("%s%d ", id, i)
			v := make([]float32, 5)
			v[i/2] = 1
			d.Chunks = append(d.Chunks, retriever.Chunk{
				Text: chunker.Range{Start: start, End: len(d.Text)}, Source: chunker.Range{Start: start + 100, End: len(d.Text) + 100},
				Lines: retriever.Lines{First: i + 1, Last: i + 2}, Headings: []string{"h" + fmt.Sprint(i)}, Vector: v,
			})
		}
		c.documents[id] = d
	}
	return c
}

// dense makes dense candidates from "a0 b3 ...", the best scoring 0.9 and each
// next 0.04 less.
func dense(list string) []retriever.Candidate {
	return ranked(list, func(s *retriever.Score, i int) {
		s.Dense, s.Landmark, s.Document = 0.9-float64(i)/25, 0.9-float64(i)/25, 0.5
	})
}

// lexical does the same with scores that fall from 10, and dense ones that are low.
func lexical(list string) []retriever.Candidate {
	return ranked(list, func(s *retriever.Score, i int) {
		s.Lexical, s.Dense, s.Landmark, s.Document = 10-float64(i), 0.2, 0.1, 0.6
	})
}

func ranked(list string, score func(*retriever.Score, int)) []retriever.Candidate {
	var out []retriever.Candidate
	for i, place := range strings.Fields(list) {
		c := retriever.Candidate{Document: place[:1], Chunk: int(place[1] - '0')}
		score(&c.Score, i)
		out = append(out, c)
	}
	return out
}

func search(t *testing.T, c *canned, req retriever.Request) []retriever.Hit {
	t.Helper()
	hits, err := retriever.Search(t.Context(), c, req)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

// texts lists the text of each hit, its best chunk marked.
func texts(hits []retriever.Hit) []string {
	out := []string{}
	for _, h := range hits {
		best := fmt.Sprintf("%s%d", h.Document, h.Chunk)
		out = append(out, strings.TrimSpace(strings.Replace(h.Text, best, "*"+best, 1)))
	}
	return out
}

var vector = []float32{1, 0, 0, 0, 0}

func TestSearchMerges(t *testing.T) {
	for _, test := range []struct {
		name    string
		found   string
		request retriever.Request
		want    []string
	}{
		{"apart", "a0 b5 a2", retriever.Request{}, []string{"*a0", "*b5", "*a2"}},
		{"next to each other", "a3 b3 a2 a4", retriever.Request{}, []string{"a2 *a3 a4", "*b3"}},
		{"a gap that closes", "a3 b0 a5 a4", retriever.Request{}, []string{"*a3 a4 a5", "*b0"}},
		{"a merged hit counts once", "a3 a4 b0 c0 c9", retriever.Request{K: 3}, []string{"*a3 a4", "*b0", "*c0"}},
		{"beyond K only what touches nothing", "a3 a4 a5 a6 b1 a1", retriever.Request{K: 3}, []string{"*a3 a4 a5", "*b1", "*a1"}},
		{"the same index of another document", "a3 b4 c5", retriever.Request{}, []string{"*a3", "*b4", "*c5"}},
		{"K of many", "a0 a2 a4 a6 a8", retriever.Request{K: 2}, []string{"*a0", "*a2"}},
		{"neighbours", "a0 b9 c5", retriever.Request{Neighbours: 1}, []string{"*a0 a1", "b8 *b9", "c4 *c5 c6"}},
		{"neighbours that touch", "a2 a5", retriever.Request{Neighbours: 1}, []string{"a1 *a2 a3 a4 a5 a6"}},
		{"neighbours that do not", "a2 a6", retriever.Request{Neighbours: 1}, []string{"a1 *a2 a3", "a5 *a6 a7"}},
		{"more neighbours than chunks", "a2", retriever.Request{Neighbours: 99}, []string{"a0 a1 *a2 a3 a4 a5 a6 a7 a8 a9"}},
		{"all neighbours", "a2", retriever.Request{Neighbours: math.MaxInt}, []string{"a0 a1 *a2 a3 a4 a5 a6 a7 a8 a9"}},
		{"per document", "a0 a2 a4 b0", retriever.Request{PerDocument: 2}, []string{"*a0", "*a2", "*b0"}},
		{"per document, with a gap that closes", "a0 a2 a4 b0 a1", retriever.Request{PerDocument: 2}, []string{"*a0 a1 a2", "*b0"}},
		{"nothing", "", retriever.Request{}, []string{}},
	} {
		c := newCanned()
		c.found.Dense = dense(test.found)
		test.request.Vector = vector
		if d := cmp.Diff(test.want, texts(search(t, c, test.request))); d != "" {
			t.Errorf("%s: want -, got +:\n%s", test.name, d)
		}
	}
}

func TestRank(t *testing.T) {
	c := newCanned()
	c.found = retriever.Candidates{Dense: dense("a3 a4 b0"), Lexical: lexical("b0 c1")}
	ranked, err := retriever.Rank(t.Context(), c, retriever.Request{Vector: vector, Words: "x"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range ranked {
		got = append(got, fmt.Sprintf("%s%d %.5f", r.Document, r.Chunk, r.Score.Value))
	}
	// Neither a3 and a4, which touch, nor K makes it fewer.
	want := []string{"a3 0.62500", "b0 0.37500", "c1 0.33750", "a4 0.31250"}
	if d := cmp.Diff(want, got); d != "" || len(c.fetched) > 0 {
		t.Errorf("read %v; want -, got +:\n%s", c.fetched, d)
	}
	if _, err := retriever.Rank(t.Context(), c, retriever.Request{}); err == nil {
		t.Error("a request without a vector or words was taken")
	}
}

func TestSearchHit(t *testing.T) {
	c := newCanned()
	c.found = retriever.Candidates{Dense: dense("b7 a3 c0"), Lexical: lexical("b7")}
	hits := search(t, c, retriever.Request{Vector: vector, Words: "x", Neighbours: 1, Lexical: 0.5})
	want := retriever.Hit{
		Document: "a", Title: "Ta", Metadata: map[string]any{"id": "a"}, Headings: []string{"h3"}, Text: "a2 a3 a4 ",
		Range: chunker.Range{Start: 6, End: 15}, Source: chunker.Range{Start: 106, End: 115}, Lines: retriever.Lines{First: 3, Last: 6},
		Chunk: 3, Chunks: [2]int{2, 4},
		Score: retriever.Score{Value: value(0.5, 0.5, 0), Dense: 0.86, Landmark: 0.86, Document: 0.5},
		Rule:  "fused (0.500 + 0.5·0.000)/1.5: dense #2 (0.8·landmark 0.860 + 0.2·document 0.500)",
	}
	if d := cmp.Diff(want, hits[1], cmpopts.EquateApprox(0, 1e-9)); d != "" {
		t.Errorf("want -, got +:\n%s", d)
	}
	wanted := []retriever.Want{{Text: true, Chunks: true, Only: map[string][][2]int{"a": {{2, 4}}, "b": {{6, 8}}, "c": {{-1, 1}}}}}
	if d := cmp.Diff([][]string{{"b", "a", "c"}}, c.fetched) + cmp.Diff(wanted, c.wanted); d != "" {
		t.Errorf("want the passages of the final documents, read once; want -, got +:\n%s", d)
	}
	hits[0].Metadata["id"] = "spoilt"
	if c.documents["b"].Metadata["id"] != "b" {
		t.Error("a hit shares the metadata of its document")
	}
}

// value is what scaled scores give, added up as Search does it.
func value(weight, dense, lexical float64) float64 { return (dense + weight*lexical) / (1 + weight) }

func TestSearchFuses(t *testing.T) {
	c := newCanned()
	// Of the dense scores 0.9 is the best and 0.74 the last; a5 is below it.
	c.found = retriever.Candidates{Dense: dense("a0 b0 c0 a8 b8"), Lexical: lexical("c0 a5")}
	for _, test := range []struct {
		name    string
		request retriever.Request
		want    []string
		values  []float64
		rules   []string
	}{
		{
			"both", retriever.Request{Vector: vector, Words: "x", K: 4},
			[]string{"*c0", "*a0", "*b0", "*a5"}, []float64{value(0.6, 0.5, 1), value(0.6, 1, 0), value(0.6, 0.75, 0), value(0.6, 0, 0.9)},
			[]string{
				"fused (0.500 + 0.6·1.000)/1.6: dense #3 (0.8·landmark 0.820 + 0.2·document 0.500), lexical #1 (bm25 10.00)",
				"fused (1.000 + 0.6·0.000)/1.6: dense #1 (0.8·landmark 0.900 + 0.2·document 0.500)",
				"fused (0.750 + 0.6·0.000)/1.6: dense #2 (0.8·landmark 0.860 + 0.2·document 0.500)",
				"fused (0.000 + 0.6·0.900)/1.6: dense (0.8·landmark 0.100 + 0.2·document 0.600), lexical #2 (bm25 9.00)",
			},
		}, {
			"words count less", retriever.Request{Vector: vector, Words: "x", Lexical: 0.01, Level: retriever.ChunkLevel, K: 2},
			[]string{"*a0", "*b0"}, []float64{value(0.01, 1, 0), value(0.01, 0.75, 0)},
			[]string{"fused (1.000 + 0.01·0.000)/1.01: dense #1 (landmark 0.900)", "fused (0.750 + 0.01·0.000)/1.01: dense #2 (landmark 0.860)"},
		}, {
			"words left out", retriever.Request{Vector: vector, Words: "x", Lexical: -1, K: 1, Weights: retriever.Weights{Landmark: 0.75, Document: 1}},
			[]string{"*a0"}, []float64{0.9},
			[]string{"dense #1 (0.75·landmark 0.900 + document 0.500)"},
		}, {
			"words alone", retriever.Request{Words: "x", Lexical: -1},
			[]string{"*c0", "*a5"}, []float64{10, 9},
			[]string{"lexical #1 (bm25 10.00)", "lexical #2 (bm25 9.00)"},
		}, {
			"words count twice", retriever.Request{Vector: vector, Words: "x", Lexical: 2, K: 1},
			[]string{"*c0"}, []float64{value(2, 0.5, 1)},
			[]string{"fused (0.500 + 2·1.000)/3: dense #3 (0.8·landmark 0.820 + 0.2·document 0.500), lexical #1 (bm25 10.00)"},
		},
	} {
		hits := search(t, c, test.request)
		var values []float64
		var rules []string
		for _, h := range hits {
			values = append(values, h.Score.Value)
			rules = append(rules, h.Rule)
		}
		if d := cmp.Diff(test.want, texts(hits)); d != "" {
			t.Errorf("%s: want -, got +:\n%s", test.name, d)
		}
		if d := cmp.Diff(test.values, values, cmpopts.EquateApprox(0, 1e-9)); d != "" {
			t.Errorf("%s: values: want -, got +:\n%s", test.name, d)
		}
		if d := cmp.Diff(test.rules, rules); d != "" {
			t.Errorf("%s: rules: want -, got +:\n%s", test.name, d)
		}
	}
}

func TestSearchAsks(t *testing.T) {
	filter, err := retriever.ParseFilter("id=a")
	if err != nil {
		t.Fatal(err)
	}
	both := retriever.Weights{Landmark: 0.8, Document: 0.2}
	for _, test := range []struct {
		request retriever.Request
		want    retriever.Query
	}{
		{retriever.Request{Vector: vector}, retriever.Query{Vector: vector, Limit: 100, Weights: both}},
		{retriever.Request{Words: "x", Filter: filter}, retriever.Query{Words: "x", Limit: 100, Weights: both, Filter: filter}},
		{retriever.Request{Vector: vector, K: 30, PerDocument: 2}, retriever.Query{Vector: vector, Limit: 300, Weights: both, PerDocument: 6}},
		{retriever.Request{Vector: vector, Level: retriever.ChunkLevel, Weights: both},
			retriever.Query{Vector: vector, Limit: 100, Weights: retriever.Weights{Landmark: 1}}},
		{retriever.Request{Vector: vector, Level: retriever.DocumentLevel, PerDocument: 4},
			retriever.Query{Vector: vector, Limit: 100, Weights: retriever.Weights{Document: 1}, PerDocument: 1}},
		{retriever.Request{Vector: vector, Words: "x", Lexical: -1, Weights: retriever.Weights{Landmark: 3}},
			retriever.Query{Vector: vector, Limit: 100, Weights: retriever.Weights{Landmark: 3}}},
	} {
		c := newCanned()
		search(t, c, test.request)
		if d := cmp.Diff([]retriever.Query{test.want}, c.asked); d != "" {
			t.Errorf("%+v: want -, got +:\n%s", test.request, d)
		}
	}
}

func TestSearchMinScore(t *testing.T) {
	least := func(x float64) *float64 { return &x }
	for _, test := range []struct {
		min  retriever.MinScore
		want []string
	}{
		{retriever.MinScore{}, []string{"*b0", "*a0", "*c0"}},
		{retriever.MinScore{Landmark: least(0.86)}, []string{"*b0", "*a0"}},
		{retriever.MinScore{Dense: least(0.9)}, []string{"*a0"}},
		{retriever.MinScore{Document: least(0.5)}, []string{"*b0", "*a0", "*c0"}},
		{retriever.MinScore{Document: least(-1)}, []string{"*b0", "*a0", "*c0"}},
		{retriever.MinScore{Lexical: least(0.1)}, []string{"*b0"}},
		{retriever.MinScore{Value: least(0.65)}, []string{"*b0"}},
		{retriever.MinScore{Dense: least(0.9), Lexical: least(0.1)}, []string{}},
	} {
		c := newCanned()
		c.found = retriever.Candidates{Dense: dense("a0 b0 c0"), Lexical: lexical("b0")}
		if d := cmp.Diff(test.want, texts(search(t, c, retriever.Request{Vector: vector, Words: "x", MinScore: test.min}))); d != "" {
			t.Errorf("%+v: want -, got +:\n%s", test.min, d)
		}
	}
}

func TestSearchMMR(t *testing.T) {
	c := newCanned()
	// Chunks 0 and 1 of every document are alike, and so are 4 and 5.
	c.found.Dense = dense("a0 b0 c1 a4 b5 c8")
	for _, test := range []struct {
		mmr  float64
		want []string
	}{
		{0, []string{"*a0", "*b0", "*c1"}},
		{1, []string{"*a0", "*b0", "*c1"}},
		{0.5, []string{"*a0", "*a4", "*c8"}},
	} {
		hits := search(t, c, retriever.Request{Vector: vector, K: 3, MMR: test.mmr})
		if d := cmp.Diff(test.want, texts(hits)); d != "" {
			t.Errorf("MMR %v: want -, got +:\n%s", test.mmr, d)
		}
		rule := "dense #1 (0.8·landmark 0.900 + 0.2·document 0.500)"
		if test.mmr > 0 {
			rule = fmt.Sprintf("mmr(λ=%v) pick 1 of %s", test.mmr, rule)
		}
		if hits[0].Rule != rule {
			t.Errorf("MMR %v: rule %q, want %q", test.mmr, hits[0].Rule, rule)
		}
	}
	c.found.Dense = dense("a0 a1 b9")
	if d := cmp.Diff([]string{"*a0 a1", "*b9"}, texts(search(t, c, retriever.Request{Vector: vector, MMR: 0.5}))); d != "" {
		t.Errorf("what MMR picks is merged too: want -, got +:\n%s", d)
	}
}

func TestSearchDocumentVanishes(t *testing.T) {
	c := newCanned()
	c.found.Dense = dense("a0 b9 c0")
	c.vanish = func(c *canned) { // once; the store then finds others
		delete(c.documents, "a")
		c.found.Dense = dense("b9 c0")
	}
	if d := cmp.Diff([]string{"*b9", "*c0"}, texts(search(t, c, retriever.Request{Vector: vector}))); d != "" {
		t.Errorf("want -, got +:\n%s", d)
	}
	if len(c.asked) != 2 {
		t.Errorf("asked %d times, want 2", len(c.asked))
	}
	c = newCanned()
	c.found.Dense = dense("a0 b9 c0")
	short := c.documents["b"]
	short.Chunks = short.Chunks[:3]
	c.documents["b"] = short
	if d := cmp.Diff([]string{"*a0", "*c0"}, texts(search(t, c, retriever.Request{Vector: vector, MMR: 0.9}))); d != "" {
		t.Errorf("a chunk that never comes back: want -, got +:\n%s", d)
	}
}

func TestSearchErrors(t *testing.T) {
	nan := math.NaN()
	for want, req := range map[string]retriever.Request{
		"without a vector or words": {},
		"-1 hits":                   {Words: "x", K: -1},
		`level "page"`:              {Words: "x", Level: "page"},
		"norm of":                   {Vector: []float32{3, 0}},
		"no vector":                 {Vector: []float32{}},
		"weights -1":                {Vector: vector, Weights: retriever.Weights{Landmark: -1, Document: 2}},
		"weights NaN":               {Vector: vector, Weights: retriever.Weights{Landmark: nan}},
		"lexical weight NaN":        {Words: "x", Lexical: nan},
		"MMR 1.5":                   {Words: "x", MMR: 1.5},
		"MMR NaN":                   {Words: "x", MMR: nan},
		"-1 neighbours":             {Words: "x", Neighbours: -1},
		"per document -3":           {Words: "x", PerDocument: -1},
		"key is empty":              {Words: "x", Filter: where("", retriever.Eq, 1)},
		"minimum dense score NaN":   {Vector: vector, MinScore: retriever.MinScore{Dense: &nan}},
		"has no vector to score":    {Words: "x", MinScore: retriever.MinScore{Landmark: new(float64)}},
		"has no words to score":     {Vector: vector, MinScore: retriever.MinScore{Lexical: new(float64)}},
	} {
		c := newCanned()
		hits, err := retriever.Search(t.Context(), c, req)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, %v, want an error with %q", req, hits, err, want)
		}
		if len(c.asked) > 0 {
			t.Errorf("%q: the store was asked all the same", want)
		}
	}
	c := newCanned()
	c.err = errors.New("store fails")
	if _, err := retriever.Search(t.Context(), c, retriever.Request{Vector: vector}); !errors.Is(err, c.err) {
		t.Errorf("%v, want the store's error", err)
	}
	c.err, c.found.Dense = nil, dense("a0")
	c.vanish = func(c *canned) { c.err = errors.New("fetch fails") }
	for _, mmr := range []float64{0, 0.5} {
		if _, err := retriever.Search(t.Context(), c, retriever.Request{Vector: vector, MMR: mmr}); !errors.Is(err, c.err) {
			t.Errorf("MMR %v: %v, want the store's error", mmr, err)
		}
		c.err = nil
	}
}

func ExampleSearch() {
	store := newCanned() // any Store; see retriever/local
	store.found = retriever.Candidates{Dense: dense("a3 b0 a4"), Lexical: lexical("b0")}
	hits, err := retriever.Search(context.Background(), store, retriever.Request{Vector: vector, Words: "some words"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, h := range hits {
		fmt.Printf("%s lines %d-%d: %s\n  %.4f by %s\n", h.Document, h.Lines.First, h.Lines.Last, strings.TrimSpace(h.Text), h.Score.Value, h.Rule)
	}
	// Output:
	// b lines 1-2: b0
	//   0.6875 by fused (0.500 + 0.6·1.000)/1.6: dense #2 (0.8·landmark 0.860 + 0.2·document 0.500), lexical #1 (bm25 10.00)
	// a lines 4-6: a3 a4
	//   0.6250 by fused (1.000 + 0.6·0.000)/1.6: dense #1 (0.8·landmark 0.900 + 0.2·document 0.500)
}
