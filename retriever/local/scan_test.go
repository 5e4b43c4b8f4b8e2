package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/internal/simd"
	"github.com/waymark-rag/waymark/retriever"
)

// crowd makes documents whose vectors lie so close together that 8 bits cannot
// tell many of them apart; some are the same. A few documents are long.
func crowd(rng *rand.Rand, documents, dim int) []retriever.Document {
	middle := randomVector(rng, dim)
	near := func(by float32) []float32 {
		v := randomVector(rng, dim)
		var squares float64
		for i := range v {
			v[i] = middle[i] + by*v[i]
			squares += float64(v[i]) * float64(v[i])
		}
		return unit(v, squares)
	}
	var docs []retriever.Document
	for i := range documents {
		d := retriever.Document{ID: fmt.Sprintf("%04d", i*7919%documents), Vector: near(0.02), Metadata: map[string]any{"group": i % 10}}
		chunks := rng.IntN(8)
		if i%50 == 0 {
			chunks = 300
		}
		for range chunks {
			c := retriever.Chunk{Text: chunker.Range{Start: len(d.Text), End: len(d.Text) + 1}, Vector: near([]float32{0.01, 0.03, 1}[rng.IntN(3)])}
			if n := len(d.Chunks); n > 0 && rng.IntN(4) == 0 {
				c.Vector = d.Chunks[rng.IntN(n)].Vector
			}
			d.Text += "x"
			d.Chunks = append(d.Chunks, c)
		}
		docs = append(docs, d)
	}
	return docs
}

// best is what Candidates must return, found by sorting everything.
func best(docs []retriever.Document, q retriever.Query) []string {
	product := func(v []float32) (sum float64) {
		for i, x := range decodeFloat16(nil, encodeFloat16(v)) {
			sum += float64(x) * float64(q.Vector[i])
		}
		return sum
	}
	type chunk struct {
		id              string
		index           int
		dense, landmark float64
	}
	var all []chunk
	for _, d := range docs {
		if !q.Filter.Match(d.Metadata) {
			continue
		}
		document := product(d.Vector)
		for i, c := range d.Chunks {
			l := product(c.Vector)
			all = append(all, chunk{d.ID, i, q.Weights.Landmark*l + q.Weights.Document*document, l})
		}
	}
	slices.SortFunc(all, func(a, b chunk) int {
		return cmp.Or(cmp.Compare(b.dense, a.dense), cmp.Compare(b.landmark, a.landmark), cmp.Compare(a.id, b.id), cmp.Compare(a.index, b.index))
	})
	var out []string
	of := make(map[string]int)
	for _, c := range all {
		if of[c.id]++; len(out) < q.Limit && (q.PerDocument == 0 || of[c.id] <= q.PerDocument) {
			out = append(out, fmt.Sprintf("%s/%d", c.id, c.index))
		}
	}
	return out
}

// crowdQueries are queries of every kind.
func crowdQueries(rng *rand.Rand, dim int) []retriever.Query {
	var out []retriever.Query
	for _, w := range []retriever.Weights{{Landmark: 1}, {Document: 1}, {Landmark: 0.8, Document: 0.2}, {Landmark: 1e-3, Document: 40}} {
		for _, limit := range []int{1, 10, 100, 10_000} {
			for _, per := range []int{0, 1, 3} {
				q := retriever.Query{Vector: randomVector(rng, dim), Weights: w, Limit: limit, PerDocument: per}
				if len(out)%3 == 0 {
					q.Filter = retriever.Filter{All: []retriever.Condition{{Key: "group", Op: retriever.Lt, Value: 1 + rng.IntN(8)}}}
				}
				out = append(out, q)
			}
		}
	}
	return out
}

func found(ctx context.Context, s *Store, q retriever.Query) ([]string, error) {
	c, err := s.Candidates(ctx, q)
	var out []string
	for _, c := range c.Dense {
		out = append(out, fmt.Sprintf("%s/%d", c.Document, c.Chunk))
	}
	return out, err
}

