package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/retriever"
)

// Embedder turns chunks and queries into vectors; *landmark.Model is one.
type Embedder interface {
	Encode(ctx context.Context, inputs []landmark.Input) ([]landmark.Embedding, error)
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Chunker cuts documents; *chunker.Chunker is one.
type Chunker interface {
	Split(doc chunker.Document) ([]chunker.Chunk, error)
}

// Parts are what a Pipeline is made of. Search needs an Embedder and a Store,
// indexing a Chunker as well, and answering a Model.
type Parts struct {
	Chunker  Chunker
	Embedder Embedder
	Store    retriever.Store
	Model    llm.Model
	// Log gets what went on; nil discards it.
	Log *slog.Logger
}

// Pipeline is the whole line. It is safe for concurrent use; closing the parts
// is up to whoever made them.
type Pipeline struct {
	Parts
	answerer   *Answerer
	generation Generation
}

// New returns a Pipeline of the given parts; nil options are the default.
func New(parts Parts, opts *AnswerOptions) (*Pipeline, error) {
	if parts.Embedder == nil || parts.Store == nil {
		return nil, errors.New("a pipeline needs an embedder and a store")
	}
	if parts.Log == nil {
		parts.Log = slog.New(slog.DiscardHandler)
	}
	p := &Pipeline{Parts: parts}
	if parts.Model == nil {
		return p, nil
	}
	if opts == nil {
		opts = &AnswerOptions{}
	}
	var err error
	p.answerer, err = NewAnswerer(parts.Model, *opts)
	return p, err
}

// WithGeneration returns a Pipeline of the same parts whose answers are written as g
// says.
func (p *Pipeline) WithGeneration(g Generation) *Pipeline {
	other := *p
	other.generation = g
	return &other
}

// SearchOptions narrow and shape a search. The zero value is the default; the
// fields are those of retriever.Request.
type SearchOptions = retriever.Request

// Search finds the passages that answer a question best, by its meaning and by
// its words. Vector and Words of the options are replaced by the question's.
func (p *Pipeline) Search(ctx context.Context, question string, opts SearchOptions) ([]retriever.Hit, error) {
	if strings.TrimSpace(question) == "" {
		return nil, errEmptyQuestion
	}
	vector, err := p.Embedder.EmbedQuery(ctx, question)
	if err != nil {
		return nil, fmt.Errorf("encoding the question: %w", err)
	}
	opts.Vector, opts.Words = vector, question
	return retriever.Search(ctx, p.Store, opts)
}

// Ask answers a question from the passages that Search finds for it; history is
// what was said before, oldest first. A question that follows on it is condensed
// into one that can be searched by, see Answerer.Condense; that text is
// Answer.Query and the first event of stream, and no part of the answer. See
// Answerer.Answer for the further events.
func (p *Pipeline) Ask(ctx context.Context, question string, history []llm.Message, opts SearchOptions, stream func(Event) error) (Answer, error) {
	if p.answerer == nil {
		return Answer{}, errors.New("answering needs a model: llm.Extractive needs no set-up")
	}
	query, err := p.answerer.Condense(ctx, question, history)
	if err != nil {
		return Answer{}, err
	}
	if stream != nil {
		if err := stream(Event{Query: query.Text}); err != nil {
			return Answer{}, err
		}
	}
	hits, err := p.Search(ctx, query.Text, opts)
	if err != nil {
		return Answer{}, err
	}
	return p.answerer.Answer(ctx, AnswerRequest{Question: question, Query: query, History: history, Hits: hits, Generation: p.generation}, stream)
}
