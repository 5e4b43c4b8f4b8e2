//go:build cgo && onnx

package onnx

import (
	"context"
	"os"
	"testing"

	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/modeldir"
	"github.com/waymark-rag/waymark/models"
)

// runtimeLibrary is where these tests find ONNX Runtime: a test binary has
// nothing beside it.
func runtimeLibrary() string {
	if path := os.Getenv("WAYMARK_ONNXRUNTIME"); path != "" {
		return path
	}
	return "../../.deps/lib"
}

// openDefault opens the default model, afresh because tests close it.
func openDefault(t testing.TB, threads int) *Model {
	t.Helper()
	return openWith(t, "", threads)
}

func openWith(t testing.TB, runtime Runtime, threads int) *Model {
	t.Helper()
	m, err := Open(context.Background(), models.Default(), &Options{Runtime: runtime, Library: runtimeLibrary(), Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// openParts opens the default model's tokenizer and encoder by themselves.
func openParts(t testing.TB, threads int) (*tokenizer, *encoder, landmark.Config) {
	t.Helper()
	spec, err := modeldir.Load(models.Default())
	if err != nil {
		t.Fatal(err)
	}
	tok := defaultTokenizer(t)
	enc, err := newEncoder(models.Default(), spec, Options{Library: runtimeLibrary(), Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := enc.close(); err != nil {
			t.Error(err)
		}
	})
	return tok, enc, spec.Config
}