// TestExact compares searches with sorting everything, in order, while
// documents are added, replaced and deleted.
func TestExact(t *testing.T) {
	for _, dim := range []int{2, 70} {
		rng := rand.New(rand.NewPCG(3, uint64(dim)))
		s := openTest(t, filepath.Join(t.TempDir(), "store.db"), &Options{Create: true})
		docs := crowd(rng, 300, dim)
		for _, upsert := range [][]retriever.Document{docs[:1], docs[:100], docs[75:]} {
			if err := s.Upsert(t.Context(), upsert); err != nil {
				t.Fatal(err)
			}
		}
		for i := 0; i < len(docs); i += 5 {
			if _, err := s.Delete(t.Context(), []string{docs[i].ID}); err != nil {
				t.Fatal(err)
			}
			docs = slices.Delete(docs, i, i+1)
		}
		for _, q := range crowdQueries(rng, dim) {
			got, err := found(t.Context(), s, q)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(best(docs, q), got); diff != "" {
				t.Errorf("%d dimensions, limit %d, %d per document, %+v, %v (-want +got):\n%s", dim, q.Limit, q.PerDocument, q.Weights, q.Filter, diff)
			}
		}
	}
}

// TestTogether lets many searches share passes, some of which are cancelled,
// while a writer adds to the store.
func TestTogether(t *testing.T) {
	const dim = 24
	rng := rand.New(rand.NewPCG(4, 4))
	s := openTest(t, filepath.Join(t.TempDir(), "store.db"), &Options{Create: true})
	docs := crowd(rng, 500, dim)
	if err := s.Upsert(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i, q := range crowdQueries(rng, dim) {
		want := best(docs, q)
		wg.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%4 == 0 {
				go cancel()
			}
			got, err := found(ctx, s, q)
			if i%4 == 0 && errors.Is(err, context.Canceled) {
				return
			}
			if err != nil {
				t.Error(err)
			} else if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("query %d (-want +got):\n%s", i, diff)
			}
		})
	}
	for range 10 {
		empty := retriever.Document{ID: "empty", Vector: docs[0].Vector, Metadata: docs[0].Metadata}
		if err := s.Upsert(t.Context(), []retriever.Document{empty}); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
}

// randomSnapshot holds documents of one chunk each, all allowed.
func randomSnapshot(rng *rand.Rand, rows int) (snap *snapshot, allowed []bool) {
	snap = newSnapshot(make([]float32, benchDim), sampleRows)
	for range rows {
		snap.chunks.add(randomUnit(rng))
		snap.documents.add(snap.chunks.centre)
		snap.entries = append(snap.entries, entry{})
		snap.firsts = append(snap.firsts, int32(len(snap.entries)))
		allowed = append(allowed, true)
	}
	return snap, allowed
}

// TestFewScored checks that little more is scored exactly than was asked for.
func TestFewScored(t *testing.T) {
	const rows, limit = 5000, 100
	rng := rand.New(rand.NewPCG(5, 5))
	snap, allowed := randomSnapshot(rng, rows)
	q := retriever.Query{Vector: randomUnit(rng), Weights: retriever.Weights{Landmark: 1}, Limit: limit}
	picks, err := new(Store).scan(t.Context(), snap, q, allowed)
	if err != nil || len(picks) < limit || len(picks) > 4*limit {
		t.Errorf("%d of %d rows are to be scored for the best %d, %v; want at most four times as many", len(picks), rows, limit, err)
	}
}

// TestScanFaster guards against a scan that got slow. Only the ratio to a plain
// loop over as many 32-bit floats counts, of the best of several turns of each.
func TestScanFaster(t *testing.T) {
	if simd.Kernel() == "go" {
		t.Skip("this processor has no instructions for it")
	}
	const rows, want = 5000, 2
	rng := rand.New(rand.NewPCG(5, 6))
	snap, allowed := randomSnapshot(rng, rows)
	floats := make([]float32, rows*benchDim)
	q := retriever.Query{Vector: randomUnit(rng), Weights: retriever.Weights{Landmark: 1}, Limit: 10}
	var scan, plain time.Duration
	var sum float32
	for turn := range 15 {
		begun := time.Now()
		if _, err := new(Store).scan(t.Context(), snap, q, allowed); err != nil {
			t.Fatal(err)
		}
		middle := time.Now()
		for row := range slices.Chunk(floats, benchDim) {
			for i, x := range row {
				sum += x * q.Vector[i]
			}
		}
		if d := middle.Sub(begun); turn == 0 || d < scan {
			scan = d
		}
		if d := time.Since(middle); turn == 0 || d < plain {
			plain = d
		}
	}
	ratio := plain.Seconds() / scan.Seconds()
	t.Logf("a scan is %.1f times as fast as the plain loop (%v)", ratio, sum)
	if ratio < want {
		t.Errorf("a scan is %.1f times as fast as the plain loop, want at least %d", ratio, want)
	}
}
