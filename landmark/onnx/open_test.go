//go:build cgo && onnx

package onnx

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark/modeldir"
	"github.com/waymark-rag/waymark/landmark/modeldir/modeldirtest"
	"github.com/waymark-rag/waymark/models"
)

func TestOpenRefusals(t *testing.T) {
	whole := lookup().Bytes()
	for _, c := range []struct {
		name  string
		dir   func() fstest.MapFS
		words []string
	}{
		{"truncated graph", func() fstest.MapFS { return modeldirtest.SentenceTransformers(whole[:len(whole)/2], 3) }, []string{"onnx/model.onnx", "not a whole"}},
		// Whole as a protobuf message, with an operator nobody knows.
		{"graph that does not load", func() fstest.MapFS {
			g := lookup()
			return modeldirtest.SentenceTransformers([]byte(strings.ReplaceAll(string(g.Bytes()), "Identity", "Idontity")), 3)
		}, []string{"loading onnx/model.onnx", "Idontity"}},
		{"dimension of the states", func() fstest.MapFS { return modeldirtest.SentenceTransformers(whole, 4) }, []string{"4"}},
		{"tokenizer", func() fstest.MapFS {
			dir := modeldirtest.SentenceTransformers(whole, 3)
			dir["tokenizer.json"] = &fstest.MapFile{Data: []byte(`{"model":{"type":"New"}}`)}
			return dir
		}, []string{"tokenizer.json"}},
		{"golden vector", func() fstest.MapFS {
			dir, m := modeldirtest.Manifest(whole, 3)
			m["golden"] = modeldir.Golden{Text: "a", Chunks: []chunker.Range{{Start: 0, End: 1}}, Landmarks: [][]float32{{1, 0, 0}}, Document: []float32{1, 0, 0}, Tolerance: 0.01}
			dir["waymark.json"] = &fstest.MapFile{Data: modeldirtest.JSON(m)}
			return dir
		}, []string{"golden text's landmark 0", "cosine distance"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := openFS(t, c.dir())
			if err == nil {
				_, err = m.EmbedQuery(context.Background(), "a")
			}
			if err == nil {
				t.Fatalf("no error, want one with %q", c.words)
			}
			for _, w := range c.words {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q, want it to say %q", err, w)
				}
			}
		})
	}
	if environments.users != 0 {
		t.Errorf("%d holds on the environment are left", environments.users)
	}
	if _, err := Open(context.Background(), models.Default(), &Options{Threads: -1}); err == nil {
		t.Error("a negative number of threads was accepted")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(ctx, models.Default(), &Options{Library: runtimeLibrary()}); err == nil {
		t.Error("the golden check ran although the context was cancelled")
	}
}

// TestTexts encodes texts of all kinds with the default model.
func TestTexts(t *testing.T) {
	m := openDefault(t, 2)
	ctx := context.Background()
	long := prose(20_000)
	out, err := m.EmbedLandmarks(ctx, []string{"", "red\x00green\xff [SEP]", long, " \n"})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range out {
		if len(e.Landmarks) != len(e.Chunks) || len(e.Landmarks) == 0 {
			t.Errorf("text %d: %d landmarks for %d chunks", i, len(e.Landmarks), len(e.Chunks))
		}
	}
	if e := out[2]; e.Tokens < 20_000 || e.Chunks[len(e.Chunks)-1].End != len(long) || e.Windows < e.Tokens/512 {
		t.Errorf("the long text has %d tokens in %d windows up to byte %d of %d", e.Tokens, e.Windows, e.Chunks[len(e.Chunks)-1].End, len(long))
	}
	// Neither the batch nor the number of threads changes a vector.
	one := openDefault(t, 1)
	alone, err := one.EmbedLandmarks(ctx, []string{"red\x00green\xff [SEP]"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(out[1], alone[0]); diff != "" {
		t.Errorf("the vectors depend on the batch (-among others +alone):\n%s", diff)
	}
	ranges, err := m.Offsets("red green")
	if err != nil || len(ranges) != 2 {
		t.Errorf("offsets %v, error %v: want two", ranges, err)
	}
}
