//go:build cgo && onnx

package onnx_test

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/onnx"
	"github.com/waymark-rag/waymark/models"
)

func ExampleOpen() {
	ctx := context.Background()
	library := cmp.Or(os.Getenv("WAYMARK_ONNXRUNTIME"), "../../.deps/lib")
	m, err := onnx.Open(ctx, models.Default(), &onnx.Options{Library: library})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	out, err := m.Encode(ctx, []landmark.Input{{Text: "The harbour bridge was opened in 1932."}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %d landmark, %d dimensions\n", m.Name, len(out[0].Landmarks), len(out[0].Document))
	// Output: waymark-e5-small: 1 landmark, 384 dimensions
}
