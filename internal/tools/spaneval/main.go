// Command spaneval measures retrieval on a set with known passages: it indexes
// the documents through the public API and runs the queries against them.
//
//	go run -tags onnx ./internal/tools/spaneval -model DIR SET...
//
// A SET is a BEIR folder with qrels/spans.tsv. It prints chunk hit@1 and hit@5 (one
// of the k best chunks of the whole set overlaps a gold span of the query) by
// the landmark's score and by both levels, and document nDCG@10 by the document
// vector (doc), by the best chunk (max) and by both (mix).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/internal/tools/spanset"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/onnx"
	"github.com/waymark-rag/waymark/models"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
)

type settings struct {
	model, library, pooling, mode string
	perQuery                      string
	tokens, overlap, queries      int
	landmark, lexical             float64
}

func main() {
	var s settings
	flag.StringVar(&s.model, "model", "", "model directory; empty is the default model")
	flag.StringVar(&s.library, "library", os.Getenv("WAYMARK_ONNXRUNTIME"), "ONNX Runtime library")
	flag.StringVar(&s.pooling, "pooling", "", "pooling in place of the model's own")
	flag.StringVar(&s.mode, "mode", "fixed", "chunker mode")
	flag.IntVar(&s.tokens, "tokens", 128, "chunk size")
	flag.IntVar(&s.overlap, "overlap", 0, "tokens of overlap between windows")
	flag.StringVar(&s.perQuery, "per-query", "", "file for a line of results for each query")
	flag.IntVar(&s.queries, "queries", 0, "random sample of queries; 0 takes all")
	flag.Float64Var(&s.landmark, "landmark", 0.5, "weight of the landmark in mix, the rest being the document's")
	flag.Float64Var(&s.lexical, "lexical", -1, "weight of BM25 in mix; -1 none")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	fmt.Println("| set | chunks | doc | max | mix | hit@1 | hit@5 | mix hit@1 | mix hit@5 |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	for _, set := range flag.Args() {
		if err := s.run(context.Background(), set); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
	}
}

func (s settings) run(ctx context.Context, set string) error {
	var fsys fs.FS = models.Default()
	if s.model != "" {
		fsys = os.DirFS(s.model)
	}
	m, err := onnx.Open(ctx, fsys, &onnx.Options{
		Library: s.library,
		Pooling: landmark.Pooling(s.pooling),
		Encode:  landmark.Options{Overlap: s.overlap},
	})
	if err != nil {
		return err
	}
	defer m.Close()
	split, err := chunker.New(m, chunker.Options{Mode: chunker.Mode(s.mode), MaxTokens: s.tokens})
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "spaneval")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store, err := local.Open(ctx, filepath.Join(dir, "index.db"), &local.Options{Create: true, Fingerprint: retriever.Fingerprint{Model: m.Digest, Dim: m.Config().Dim}})
	if err != nil {
		return err
	}
	defer store.Close()
	p, err := pipeline.New(pipeline.Parts{Chunker: split, Embedder: m, Store: store}, nil)
	if err != nil {
		return err
	}

	docs, err := spanset.Corpus(set)
	if err != nil {
		return err
	}
	report, err := p.Add(ctx, docs...)
	if err != nil {
		return err
	}
	if len(report.Skipped) > 0 {
		return fmt.Errorf("skipped %v", report.Skipped)
	}
	queries, err := spanset.Load(set, s.queries)
	if err != nil {
		return err
	}
	return s.measure(ctx, p, filepath.Base(set), report.Chunks, queries)
}

// The columns after the number of chunks.
const (
	docNDCG = iota
	maxNDCG
	mixNDCG
	hit1
	hit5
	mixHit1
	mixHit5
	columns
)

