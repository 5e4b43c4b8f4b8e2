//go:build cgo && onnx

package onnx

import (
	"context"
	"testing"

	"github.com/waymark-rag/waymark/models"
)

// TestModels opens every model that ships. Opening checks the golden vectors,
// which training wrote, against what the graph gives here.
func TestModels(t *testing.T) {
	for _, name := range models.Names() {
		t.Run(name, func(t *testing.T) {
			fsys, err := models.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			m, err := Open(context.Background(), fsys, &Options{Library: runtimeLibrary(), Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
