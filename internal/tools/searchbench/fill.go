package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
)

// common is what all vectors have in common, as those of a text model do.
var common = gaussian(rand.New(rand.NewPCG(0, 0)))

func gaussian(rng *rand.Rand) []float64 {
	v := make([]float64, dim)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// vector makes a unit vector; the cosine of two is 0.5 on average.
func vector(rng *rand.Rand) []float32 {
	v := gaussian(rng)
	var squares float64
	for i := range v {
		v[i] += common[i]
		squares += v[i] * v[i]
	}
	out := make([]float32, dim)
	for i := range v {
		out[i] = float32(v[i] / math.Sqrt(squares))
	}
	return out
}

// fill makes a store of so many chunks, unless it is there.
func fill(ctx context.Context, path string, rows int) (err error) {
	store, err := local.Open(ctx, path, &local.Options{Create: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	st, err := store.Stats(ctx)
	if err != nil || st.Chunks == rows {
		return err
	}
	if st.Chunks > 0 {
		return fmt.Errorf("%s holds %d chunks, want %d: remove it", path, st.Chunks, rows)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	var docs []retriever.Document
	for n := 0; n < rows; n += perDocument {
		d := retriever.Document{ID: fmt.Sprintf("document-%d", n/perDocument), Vector: vector(rng), Metadata: map[string]any{"group": n / perDocument % 100}}
		for range min(perDocument, rows-n) {
			d.Chunks = append(d.Chunks, retriever.Chunk{Vector: vector(rng)})
		}
		if docs = append(docs, d); len(docs) == 1000 || n+perDocument >= rows {
			if err := store.Upsert(ctx, docs); err != nil {
				return err
			}
			docs = docs[:0]
		}
	}
	return nil
}

// heap returns the bytes that live on Go's heap.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
