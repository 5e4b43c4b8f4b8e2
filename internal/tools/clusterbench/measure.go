//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"time"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/waymark-rag/waymark/internal/prose"
	"github.com/waymark-rag/waymark/internal/tools/cputime"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
	"github.com/waymark-rag/waymark/retriever/qdrant"
)

const collection = "clusterbench"

// candidates is how many retriever/qdrant asks for.
const candidates = 100

// row is what was measured at one size.
type row struct {
	chunks, documents int
	client, server    time.Duration // of storing all
	build             time.Duration // of the graphs and all else that optimising does
	disk              map[string]int64
	own, mapped       int64           // memory, more than an engine has without a collection
	graph, exact      time.Duration   // of the engine for one search among landmarks
	words, telling    time.Duration   // of the engine for one search by words, and without stop words
	hybrid            time.Duration   // of the engine for one call of Candidates, by vector and words
	stats, list       time.Duration   // of the engine for counting, and for listing all documents
	wall              []time.Duration // of each search by the graph, in order
	recall            float64         // of the 10 best, by the graph
}

func (s settings) measure(ctx context.Context, layout qdrant.Layout, chunks int) (r row, err error) {
	dir, err := os.MkdirTemp("", "clusterbench")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	e, err := s.start(dir)
	if err != nil {
		return r, err
	}
	own, mapped, err := e.memory()
	if err == nil {
		err = s.fill(ctx, e, layout, chunks, &r)
	}
	if err = errors.Join(err, e.stop()); err != nil {
		return r, err
	}
	if r.disk, err = diskUse(dir); err != nil {
		return r, err
	}
	if e, err = s.start(dir); err != nil {
		return r, err
	}
	err = s.search(ctx, e, &r)
	r.own, r.mapped = r.own-own, r.mapped-mapped
	return r, errors.Join(err, e.stop())
}

