package langchain

import (
	"context"
	"errors"
	"fmt"

	"github.com/tmc/langchaingo/embeddings"
	"github.com/tmc/langchaingo/schema"

	"github.com/waymark-rag/waymark/retriever"
)

// checkTemplate reports what makes a request unusable as a template.
func checkTemplate(req retriever.Request, hybrid bool) error {
	if req.Vector != nil || req.Words != "" {
		return errors.New("the template of a search has a vector or words: leave them out, they come from the query")
	}
	req.Vector = []float32{1}
	if hybrid {
		req.Words = "any"
	}
	return req.Validate()
}

// search finds the hits of a query by its meaning and, if hybrid, by its words.
func search(ctx context.Context, store retriever.Store, embedder embeddings.Embedder, query string, req retriever.Request, hybrid bool) ([]retriever.Hit, error) {
	query = repair(query)
	if isBlank(query) {
		return nil, errEmptyQuery
	}
	vector, err := embedder.EmbedQuery(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("embedding the query: %w", err)
	}
	if req.Vector, _, err = unit(vector); err != nil {
		return nil, fmt.Errorf("embedding the query: the embedder %T returned %w", embedder, err)
	}
	if hybrid {
		req.Words = query
	}
	hits, err := retriever.Search(ctx, store, req)
	return hits, explainUnknownKey(err)
}

// documents makes langchaingo's documents of hits, either of their passages or of
// the whole texts these stand in.
func documents(ctx context.Context, store retriever.Store, hits []retriever.Hit, whole bool) ([]schema.Document, error) {
	texts := make(map[string]string)
	if whole {
		ids := make([]string, len(hits))
		for i, h := range hits {
			ids[i] = h.Document
		}
		found, err := store.Fetch(ctx, ids, retriever.Want{Text: true})
		if err != nil {
			return nil, err
		}
		for _, d := range found {
			texts[d.ID] = d.Text
		}
	}
	out := make([]schema.Document, 0, len(hits))
	for _, h := range hits {
		metadata, err := userMetadata(h.Metadata)
		if err != nil {
			return nil, fmt.Errorf("document %q: %w", h.Document, err)
		}
		addPlace(metadata, h)
		d := schema.Document{PageContent: h.Text, Metadata: metadata, Score: float32(h.Score.Value)}
		// A text that changed since it was found may not hold the passage.
		if text, ok := texts[h.Document]; ok && h.Range.End <= len(text) && h.Range.Of(text) == h.Text {
			d.PageContent = text
		}
		out = append(out, d)
	}
	return out, nil
}
