package langchain

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/tmc/langchaingo/embeddings"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark"
)

// foreign makes a pipeline.Embedder of an embedder that knows no landmarks: a text
// is one chunk, and its vector stands for the chunk and the document.
type foreign struct {
	embeddings.Embedder
}

// Encode implements pipeline.Embedder.
func (f foreign) Encode(ctx context.Context, inputs []landmark.Input) ([]landmark.Embedding, error) {
	texts := make([]string, len(inputs)) // which langchaingo's own embedder writes to
	for i, in := range inputs {
		texts[i] = in.Text
	}
	vectors, err := f.EmbedDocuments(ctx, texts)
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(inputs) {
		return nil, fmt.Errorf("the embedder %T returned %d vectors for %d texts", f.Embedder, len(vectors), len(inputs))
	}
	out := make([]landmark.Embedding, len(inputs))
	for i, v := range vectors {
		vector, norm, err := unit(v)
		if err != nil {
			return nil, fmt.Errorf("text %d: the embedder %T returned %w", i, f.Embedder, err)
		}
		out[i] = landmark.Embedding{
			Document:  vector,
			Landmarks: [][]float32{vector},
			Norms:     []float32{norm},
			Chunks:    inputs[i].Chunks,
			Windows:   1,
		}
	}
	return out, nil
}

// whole is the chunker that goes with foreign.
type whole struct{}

// Split implements pipeline.Chunker.
func (whole) Split(doc chunker.Document) ([]chunker.Chunk, error) {
	return []chunker.Chunk{{Range: chunker.Range{Start: 0, End: len(doc.Text)}}}, nil
}

// unit returns a copy of v of length 1, and the length that it had.
func unit(v []float32) ([]float32, float32, error) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	norm := math.Sqrt(sum)
	switch {
	case len(v) == 0:
		return nil, 0, errors.New("an empty vector")
	case norm == 0, math.IsNaN(norm), math.IsInf(norm, 0), norm > math.MaxFloat32:
		return nil, 0, fmt.Errorf("a vector of length %v, which has no direction", norm)
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) / norm)
	}
	return out, float32(norm), nil
}