// fill stores every second document until there are so many chunks, and builds the
// graphs, which a server would do meanwhile.
func (s settings) fill(ctx context.Context, e *engine, layout qdrant.Layout, chunks int, r *row) error {
	from, err := local.Open(ctx, s.index, &local.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := qdrant.Open(ctx, e.address, collection, &qdrant.Options{
		Create: true, Fingerprint: retriever.Fingerprint{Model: collection, Dim: from.Fingerprint().Dim}, Layout: layout, Timeout: 10 * time.Minute})
	if err != nil {
		return err
	}
	defer to.Close()
	start, err := e.cpu()
	if err != nil {
		return err
	}
	var docs []retriever.Document
	waiting := 0
	store := func() error {
		begun := cputime.Own()
		err := to.Upsert(ctx, docs)
		r.client += cputime.Own() - begun
		docs, waiting = docs[:0], 0
		return err
	}
	n := 0
	for d, err := range from.Scroll(ctx, retriever.Filter{}, retriever.Want{Text: true, Chunks: true, Vectors: true}) {
		if err != nil {
			return err
		}
		if n++; n%2 == 0 {
			continue
		}
		for i := range s.copies {
			d := d
			d.ID = fmt.Sprintf("%s~%d", d.ID, i)
			docs = append(docs, d)
			waiting += len(d.Chunks)
			r.chunks, r.documents = r.chunks+len(d.Chunks), r.documents+1
		}
		if waiting > 500 {
			if err := store(); err != nil {
				return err
			}
		}
		if r.chunks >= chunks {
			break
		}
	}
	if r.chunks < chunks {
		return fmt.Errorf("%s has %d chunks in every second document, want %d", s.index, r.chunks, chunks)
	}
	if err := store(); err != nil {
		return err
	}
	stored, err := e.cpu()
	if err != nil {
		return err
	}
	r.server = stored - start
	if err := buildGraphs(ctx, e); err != nil {
		return err
	}
	built, err := e.cpu()
	r.build = built - stored
	return err
}

func client(e *engine) (*pb.Client, error) {
	host, port, _ := strings.Cut(e.address, ":")
	var n int
	if _, err := fmt.Sscan(port, &n); err != nil {
		return nil, err
	}
	return pb.NewClient(&pb.Config{Host: host, Port: n, SkipCompatibilityCheck: true})
}

// buildGraphs lowers the sizes from which there is a graph and searches use it; the
// engine answers when it is there.
func buildGraphs(ctx context.Context, e *engine) error {
	c, err := client(e)
	if err != nil {
		return err
	}
	defer c.Close()
	small := &pb.VectorParamsDiff{HnswConfig: &pb.HnswConfigDiff{FullScanThreshold: pb.PtrOf(uint64(10))}}
	return c.UpdateCollection(ctx, &pb.UpdateCollection{
		CollectionName: collection, OptimizersConfig: &pb.OptimizersConfigDiff{IndexingThreshold: pb.PtrOf(uint64(1))},
		VectorsConfig: pb.NewVectorsConfigDiffMap(map[string]*pb.VectorParamsDiff{"landmarks": small, "doc": small}),
	})
}

// query is a chunk that is not stored.
type query struct {
	vector []float32
	words  string
}

// queries are chunks of the documents that were left out, asked by the words that
// they begin with.
func (s settings) readQueries(ctx context.Context) (out []query, err error) {
	from, err := local.Open(ctx, s.index, &local.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer from.Close()
	n := 0
	for d, err := range from.Scroll(ctx, retriever.Filter{}, retriever.Want{Text: true, Chunks: true, Vectors: true}) {
		if err != nil {
			return nil, err
		}
		if n++; n%2 == 1 || len(d.Chunks) == 0 {
			continue
		}
		c := d.Chunks[len(d.Chunks)/2]
		words := strings.Fields(c.Text.Of(d.Text))
		if len(sparse(c.Text.Of(d.Text), false)) == 0 {
			continue
		}
		if out = append(out, query{c.Vector, strings.Join(words[:min(12, len(words))], " ")}); len(out) == s.queries {
			break
		}
	}
	return out, nil
}

// search asks the engine in three ways.
func (s settings) search(ctx context.Context, e *engine, r *row) error {
	queries, err := s.readQueries(ctx)
	if err != nil {
		return err
	}
	store, err := qdrant.Open(ctx, e.address, collection, &qdrant.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer store.Close()
	c, err := client(e)
	if err != nil {
		return err
	}
	defer c.Close()
	found := map[bool][][]string{}
	landmarks := func(exact bool) func(query) error {
		return func(q query) error {
			begun := time.Now()
			points, err := c.Query(ctx, &pb.QueryPoints{CollectionName: collection, Using: pb.PtrOf("landmarks"), Query: pb.NewQueryDense(q.vector),
				Limit: pb.PtrOf(uint64(10)), Params: &pb.SearchParams{
					Exact: &exact, Quantization: &pb.QuantizationSearchParams{Rescore: pb.PtrOf(true)}}}) // as retriever/qdrant does
			if !exact {
				r.wall = append(r.wall, time.Since(begun))
			}
			var ids []string
			for _, p := range points[:min(10, len(points))] {
				ids = append(ids, p.GetId().GetUuid())
			}
			found[exact] = append(found[exact], ids)
			return err
		}
	}
	words := func(stop bool) func(query) error {
		return func(q query) error {
			indices := sparse(q.words, stop)
			_, err := c.Query(ctx, &pb.QueryPoints{CollectionName: collection, Using: pb.PtrOf("text"),
				Query: pb.NewQuerySparse(indices, slices.Repeat([]float32{1}, len(indices))), Limit: pb.PtrOf(uint64(10))}) // so few that the adapter's part is small
			return err
		}
	}
	hybrid := func(q query) error {
		_, err := store.Candidates(ctx, retriever.Query{Vector: q.vector, Words: q.words, Limit: candidates, Weights: retriever.Weights{Landmark: .8, Document: .2}})
		return err
	}
	for _, way := range []struct {
		ask  func(query) error
		took *time.Duration
	}{{landmarks(false), &r.graph}, {landmarks(true), &r.exact}, {words(true), &r.words}, {words(false), &r.telling}, {hybrid, &r.hybrid}} {
		if way.took == &r.hybrid { // before there are large answers, which the adapter keeps pieces of
			if r.own, r.mapped, err = e.memory(); err != nil {
				return err
			}
		}
		if *way.took, err = e.took(len(queries), func(i int) error { return way.ask(queries[i]) }); err != nil {
			return err
		}
	}
	if r.stats, err = e.took(200, func(int) error { _, err := store.Stats(ctx); return err }); err != nil {
		return err
	}
	r.list, err = e.took(5, func(int) error {
		for _, err := range store.Scroll(ctx, retriever.Filter{}, retriever.Want{}) {
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, right := range found[true] {
		for _, id := range right {
			if slices.Contains(found[false][i], id) {
				r.recall += 1 / float64(len(right)*len(queries))
			}
		}
	}
	slices.Sort(r.wall)
	return nil
}

// sparse is the vector of words that documents are stored with (retriever/qdrant),
// each word with the weight 1.
func sparse(text string, stop bool) []uint32 {
	var out []uint32
	for _, w := range prose.Words(text) {
		if w.Folded == "" || w.Stop && !stop {
			continue
		}
		h := fnv.New32a()
		h.Write([]byte(w.Folded))
		out = append(out, h.Sum32())
	}
	slices.Sort(out)
	return slices.Compact(out)
}
