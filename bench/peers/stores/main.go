// Command stores searches vectors with Waymark's local store or with chromem-go, another
// store for Go programs that is embedded and searches exactly, for store.py to measure.
//
//	stores waymark|chromem-go FOLDER VECTORS
//
// VECTORS is a file of 32-bit floats, 384 to a vector. It is stored when the first request
// says so; FOLDER is where the store may keep it.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"github.com/philippgille/chromem-go"

	"github.com/waymark-rag/waymark/bench/peers/worker"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
)

const (
	dim         = 384
	perDocument = 10
	limit       = 10
)

// request asks to store the vectors, or for the rows of the ten best for a query.
type request struct {
	Build bool      `json:"build"`
	Query []float32 `json:"query"`
}

// store is one of the two.
type store interface {
	build(ctx context.Context, vectors [][]float32) error
	search(ctx context.Context, query []float32) ([]int, error)
}

func main() { worker.Main(run) }

func run() error {
	if len(os.Args) != 4 {
		return errors.New("want: stores waymark|chromem-go FOLDER VECTORS")
	}
	ctx := context.Background()
	vectors, err := read(os.Args[3])
	if err != nil {
		return err
	}
	var s store
	var version string
	switch os.Args[1] {
	case "waymark":
		s, version = &waymark{path: filepath.Join(os.Args[2], "store.db")}, "this checkout"
	case "chromem-go":
		s, version = &chromemGo{}, worker.Version("github.com/philippgille/chromem-go")
	default:
		return fmt.Errorf("there is no store %q", os.Args[1])
	}
	return worker.Serve(version, func(r request) ([]int, error) {
		if !r.Build {
			return s.search(ctx, r.Query)
		}
		err := s.build(ctx, vectors)
		vectors = nil // what is measured from here on is the store's own
		runtime.GC()
		return nil, err
	})
}

func read(path string) ([][]float32, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out [][]float32
	for row := range slices.Chunk(b, 4*dim) {
		v := make([]float32, dim)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(row[4*i:]))
		}
		out = append(out, v)
	}
	return out, nil
}

type waymark struct {
	path  string
	store *local.Store
}

func (w *waymark) build(ctx context.Context, vectors [][]float32) error {
	var err error
	if w.store, err = local.Open(ctx, w.path, &local.Options{Create: true}); err != nil {
		return err
	}
	var docs []retriever.Document
	for rows := range slices.Chunk(vectors, perDocument) {
		d := retriever.Document{ID: strconv.Itoa(len(docs)), Vector: rows[0]}
		for _, v := range rows {
			d.Chunks = append(d.Chunks, retriever.Chunk{Vector: v})
		}
		docs = append(docs, d)
	}
	for part := range slices.Chunk(docs, 1000) {
		if err := w.store.Upsert(ctx, part); err != nil {
			return err
		}
	}
	return w.store.Load(ctx)
}

func (w *waymark) search(ctx context.Context, query []float32) ([]int, error) {
	found, err := w.store.Candidates(ctx, retriever.Query{Vector: query, Limit: limit, Weights: retriever.Weights{Landmark: 1}})
	if err != nil {
		return nil, err
	}
	var out []int
	for _, c := range found.Dense {
		document, err := strconv.Atoi(c.Document)
		if err != nil {
			return nil, err
		}
		out = append(out, document*perDocument+c.Chunk)
	}
	return out, nil
}

type chromemGo struct{ chunks *chromem.Collection }

func (c *chromemGo) build(ctx context.Context, vectors [][]float32) error {
	var err error
	c.chunks, err = chromem.NewDB().CreateCollection("chunks", nil, func(context.Context, string) ([]float32, error) {
		return nil, errors.New("all vectors are given")
	})
	if err != nil {
		return err
	}
	docs := make([]chromem.Document, len(vectors))
	for i, v := range vectors {
		docs[i] = chromem.Document{ID: strconv.Itoa(i), Embedding: v, Content: "x"}
	}
	return c.chunks.AddDocuments(ctx, docs, runtime.GOMAXPROCS(0))
}

func (c *chromemGo) search(ctx context.Context, query []float32) ([]int, error) {
	found, err := c.chunks.QueryEmbedding(ctx, query, limit, nil, nil)
	var out []int
	for _, r := range found {
		row, err := strconv.Atoi(r.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, err
}
