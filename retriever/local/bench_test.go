package local

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/retriever"
)

const benchDim = 384

func randomUnit(rng *rand.Rand) []float32 { return randomVector(rng, benchDim) }

// randomVector makes a vector of length 1.
func randomVector(rng *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	var squares float64
	for i := range v {
		x := rng.NormFloat64()
		v[i] = float32(x)
		squares += x * x
	}
	return unit(v, squares)
}

// unit divides v by its length.
func unit(v []float32, squares float64) []float32 {
	for i := range v {
		v[i] /= float32(math.Sqrt(squares))
	}
	return v
}

// benchDocument makes a document of 10 chunks of 80 words.
func benchDocument(rng *rand.Rand, id int) retriever.Document {
	d := retriever.Document{ID: fmt.Sprint(id), Vector: randomUnit(rng), Metadata: map[string]any{"group": id % 100}}
	var text strings.Builder
	for range 10 {
		start := text.Len()
		for range 80 {
			// Squaring makes low numbers common, as some words are.
			x := rng.Float64()
			fmt.Fprintf(&text, "w%d ", int(x*x*20_000))
		}
		d.Chunks = append(d.Chunks, retriever.Chunk{Text: chunker.Range{Start: start, End: text.Len()}, Vector: randomUnit(rng)})
	}
	d.Text = text.String()
	return d
}

func BenchmarkSearch(b *testing.B) {
	const documents, perCall = 10_000, 500
	rng := rand.New(rand.NewPCG(1, 2))
	path := filepath.Join(b.TempDir(), "store.db")
	s := openTest(b, path, &Options{Create: true})
	for n := 0; n < documents; n += perCall {
		docs := make([]retriever.Document, perCall)
		for i := range docs {
			docs[i] = benchDocument(rng, n+i)
		}
		if err := s.Upsert(b.Context(), docs); err != nil {
			b.Fatal(err)
		}
	}
	st, err := s.Stats(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d chunks, %d bytes a chunk on disk", st.Chunks, st.Bytes/int64(st.Chunks))
	b.Run("Load", func(b *testing.B) {
		for b.Loop() {
			s := openTest(b, path, &Options{ReadOnly: true})
			if err := s.Load(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	if err := s.Load(b.Context()); err != nil {
		b.Fatal(err)
	}
	vector := randomUnit(rng)
	even := retriever.Weights{Landmark: 0.5, Document: 0.5}
	group := retriever.Filter{All: []retriever.Condition{{Key: "group", Op: retriever.Eq, Value: 3}}}
	for _, bench := range []struct {
		name  string
		query retriever.Query
	}{
		{"Dense", retriever.Query{Vector: vector, Weights: even}},
		{"Landmark", retriever.Query{Vector: vector, Weights: retriever.Weights{Landmark: 1}}},
		{"Document", retriever.Query{Vector: vector, Weights: retriever.Weights{Document: 1}, PerDocument: 1}},
		{"Filter", retriever.Query{Vector: vector, Weights: even, Filter: group}},
		{"RareWords", retriever.Query{Words: "w15000 w17000 w19000"}},
		{"CommonWords", retriever.Query{Words: "w0 w1 w2 w3 w4 w5 w6 w7 w8 w9"}},
		{"Hybrid", retriever.Query{Vector: vector, Weights: even, Words: "w0 w10 w100 w1000 w10000"}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			bench.query.Limit = 100
			for b.Loop() {
				if _, err := s.Candidates(b.Context(), bench.query); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkUpsert stores 100 documents of 10 chunks in each call.
func BenchmarkUpsert(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := openTest(b, filepath.Join(b.TempDir(), "store.db"), &Options{Create: true})
	docs := make([]retriever.Document, 100)
	for i := range docs {
		docs[i] = benchDocument(rng, i)
	}
	for b.Loop() {
		if err := s.Upsert(b.Context(), docs); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "chunks/s")
}

// BenchmarkTogether makes searches at once, which share passes.
func BenchmarkTogether(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := openTest(b, filepath.Join(b.TempDir(), "store.db"), &Options{Create: true})
	for range 20 {
		docs := make([]retriever.Document, 100)
		for i := range docs {
			docs[i] = retriever.Document{ID: fmt.Sprint(rng.Uint64()), Vector: randomUnit(rng)}
			for range 10 {
				docs[i].Chunks = append(docs[i].Chunks, retriever.Chunk{Vector: randomUnit(rng)})
			}
		}
		if err := s.Upsert(b.Context(), docs); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Load(b.Context()); err != nil {
		b.Fatal(err)
	}
	q := retriever.Query{Vector: randomUnit(rng), Weights: retriever.Weights{Landmark: 1}, Limit: 10}
	for _, n := range []int{1, 2, 4, 8} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var wg sync.WaitGroup
			var left atomic.Int64
			left.Store(int64(b.N))
			for range n {
				wg.Go(func() {
					for left.Add(-1) >= 0 {
						if _, err := s.Candidates(b.Context(), q); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
		})
	}
}
