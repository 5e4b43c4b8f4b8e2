package retriever_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/retriever"
)

// many is a store of chunks with random scores, one in three with a word.
type many struct {
	retriever.Store
	all []retriever.Candidate
}

func newMany(seed uint64, chunks int) *many {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := &many{}
	for i := range chunks {
		c := retriever.Candidate{Document: fmt.Sprintf("d%03d", i/3), Chunk: i % 3}
		c.Score.Landmark = rng.NormFloat64() / 20
		c.Score.Dense = c.Score.Landmark
		if rng.IntN(3) == 0 {
			c.Score.Lexical = 1 + 20*rng.Float64()
		}
		m.all = append(m.all, c)
	}
	return m
}

func (m *many) Candidates(_ context.Context, q retriever.Query) (out retriever.Candidates, _ error) {
	for _, c := range m.all {
		if c.Score.Lexical > 0 {
			out.Lexical = append(out.Lexical, c)
		}
		c.Score.Lexical = 0
		out.Dense = append(out.Dense, c)
	}
	slices.SortFunc(out.Dense, func(a, b retriever.Candidate) int { return cmp.Compare(b.Score.Dense, a.Score.Dense) })
	slices.SortFunc(out.Lexical, func(a, b retriever.Candidate) int { return cmp.Compare(b.Score.Lexical, a.Score.Lexical) })
	out.Dense, out.Lexical = out.Dense[:min(q.Limit, len(out.Dense))], out.Lexical[:min(q.Limit, len(out.Lexical))]
	return out, nil
}

func rank(t *testing.T, store retriever.Store, k int) []retriever.Candidate {
	t.Helper()
	ranked, err := retriever.Rank(t.Context(), store, retriever.Request{Vector: vector, Words: "x", K: k, Level: retriever.ChunkLevel})
	if err != nil {
		t.Fatal(err)
	}
	return ranked
}

func TestFusedOrder(t *testing.T) {
	for seed := range uint64(20) {
		m := newMany(seed, []int{1, 2, 40, 99, 101, 2000}[seed%6])
		ranked := rank(t, m, 10)
		for i, c := range ranked {
			if v := c.Score.Value; v < 0 || v > 1 {
				t.Errorf("seed %d: %v has %v, want 0 to 1", seed, c.Document, v)
			}
			for _, above := range ranked[:i] {
				if c.Score.Dense > above.Score.Dense && c.Score.Lexical >= above.Score.Lexical {
					t.Errorf("seed %d: %+v is below %+v, which is no better by vector and worse by words", seed, c.Score, above.Score)
				}
			}
		}
	}
}

// TestFusedSpread holds that how far the cosines of a model lie apart plays no part
// unless that is next to nothing.
func TestFusedSpread(t *testing.T) {
	order := func(spread float64) (out []string) {
		m := newMany(7, 2000)
		for i := range m.all {
			m.all[i].Score.Dense *= spread
		}
		for _, c := range rank(t, m, 10) {
			out = append(out, fmt.Sprintf("%s/%d", c.Document, c.Chunk))
		}
		return out
	}
	if d := gocmp.Diff(order(1), order(3)); d != "" {
		t.Errorf("with cosines three times as far apart: want -, got +:\n%s", d)
	}
	c := newCanned() // two passages of a file
	c.found = retriever.Candidates{Dense: dense("a0 a9"), Lexical: lexical("a9")}
	c.found.Dense[1].Score.Dense = 0.89
	if d := gocmp.Diff([]string{"*a9", "*a0"}, texts(search(t, c, retriever.Request{Vector: vector, Words: "x"}))); d != "" {
		t.Errorf("alike by vector and told apart by words: want -, got +:\n%s", d)
	}
}

// TestFusedBest does not lose the best of one source that the other lacks, and its
// value is the same however many hits are wanted.
func TestFusedBest(t *testing.T) {
	m := newMany(7, 2000)
	m.all = append(m.all,
		retriever.Candidate{Document: "by vector", Score: retriever.Score{Dense: 1, Landmark: 1}},
		retriever.Candidate{Document: "by words", Score: retriever.Score{Dense: -0.5, Landmark: -0.5, Lexical: 60}})
	for _, k := range []int{1, 10, 50, 150} {
		for i, want := range []string{"by vector 0.62500", "by words 0.37500"} {
			c := rank(t, m, k)[i]
			if got := fmt.Sprintf("%s %.5f", c.Document, c.Score.Value); got != want {
				t.Errorf("%d hits, place %d: %s, want %s", k, i+1, got, want)
			}
		}
	}
}

func TestFusedDocuments(t *testing.T) {
	c := newCanned()
	c.found = retriever.Candidates{Dense: dense("a0 b0 c0"), Lexical: lexical("c0 a5")}
	for i := range c.found.Dense {
		c.found.Dense[i].Score.Dense = 0.9 - float64(i)/10
	}
	hits := search(t, c, retriever.Request{Vector: vector, Words: "x", Level: retriever.DocumentLevel})
	if d := gocmp.Diff([]string{"*a0", "*c0", "*b0"}, texts(hits)); d != "" {
		t.Errorf("want -, got +:\n%s", d)
	}
	// The best chunks of a document in both sources count together.
	if want := "fused (1.000 + 0.6·0.900)/1.6: dense #1 (document 0.500), lexical #2 (bm25 9.00)"; hits[0].Rule != want {
		t.Errorf("rule %q, want %q", hits[0].Rule, want)
	}
}