func (s settings) measure(ctx context.Context, p *pipeline.Pipeline, name string, chunks int, queries []spanset.Query) error {
	rows := make([][columns]float64, len(queries))
	var next atomic.Int64
	var failed atomic.Value
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(queries); i = next.Add(1) - 1 {
				row, err := s.one(ctx, p, queries[i])
				if err != nil {
					failed.Store(err)
					return
				}
				rows[i] = row
			}
		})
	}
	wg.Wait()
	if err, ok := failed.Load().(error); ok {
		return err
	}
	if err := s.writeRows(queries, rows); err != nil {
		return err
	}
	var sum [columns]float64
	for _, row := range rows {
		for i, x := range row {
			sum[i] += x / float64(len(rows))
		}
	}
	fmt.Printf("| %s | %d |", name, chunks)
	for _, x := range sum {
		fmt.Printf(" %.3f |", x)
	}
	fmt.Println()
	return nil
}

// writeRows appends the results of each query to the file asked for.
func (s settings) writeRows(queries []spanset.Query, rows [][columns]float64) error {
	if s.perQuery == "" {
		return nil
	}
	var b strings.Builder
	for i, row := range rows {
		b.WriteString(queries[i].ID)
		for _, x := range row {
			fmt.Fprintf(&b, "\t%.4f", x)
		}
		b.WriteString("\n")
	}
	f, err := os.OpenFile(s.perQuery, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(b.String())
	return errors.Join(err, f.Close())
}

func (s settings) one(ctx context.Context, p *pipeline.Pipeline, q spanset.Query) (row [columns]float64, err error) {
	vector, err := p.Embedder.EmbedQuery(ctx, q.Text)
	if err != nil {
		return row, err
	}
	mix := retriever.Weights{Landmark: s.landmark, Document: 1 - s.landmark}
	search := func(w retriever.Weights, perDocument, limit int) ([]retriever.Candidate, error) {
		c, err := p.Store.Candidates(ctx, retriever.Query{Vector: vector, Limit: limit, Weights: w, PerDocument: perDocument})
		return c.Dense, err
	}
	ranked := func(column int, w retriever.Weights) error {
		found, err := search(w, 1, 10)
		if err != nil {
			return err
		}
		row[column] = q.NDCG(found)
		return nil
	}
	if err := ranked(docNDCG, retriever.Weights{Document: 1}); err != nil {
		return row, err
	}
	if err := ranked(maxNDCG, retriever.Weights{Landmark: 1}); err != nil {
		return row, err
	}
	if err := ranked(mixNDCG, mix); err != nil {
		return row, err
	}
	chunks, err := search(retriever.Weights{Landmark: 1}, 0, 5)
	if err != nil {
		return row, err
	}
	if row[hit1], row[hit5], err = hits(ctx, p, q, chunks); err != nil {
		return row, err
	}
	if s.lexical > 0 {
		hits, err := retriever.Search(ctx, p.Store, retriever.Request{Vector: vector, Words: q.Text, Weights: mix, K: 5, Lexical: s.lexical})
		if err != nil {
			return row, err
		}
		chunks = chunks[:0]
		for _, h := range hits {
			chunks = append(chunks, retriever.Candidate{Document: h.Document, Chunk: h.Chunk})
		}
	} else if chunks, err = search(mix, 0, 5); err != nil {
		return row, err
	}
	row[mixHit1], row[mixHit5], err = hits(ctx, p, q, chunks)
	return row, err
}

func hits(ctx context.Context, p *pipeline.Pipeline, q spanset.Query, found []retriever.Candidate) (at1, at5 float64, err error) {
	for i, c := range found {
		docs, err := p.Store.Fetch(ctx, []string{c.Document}, retriever.Want{Chunks: true})
		if err != nil {
			return 0, 0, err
		}
		for _, gold := range q.Spans[c.Document] {
			if docs[0].Chunks[c.Chunk].Text.Overlaps(gold) {
				at5 = 1
				if i == 0 {
					at1 = 1
				}
			}
		}
	}
	return at1, at5, nil
}
