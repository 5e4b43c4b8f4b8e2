// Command peers compares the local store with chromem-go, another store for Go
// programs that is embedded and searches exactly, in one run on the same vectors.
//
//	cd bench/peers && go run . [-rows 100000] [-queries 50]
//
// It is a module of its own, so that Waymark need not depend on what it is
// compared with. The vectors are random, of 384 numbers and ten chunks to a
// document. Searches take turns, each asks for the best ten, and recall counts how
// many of the true ten best come back, by products of the vectors as they were
// before either store had them.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/philippgille/chromem-go"

	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
)

const (
	dim         = 384
	perDocument = 10
	limit       = 10
)

func main() {
	rows := flag.Int("rows", 100_000, "chunks")
	queries := flag.Int("queries", 50, "queries")
	flag.Parse()
	if err := run(context.Background(), *rows, *queries); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// common is what all vectors have in common, as those of a text model do.
var common = gaussian(rand.New(rand.NewPCG(0, 0)))

func gaussian(rng *rand.Rand) []float64 {
	v := make([]float64, dim)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

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

// store is one of the two.
type store struct {
	name   string
	search func(q []float32) ([]string, error)
	took   []time.Duration
	recall float64
}

func run(ctx context.Context, rows, queries int) error {
	rng := rand.New(rand.NewPCG(1, 1))
	vectors := make([][]float32, rows)
	for i := range vectors {
		vectors[i] = vector(rng)
	}
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ours, err := waymark(ctx, filepath.Join(dir, "store.db"), vectors)
	if err != nil {
		return err
	}
	theirs, err := chromemGo(ctx, vectors)
	if err != nil {
		return err
	}
	stores := []*store{ours, theirs}
	for i := range queries + 3 {
		q := vector(rng)
		want := best(vectors, q)
		for _, s := range stores {
			begun := time.Now()
			got, err := s.search(q)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if i < 3 {
				continue // not the first touches
			}
			s.took = append(s.took, time.Since(begun))
			for _, place := range got {
				if slices.Contains(want, place) {
					s.recall += 1 / float64(limit*queries)
				}
			}
		}
	}
	fmt.Printf("%d chunks, %d queries in turns\n\n| store | p50 ms | p99 ms | recall@%d |\n|---|---|---|---|\n", rows, queries, limit)
	for _, s := range stores {
		slices.Sort(s.took)
		fmt.Printf("| %s | %.2f | %.2f | %.4f |\n", s.name, s.took[len(s.took)/2].Seconds()*1000, s.took[len(s.took)*99/100].Seconds()*1000, s.recall)
	}
	fmt.Printf("\nAt the median Waymark is %.1f times as fast.\n", theirs.took[len(theirs.took)/2].Seconds()/ours.took[len(ours.took)/2].Seconds())
	return nil
}

func place(i int) string { return fmt.Sprintf("%d/%d", i/perDocument, i%perDocument) }

// best returns the places of the true best.
func best(vectors [][]float32, q []float32) []string {
	type scored struct {
		row     int
		product float64
	}
	all := make([]scored, len(vectors))
	for i, v := range vectors {
		all[i].row = i
		for k, x := range v {
			all[i].product += float64(x) * float64(q[k])
		}
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Compare(b.product, a.product) })
	var out []string
	for _, s := range all[:limit] {
		out = append(out, place(s.row))
	}
	return out
}

func waymark(ctx context.Context, path string, vectors [][]float32) (*store, error) {
	s, err := local.Open(ctx, path, &local.Options{Create: true})
	if err != nil {
		return nil, err
	}
	var docs []retriever.Document
	for n := 0; n < len(vectors); n += perDocument {
		d := retriever.Document{ID: fmt.Sprint(n / perDocument), Vector: vectors[n]}
		for _, v := range vectors[n:min(n+perDocument, len(vectors))] {
			d.Chunks = append(d.Chunks, retriever.Chunk{Vector: v})
		}
		docs = append(docs, d)
	}
	for part := range slices.Chunk(docs, 1000) {
		if err := s.Upsert(ctx, part); err != nil {
			return nil, err
		}
	}
	if err := s.Load(ctx); err != nil {
		return nil, err
	}
	return &store{name: "waymark", search: func(q []float32) ([]string, error) {
		found, err := s.Candidates(ctx, retriever.Query{Vector: q, Limit: limit, Weights: retriever.Weights{Landmark: 1}})
		var out []string
		for _, c := range found.Dense {
			out = append(out, fmt.Sprintf("%s/%d", c.Document, c.Chunk))
		}
		return out, err
	}}, nil
}

func chromemGo(ctx context.Context, vectors [][]float32) (*store, error) {
	c, err := chromem.NewDB().CreateCollection("chunks", nil, func(context.Context, string) ([]float32, error) {
		return nil, fmt.Errorf("all vectors are given")
	})
	if err != nil {
		return nil, err
	}
	docs := make([]chromem.Document, len(vectors))
	for i, v := range vectors {
		docs[i] = chromem.Document{ID: place(i), Embedding: v, Content: "x"}
	}
	if err := c.AddDocuments(ctx, docs, runtime.GOMAXPROCS(0)); err != nil {
		return nil, err
	}
	return &store{name: "chromem-go v0.7.0", search: func(q []float32) ([]string, error) {
		found, err := c.QueryEmbedding(ctx, q, limit, nil, nil)
		var out []string
		for _, r := range found {
			out = append(out, r.ID)
		}
		return out, err
	}}, nil
}
