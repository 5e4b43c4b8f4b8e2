package eval

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

// Index is the documents of a set, in a store that the set has for itself.
type Index struct {
	embedder pipeline.Embedder
	store    retriever.Store
	chunks   map[string][]chunker.Range // by document
	vectors  *vectors
}

// vectors are those of the questions, encoded when first asked for.
type vectors struct {
	mu   sync.Mutex
	made map[string][]float32
}

// addBlock is how many documents are added between two calls of progress.
const addBlock = 64

// NewIndex brings the pipeline's store to hold the documents of the set and nothing
// else; what it holds already is not encoded again. progress, if not nil, is told
// how many of all documents are done.
func NewIndex(ctx context.Context, set *Set, p *pipeline.Pipeline, progress func(done, all int)) (*Index, error) {
	wanted := make(map[string]bool, len(set.Documents))
	for _, d := range set.Documents {
		wanted[d.ID] = true
	}
	var gone []string
	for d, err := range p.Store.Scroll(ctx, retriever.Filter{}, retriever.Want{}) {
		if err != nil {
			return nil, err
		}
		if !wanted[d.ID] {
			gone = append(gone, d.ID)
		}
	}
	if len(gone) > 0 {
		if _, err := p.Store.Delete(ctx, gone); err != nil {
			return nil, err
		}
	}
	done := 0
	for block := range slices.Chunk(set.Documents, addBlock) {
		report, err := p.Add(ctx, block...)
		if err != nil {
			return nil, err
		}
		if len(report.Skipped) > 0 {
			s := report.Skipped[0]
			return nil, fmt.Errorf("%s: document %q %s: without it nothing could be compared", set.Name, s.Path, s.Reason)
		}
		if done += len(block); progress != nil {
			progress(done, len(set.Documents))
		}
	}
	return openIndex(ctx, p.Embedder, p.Store, &vectors{made: map[string][]float32{}})
}

func openIndex(ctx context.Context, embedder pipeline.Embedder, store retriever.Store, known *vectors) (*Index, error) {
	x := &Index{embedder, store, map[string][]chunker.Range{}, known}
	for d, err := range store.Scroll(ctx, retriever.Filter{}, retriever.Want{Chunks: true}) {
		if err != nil {
			return nil, err
		}
		ranges := make([]chunker.Range, len(d.Chunks))
		for i, c := range d.Chunks {
			ranges[i] = c.Text
		}
		x.chunks[d.ID] = ranges
	}
	return x, nil
}

// Chunks counts them.
func (x *Index) Chunks() (n int) {
	for _, c := range x.chunks {
		n += len(c)
	}
	return n
}

// vector encodes a question, once.
func (x *Index) vector(ctx context.Context, q *Query) ([]float32, error) {
	x.vectors.mu.Lock()
	v := x.vectors.made[q.Text]
	x.vectors.mu.Unlock()
	if v != nil {
		return v, nil
	}
	v, err := x.embedder.EmbedQuery(ctx, q.Text)
	if err != nil {
		return nil, fmt.Errorf("question %q: %w", q.ID, err)
	}
	x.vectors.mu.Lock()
	x.vectors.made[q.Text] = v
	x.vectors.mu.Unlock()
	return v, nil
}

// Coarser is the same index with chunks n times as large: the landmarks of n
// neighbours averaged, as they came out of the model. It is kept in the empty store
// given.
func (x *Index) Coarser(ctx context.Context, n int, store retriever.Store) (*Index, error) {
	var batch []retriever.Document
	for d, err := range x.store.Scroll(ctx, retriever.Filter{}, retriever.Want{Text: true, Chunks: true, Vectors: true}) {
		if err != nil {
			return nil, err
		}
		if batch = append(batch, Coarsen(d, n)); len(batch) == addBlock {
			if err := store.Upsert(ctx, batch); err != nil {
				return nil, err
			}
			batch = batch[:0]
		}
	}
	if err := store.Upsert(ctx, batch); err != nil {
		return nil, err
	}
	return openIndex(ctx, x.embedder, store, x.vectors)
}

// Coarsen joins every n neighbouring chunks of a document, the last having what is
// left over. The vector of a joined chunk is the mean of the raw landmarks.
func Coarsen(d retriever.Document, n int) retriever.Document {
	var joined []retriever.Chunk
	for group := range slices.Chunk(d.Chunks, n) {
		first, last := group[0], group[len(group)-1]
		c := first
		c.Text.End, c.Source.End, c.Lines.Last = last.Text.End, last.Source.End, last.Lines.Last
		c.Tokens = 0
		raw := make([]float64, len(first.Vector))
		for _, part := range group {
			c.Tokens += part.Tokens
			for k, v := range part.Vector {
				raw[k] += float64(v) * float64(part.Norm) / float64(len(group))
			}
		}
		var sum float64
		for _, v := range raw {
			sum += v * v
		}
		c.Norm = float32(math.Sqrt(sum))
		c.Vector = make([]float32, len(raw))
		for k, v := range raw {
			c.Vector[k] = float32(v / math.Sqrt(sum))
		}
		joined = append(joined, c)
	}
	d.Chunks = joined
	return d
}
