package retriever

import (
	"fmt"
	"math"
)

// Verify checks that a document fetched with all its parts is consistent: what
// Check asks, and that its vector is the direction of the mean of its chunks' raw
// states, as landmark pooling makes it. Stores round vectors, so the cosine of
// the two may fall short of 1 by tolerance.
func Verify(doc *Document, tolerance float64) error {
	if err := Check(doc, len(doc.Vector)); err != nil {
		return err
	}
	mean := make([]float64, len(doc.Vector))
	for _, c := range doc.Chunks {
		for k, x := range c.Vector {
			mean[k] += float64(x) * float64(c.Norm)
		}
	}
	var dot, norm, own float64
	for k, x := range mean {
		y := float64(doc.Vector[k]) // rounded, so not quite of length 1
		dot += x * y
		norm += x * x
		own += y * y
	}
	if cosine := dot / math.Sqrt(norm*own); !(cosine >= 1-tolerance) {
		return fmt.Errorf("document %q: its vector has cosine %.6f with the mean of its landmarks, want 1 within %g: index it again", doc.ID, cosine, tolerance)
	}
	return nil
}
