package retriever

import (
	"math"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/chunker"
)

func TestVerify(t *testing.T) {
	doc := Document{
		ID: "a", Text: "onetwo",
		Vector: []float32{float32(3 / math.Sqrt(10)), float32(1 / math.Sqrt(10))},
		Chunks: []Chunk{
			{Text: chunker.Range{Start: 0, End: 3}, Source: chunker.Range{Start: 0, End: 3}, Vector: []float32{1, 0}, Norm: 3},
			{Text: chunker.Range{Start: 3, End: 6}, Source: chunker.Range{Start: 3, End: 6}, Vector: []float32{0, 1}, Norm: 1},
		},
	}
	if err := Verify(&doc, 1e-4); err != nil {
		t.Errorf("a sound document: %v", err)
	}
	for i := range doc.Vector {
		doc.Vector[i] *= 0.9995 // as rounding may leave it
	}
	if err := Verify(&doc, 1e-4); err != nil {
		t.Errorf("a vector a little too short: %v", err)
	}
	doc.Chunks[0].Norm = 1
	if err := Verify(&doc, 1e-4); err == nil || !strings.Contains(err.Error(), "cosine 0.89") {
		t.Errorf("norms that do not give the document vector: error %v", err)
	}
}
