package langchain

import (
	"context"
	"errors"

	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/embeddings"
	"github.com/tmc/langchaingo/schema"

	"github.com/waymark-rag/waymark/retriever"
)

// RetrieverOptions shape what a Retriever returns. The zero value is the default.
type RetrieverOptions struct {
	// Request is the template of every search: level, number of hits, filter,
	// least scores and so on. Its Vector and Words come from the query; a
	// negative Lexical leaves words out.
	Request retriever.Request
	// Passages returns the best passage of each document at the level
	// retriever.DocumentLevel, in place of its whole text.
	Passages bool
	// Labels puts a line in front of each text that numbers it and says where it
	// stands, as in "Passage [2] Guide > Backup (guide.md, lines 3-9)". Chains
	// give a model nothing but texts, so without it a model cannot cite.
	Labels bool
	// Callbacks is told of every search; nil tells nobody.
	Callbacks callbacks.Handler
}

// Retriever is a Waymark store as langchaingo's schema.Retriever. It searches by
// meaning and by words. At the levels retriever.ChunkLevel and retriever.Both, a
// document that it returns is a passage; at retriever.DocumentLevel it is a document
// as it was added, and the metadata says where its best passage is. It is safe for
// concurrent use.
type Retriever struct {
	embedder embeddings.Embedder
	store    retriever.Store
	opts     RetrieverOptions
}

// NewRetriever returns a Retriever over a store, of one tenant where there are
// several. The embedder must be the one that the store's vectors were made with. Nil
// options are the default.
func NewRetriever(embedder embeddings.Embedder, store retriever.Store, opts *RetrieverOptions) (*Retriever, error) {
	if embedder == nil || store == nil {
		return nil, errors.New("a retriever needs an embedder and a store")
	}
	r := &Retriever{embedder: embedder, store: store}
	if opts != nil {
		r.opts = *opts
	}
	if err := checkTemplate(r.opts.Request, r.opts.Request.Lexical >= 0); err != nil {
		return nil, err
	}
	return r, nil
}

// GetRelevantDocuments returns what a query finds, best first. Score is what hits are
// ranked by: where words take part it is fused, and small. Metadata is that of the
// document that a hit was found in, with the keys that start with "waymark." added.
func (r *Retriever) GetRelevantDocuments(ctx context.Context, query string) ([]schema.Document, error) {
	if r.opts.Callbacks != nil {
		r.opts.Callbacks.HandleRetrieverStart(ctx, query)
	}
	hits, err := search(ctx, r.store, r.embedder, query, r.opts.Request, r.opts.Request.Lexical >= 0)
	if err != nil {
		return nil, err
	}
	docs, err := documents(ctx, r.store, hits, r.opts.Request.Level == retriever.DocumentLevel && !r.opts.Passages)
	if err != nil {
		return nil, err
	}
	if r.opts.Labels {
		for i, h := range hits {
			docs[i].PageContent = label(i+1, h) + "\n" + docs[i].PageContent
		}
	}
	if r.opts.Callbacks != nil {
		r.opts.Callbacks.HandleRetrieverEnd(ctx, query, docs)
	}
	return docs, nil
}
