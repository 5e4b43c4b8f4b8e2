package wire

import (
	"context"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/onnx"
)

// similarity lets the quoting answerer weigh sentences by the embedding model:
// the cosine of each with the question.
func similarity(m *onnx.Model) func(ctx context.Context, question string, sentences []string) ([]float64, error) {
	return func(ctx context.Context, question string, sentences []string) ([]float64, error) {
		query, err := m.EmbedQuery(ctx, question)
		if err != nil {
			return nil, err
		}
		inputs := make([]landmark.Input, len(sentences))
		for i, s := range sentences {
			inputs[i] = landmark.Input{Text: s, Chunks: []chunker.Range{{Start: 0, End: len(s)}}}
		}
		embeddings, err := m.Encode(ctx, inputs)
		if err != nil {
			return nil, err
		}
		out := make([]float64, len(sentences))
		for i, e := range embeddings {
			for k, x := range e.Document {
				out[i] += float64(x) * float64(query[k])
			}
		}
		return out, nil
	}
}
