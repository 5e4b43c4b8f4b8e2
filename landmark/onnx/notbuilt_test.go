//go:build !cgo || !onnx

package onnx

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestNotBuilt(t *testing.T) {
	m, err := Open(context.Background(), fstest.MapFS{}, nil)
	if m != nil || !errors.Is(err, ErrNotBuilt) {
		t.Fatalf("model %v and error %v, want ErrNotBuilt", m, err)
	}
	if !strings.Contains(err.Error(), "make build") {
		t.Errorf("error %q does not say how to build", err)
	}
}

// TestNative stands for the tests that need native code, so that a run without
// them shows; under CI it fails.
func TestNative(t *testing.T) {
	const why = "built without native code: run with cgo and -tags onnx, see make env"
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}
