//go:build cgo && onnx

package onnx

import (
	"context"
	"fmt"
	"testing"

	"github.com/waymark-rag/waymark/landmark"
)

// BenchmarkEncode encodes full windows of the default model.
func BenchmarkEncode(b *testing.B) {
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			m := openDefault(b, threads)
			input := []landmark.Input{{Text: prose(4 * 512)}}
			tokens := 0
			for b.Loop() {
				out, err := m.Encode(context.Background(), input)
				if err != nil {
					b.Fatal(err)
				}
				tokens += out[0].Encoded
			}
			b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}
