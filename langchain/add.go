package langchain

import (
	"context"
	"errors"
	"fmt"

	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/retriever"
)

// batchBytes is about how much text is encoded and stored at a time.
const batchBytes = 256 << 10

// AddDocuments stores documents and returns their ids in order. A document's id is
// its metadata "id" where that is a string and not empty, and otherwise made from its
// text and metadata, so that adding it again changes nothing. A document replaces the
// one with the same id; one that is there as it is, is not encoded again. Two
// different documents with one id are refused.
//
// Whatever is wrong with a document is found, with its index, before any is stored.
// When encoding or storing fails later, what was stored stays; a further call with
// the same documents goes on from there.
//
// WithNameSpace names the tenant. Documents for which WithDeduplicater's function is
// true are left out, from the ids too. WithEmbedder is refused unless it names the
// store's own; WithFilters and WithScoreThreshold mean nothing here and are refused.
func (s *VectorStore) AddDocuments(ctx context.Context, docs []schema.Document, options ...vectorstores.Option) ([]string, error) {
	o, err := s.options(options)
	if err != nil {
		return nil, err
	}
	if o.Filters != nil || o.ScoreThreshold != 0 {
		return nil, errors.New("filters and score thresholds narrow a search, which adding documents does not do: leave WithFilters and WithScoreThreshold out")
	}
	all, ids, err := prepareAll(ctx, docs, o.Deduplicater)
	if err != nil || len(all) == 0 {
		return ids, err
	}
	store, err := s.tenant(ctx, o.NameSpace)
	if err != nil {
		return nil, err
	}
	for len(all) > 0 {
		size, n := 0, 0
		for n < len(all) && size < batchBytes {
			size += len(all[n].Text)
			n++
		}
		if err := s.add(ctx, store, all[:n]); err != nil {
			return nil, err
		}
		all = all[n:]
	}
	return ids, nil
}

// prepareAll returns the documents to store, each id once, and the ids of all that
// are wanted.
func prepareAll(ctx context.Context, docs []schema.Document, leaveOut func(context.Context, schema.Document) bool) ([]*prepared, []string, error) {
	ids := make([]string, 0, len(docs))
	var out []*prepared
	type seen struct {
		index int
		hash  string
	}
	byID := make(map[string]seen)
	for i, d := range docs {
		if leaveOut != nil && leaveOut(ctx, d) {
			continue
		}
		p, err := prepare(d)
		if err != nil {
			return nil, nil, fmt.Errorf("document %d of %d: %w", i, len(docs), err)
		}
		ids = append(ids, p.ID)
		switch before, ok := byID[p.ID]; {
		case !ok:
			byID[p.ID] = seen{i, p.hash}
			out = append(out, &p)
		case before.hash != p.hash:
			return nil, nil, fmt.Errorf("documents %d and %d of %d differ but both have the id %q, so one would replace the other: give each its own, or none", before.index, i, len(docs), p.ID)
		}
	}
	return out, ids, nil
}

// add stores those of a batch that the store does not have as they are.
func (s *VectorStore) add(ctx context.Context, store retriever.Store, batch []*prepared) error {
	ids := make([]string, len(batch))
	for i, p := range batch {
		ids[i] = p.ID
	}
	old, err := store.Fetch(ctx, ids, retriever.Want{})
	if err != nil {
		return fmt.Errorf("reading what the store has: %w", err)
	}
	hashes := make(map[string]string, len(old))
	for _, d := range old {
		hashes[d.ID] = d.Hash
	}
	var (
		changed []*prepared
		chunks  [][]chunker.Chunk
		inputs  []landmark.Input
	)
	for _, p := range batch {
		if hashes[p.ID] == p.hash {
			continue
		}
		cut, err := s.chunker.Split(p.Document)
		if err != nil {
			return fmt.Errorf("cutting document %q: %w", p.ID, err)
		}
		changed = append(changed, p)
		chunks = append(chunks, cut)
		inputs = append(inputs, p.input(cut))
	}
	if len(changed) == 0 {
		return ctx.Err()
	}
	embeddings, err := s.encoder.Encode(ctx, inputs)
	if err != nil {
		return fmt.Errorf("encoding %d documents from %q on: %w", len(changed), changed[0].ID, err)
	}
	if len(embeddings) != len(changed) {
		return fmt.Errorf("the embedder returned %d embeddings for %d documents", len(embeddings), len(changed))
	}
	docs := make([]retriever.Document, len(changed))
	for i, p := range changed {
		if docs[i], err = p.stored(chunks[i], embeddings[i]); err != nil {
			return fmt.Errorf("document %q: %w", p.ID, err)
		}
	}
	if err := store.Upsert(ctx, docs); err != nil {
		return fmt.Errorf("storing %d documents from %q on: %w", len(docs), docs[0].ID, err)
	}
	return nil
}
