package storetest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/retriever"
)

// byPlace orders candidates of equal score.
func byPlace(a, b retriever.Candidate) int {
	return cmp.Or(strings.Compare(a.Document, b.Document), cmp.Compare(a.Chunk, b.Chunk))
}

// testRanking compares a store with the definition, worked out over all chunks,
// on random vectors that lie in clusters as those of texts do.
func testRanking(t *testing.T, at Open) {
	s, docs, near := clusters(t, at)
	for i := range 40 {
		q := retriever.Query{
			Vector:      near(),
			Limit:       []int{1, 10, 100, 3000}[i%4],
			Weights:     []retriever.Weights{{Landmark: 1}, {Document: 1}, {Landmark: 0.5, Document: 0.5}, {Landmark: 0.7, Document: 0.3}}[i/4%4],
			PerDocument: []int{0, 1, 2}[i%3],
		}
		if i%5 == 0 {
			q.Filter = where("group", retriever.Lt, 2)
		}
		want := reference(docs, q)
		got := candidates(t, s, q).Dense
		if len(got) != len(want) {
			t.Errorf("query %d (%+v): %d candidates, want %d", i, q.Weights, len(got), len(want))
			continue
		}
		seen := make(map[string]bool)
		for n, c := range got {
			place := fmt.Sprintf("%s/%d", c.Document, c.Chunk)
			if seen[place] {
				t.Errorf("query %d: %s comes twice", i, place)
			}
			seen[place] = true
			if place == fmt.Sprintf("%s/%d", want[n].Document, want[n].Chunk) && alike(c.Score, want[n].Score) {
				continue
			}
			// Only rounding may change places.
			if math.Abs(c.Score.Dense-want[n].Score.Dense) > rounding {
				t.Errorf("query %d (limit %d, %d per document, %+v): place %d is %s with %v, want %s/%d with %v",
					i, q.Limit, q.PerDocument, q.Weights, n, place, c.Score.Dense, want[n].Document, want[n].Chunk, want[n].Score.Dense)
				break
			}
		}
	}
}

// testRecall asks as retriever.Search does.
func testRecall(t *testing.T, at Open) {
	const queries, k = 30, 10
	s, docs, near := clusters(t, at)
	found := 0
	for range queries {
		q := retriever.Query{Vector: near(), Limit: 100, Weights: retriever.Weights{Landmark: 0.8, Document: 0.2}}
		got := places(candidates(t, s, q).Dense)[:k]
		q.Limit = k
		for _, place := range places(reference(docs, q)) {
			if slices.Contains(got, place) {
				found++
			}
		}
	}
	if want := queries * k * 97 / 100; found < want {
		t.Errorf("found %d of the %d best, want %d at least", found, queries*k, want)
	}
}

// clusters fills a store with 2000 random chunks, those of a document near each
// other as those of a text are; near makes a query near to one of them.
func clusters(t *testing.T, at Open) (s retriever.Store, docs []retriever.Document, near func() []float32) {
	const dim, chunks = 64, 2000
	rng := rand.New(rand.NewPCG(7, 11))
	random := func(around []float32, noise float64) []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(rng.NormFloat64() * noise)
			if around != nil {
				v[i] += around[i]
			}
		}
		return unit(v...)
	}
	s = create(t, at, dim)
	for n := 0; n < chunks; {
		center := random(nil, 1)
		var parts []part
		for range min(1+rng.IntN(25), chunks-n) {
			parts = append(parts, part{"x", random(center, 0.1)})
		}
		n += len(parts)
		id := fmt.Sprintf("%d", rng.IntN(1_000_000))
		docs = append(docs, with(document(id, random(center, 0.05), parts...), map[string]any{"group": len(docs) % 7}))
	}
	upsert(t, s, docs...)
	return s, docs, func() []float32 { return random(docs[rng.IntN(len(docs))].Vector, 0.1) }
}

// rounding is what 16-bit vectors change in a cosine at most.
const rounding = 3e-4

func alike(a, b retriever.Score) bool {
	return math.Abs(a.Dense-b.Dense) < rounding && math.Abs(a.Landmark-b.Landmark) < rounding && math.Abs(a.Document-b.Document) < rounding
}

// reference is the contract in its plainest form.
func reference(docs []retriever.Document, q retriever.Query) []retriever.Candidate {
	var found []retriever.Candidate
	for _, d := range docs {
		if !q.Filter.Match(d.Metadata) {
			continue
		}
		document := dot(q.Vector, d.Vector)
		for i, c := range d.Chunks {
			landmark := dot(q.Vector, c.Vector)
			found = append(found, retriever.Candidate{Document: d.ID, Chunk: i, Score: retriever.Score{
				Landmark: landmark, Document: document,
				Dense: q.Weights.Landmark*landmark + q.Weights.Document*document,
			}})
		}
	}
	slices.SortFunc(found, func(a, b retriever.Candidate) int {
		return cmp.Or(cmp.Compare(b.Score.Dense, a.Score.Dense), cmp.Compare(b.Score.Landmark, a.Score.Landmark), byPlace(a, b))
	})
	of := make(map[string]int)
	found = slices.DeleteFunc(found, func(c retriever.Candidate) bool {
		of[c.Document]++
		return q.PerDocument > 0 && of[c.Document] > q.PerDocument
	})
	return found[:min(len(found), q.Limit)]
}

func dot(a, b []float32) float64 {
	var sum float32
	for i, x := range a {
		sum += x * b[i]
	}
	return float64(sum)
}
