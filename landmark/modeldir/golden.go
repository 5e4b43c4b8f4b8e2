package modeldir

import (
	"context"
	"fmt"
	"math"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark"
)

// Golden is a text with the vectors that a model must give it. It tells a wrong
// graph, tokenizer, pooling or runtime before anything is indexed with it.
type Golden struct {
	Text      string          `json:"text"`
	Chunks    []chunker.Range `json:"chunks"`
	Landmarks [][]float32     `json:"landmarks"`
	Document  []float32       `json:"document"`
	// Tolerance is the largest cosine distance to the given vectors that is
	// taken for rounding on another processor.
	Tolerance float64 `json:"tolerance"`
}

func (g *Golden) validate(dim int) error {
	if len(g.Chunks) == 0 || len(g.Landmarks) != len(g.Chunks) {
		return fmt.Errorf("%d landmarks for %d chunks: want one for each, and at least one", len(g.Landmarks), len(g.Chunks))
	}
	for i, v := range g.Landmarks {
		if len(v) != dim {
			return fmt.Errorf("landmark %d has %d values, want %d", i, len(v), dim)
		}
	}
	if len(g.Document) != dim {
		return fmt.Errorf("the document vector has %d values, want %d", len(g.Document), dim)
	}
	if !(g.Tolerance > 0 && g.Tolerance < 1) {
		return fmt.Errorf("tolerance %v: want a cosine distance between 0 and 1, such as 0.01", g.Tolerance)
	}
	return nil
}

// Check encodes the text with m and compares.
func (g *Golden) Check(ctx context.Context, m *landmark.Model) error {
	got, err := m.Encode(ctx, []landmark.Input{{Text: g.Text, Chunks: g.Chunks}})
	if err != nil {
		return fmt.Errorf("encoding the golden text: %w", err)
	}
	for i, want := range g.Landmarks {
		if d := distance(got[0].Landmarks[i], want); !(d <= g.Tolerance) {
			return fmt.Errorf("the golden text's landmark %d has cosine distance %.4f to the recorded one, at most %v is rounding: the graph, the tokenizer or the settings are not those the model was made with", i, d, g.Tolerance)
		}
	}
	if d := distance(got[0].Document, g.Document); !(d <= g.Tolerance) {
		return fmt.Errorf("the golden text's document vector has cosine distance %.4f to the recorded one, at most %v is rounding: the graph, the tokenizer or the settings are not those the model was made with", d, g.Tolerance)
	}
	return nil
}

func distance(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot += x * y
		aa += x * x
		bb += y * y
	}
	return 1 - dot/math.Sqrt(aa*bb)
}
