package langchain

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/tmc/langchaingo/embeddings"

	"github.com/waymark-rag/waymark/landmark"
)

// Model is a landmark model; *landmark.Model and *onnx.Model are.
type Model interface {
	embeddings.Embedder
	Encode(ctx context.Context, inputs []landmark.Input) ([]landmark.Embedding, error)
	EmbedLandmarks(ctx context.Context, texts []string) ([]landmark.Embedding, error)
}

// Embedder is a landmark model as langchaingo's embeddings.Embedder. Texts are
// embedded as they are, line breaks included, in the order given; a vector does
// not depend on what else is in the call. A text without a visible character is
// refused. It is safe for concurrent use.
type Embedder struct {
	model Model
}

// NewEmbedder returns the Embedder of a model.
func NewEmbedder(model Model) (*Embedder, error) {
	if model == nil {
		return nil, errors.New("an embedder needs a model: landmark/onnx opens them")
	}
	return &Embedder{model}, nil
}

// EmbedDocuments returns the document vector of each text, the mean of its
// landmarks.
func (e *Embedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	embeddings, err := e.EmbedLandmarks(ctx, texts)
	if err != nil {
		return nil, err
	}
	out := make([][]float32, len(embeddings))
	for i, e := range embeddings {
		out[i] = e.Document
	}
	return out, nil
}

// EmbedLandmarks returns, for each text, its document vector with the landmarks
// that it is the mean of: one vector for each chunk, and the chunk's byte range in
// the text. Chunks are cut at the model's own interval and tile the text.
func (e *Embedder) EmbedLandmarks(ctx context.Context, texts []string) ([]landmark.Embedding, error) {
	for i, text := range texts {
		if isBlank(text) {
			return nil, fmt.Errorf("text %d of %d is empty: there is nothing to embed", i, len(texts))
		}
	}
	return e.model.EmbedLandmarks(ctx, texts)
}

// EmbedQuery returns the vector of a query.
func (e *Embedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if isBlank(text) {
		return nil, errEmptyQuery
	}
	return e.model.EmbedQuery(ctx, text)
}

var errEmptyQuery = errors.New("the query is empty: there is nothing to search for")

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// unwrapped returns the model behind an Embedder, any other embedder as it is.
func unwrapped(e embeddings.Embedder) embeddings.Embedder {
	if ours, ok := e.(*Embedder); ok && ours != nil {
		return ours.model
	}
	return e
}

// sameEmbedder reports whether two embedders make the same vectors because they
// are one.
func sameEmbedder(a, b embeddings.Embedder) bool {
	a, b = unwrapped(a), unwrapped(b)
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}
