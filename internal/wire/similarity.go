package wire

import (
	"context"
	"sync"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/onnx"
)

// similarity lets the quoting answerer weigh sentences by the embedding model.
// Models crowd their vectors in a cone, some more than others, so that the
// cosine of a question and a sentence that have nothing to do with each other
// may be 0.7; it is moved to 0.
func similarity(m *onnx.Model) func(ctx context.Context, question string, sentences []string) ([]float64, error) {
	var mu sync.Mutex
	unrelated := -1.0
	zero := func(ctx context.Context) (float64, error) {
		mu.Lock()
		defer mu.Unlock()
		if unrelated < 0 { // not measured yet
			mean, err := unrelatedCosine(ctx, m)
			if err != nil {
				return 0, err
			}
			unrelated = mean
		}
		return unrelated, nil
	}
	return func(ctx context.Context, question string, sentences []string) ([]float64, error) {
		zero, err := zero(ctx)
		if err != nil {
			return nil, err
		}
		out, err := cosines(ctx, m, question, sentences)
		for i, c := range out {
			out[i] = (c - zero) / (1 - zero)
		}
		return out, err
	}
}

// strangers are questions and sentences of which none answers another.
var strangers = [][2]string{
	{"How long does bread dough have to rise?", "The treaty was signed by nine states."},
	{"Who painted the ceiling of the chapel?", "Tighten the four bolts crosswise."},
	{"When does the ferry leave on Sundays?", "Enzymes lose their shape when heated."},
	{"Why do leaves change colour in autumn?", "The committee approved the budget without debate."},
}

func unrelatedCosine(ctx context.Context, m *onnx.Model) (float64, error) {
	var sentences []string
	for _, pair := range strangers {
		sentences = append(sentences, pair[1])
	}
	sum := 0.0
	for _, pair := range strangers {
		all, err := cosines(ctx, m, pair[0], sentences)
		if err != nil {
			return 0, err
		}
		for _, c := range all {
			sum += c / float64(len(strangers)*len(strangers))
		}
	}
	return sum, nil
}

func cosines(ctx context.Context, m *onnx.Model, question string, sentences []string) ([]float64, error) {
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
