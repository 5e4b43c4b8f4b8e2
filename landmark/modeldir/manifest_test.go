package modeldir_test

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/landmarktest"
	"github.com/waymark-rag/waymark/landmark/modeldir"
	"github.com/waymark-rag/waymark/landmark/modeldir/modeldirtest"
)

func TestManifestDefaults(t *testing.T) {
	dir, m := modeldirtest.Manifest(graph.Bytes(), 3)
	m["tokens"] = map[string]any{"landmark": 3}
	dir["waymark.json"] = &fstest.MapFile{Data: modeldirtest.JSON(m)}
	spec, err := modeldir.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := landmark.Config{Landmark: 3, CLS: -1, Pad: -1, Separator: -1, MaxLength: 32, Dim: 3}
	if diff := cmp.Diff(want, spec.Config); diff != "" {
		t.Errorf("config differs (-want +got):\n%s", diff)
	}
}

func TestManifestRefusals(t *testing.T) {
	golden := func(change func(g map[string]any)) map[string]any {
		g := map[string]any{
			"text": "a b", "chunks": []any{map[string]int{"start": 0, "end": 3}},
			"landmarks": [][]float32{{1, 0, 0}}, "document": []float32{1, 0, 0}, "tolerance": 0.01,
		}
		change(g)
		return g
	}
	for _, c := range []struct {
		name   string
		change func(m map[string]any)
		words  []string
	}{
		{"unknown key", func(m map[string]any) { m["poolling"] = "mean" }, []string{"waymark.json", `"poolling"`}},
		{"newer format", func(m map[string]any) { m["format"], m["novelty"] = 2, true }, []string{"format 2", "newer Waymark"}},
		{"no format", func(m map[string]any) { delete(m, "format") }, []string{"format 0", `"format": 1`}},
		{"wrong type", func(m map[string]any) { m["dimension"] = "3" }, []string{"waymark.json", "dimension"}},
		{"no name", func(m map[string]any) { delete(m, "name") }, []string{`"name"`}},
		{"no digest", func(m map[string]any) { m["weights"] = map[string]string{"file": "onnx/model.onnx"} }, []string{"sha256"}},
		{"other digest", func(m map[string]any) {
			m["weights"] = map[string]string{"file": "onnx/model.onnx", "sha256": "00"}
		}, []string{"sha256:00", "damaged"}},
		{"path outside", func(m map[string]any) {
			m["weights"] = map[string]string{"file": "../model.onnx", "sha256": "00"}
		}, []string{`"../model.onnx"`}},
		{"missing weights", func(m map[string]any) {
			m["weights"] = map[string]string{"file": "model.onnx", "sha256": "00"}
		}, []string{"model.onnx", "not exist"}},
		{"other dimension", func(m map[string]any) { m["dimension"] = 0 }, []string{"dimension 0"}},
		{"unknown style", func(m map[string]any) { m["style"] = "x" }, []string{`style "x"`, "paper"}},
		{"unknown output", func(m map[string]any) { m["output"] = "x" }, []string{`"x"`, "last_hidden_state"}},
		{"pad is landmark", func(m map[string]any) {
			m["tokens"] = map[string]int{"landmark": 3, "pad": 3}
		}, []string{"padding id"}},
		{"golden without tolerance", func(m map[string]any) {
			m["golden"] = golden(func(g map[string]any) { delete(g, "tolerance") })
		}, []string{"golden", "tolerance 0"}},
		{"golden of other dimension", func(m map[string]any) {
			m["golden"] = golden(func(g map[string]any) { g["landmarks"] = [][]float32{{1}} })
		}, []string{"golden", "1 values, want 3"}},
		{"golden without landmarks", func(m map[string]any) {
			m["golden"] = golden(func(g map[string]any) { g["landmarks"] = nil })
		}, []string{"0 landmarks for 1 chunks"}},
		{"golden document", func(m map[string]any) {
			m["golden"] = golden(func(g map[string]any) { g["document"] = nil })
		}, []string{"document vector has 0 values"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, m := modeldirtest.Manifest(graph.Bytes(), 3)
			c.change(m)
			dir["waymark.json"] = &fstest.MapFile{Data: modeldirtest.JSON(m)}
			_, err := modeldir.Load(dir)
			wantError(t, err, c.words...)
		})
	}
	t.Run("something after", func(t *testing.T) {
		dir, m := modeldirtest.Manifest(graph.Bytes(), 3)
		dir["waymark.json"] = &fstest.MapFile{Data: append(modeldirtest.JSON(m), "{}"...)}
		_, err := modeldir.Load(dir)
		wantError(t, err, "follows")
	})
	t.Run("no tokenizer", func(t *testing.T) {
		dir, _ := modeldirtest.Manifest(graph.Bytes(), 3)
		delete(dir, "tokenizer.json")
		_, err := modeldir.Load(dir)
		wantError(t, err, "tokenizer.json")
	})
	t.Run("quantised batches", func(t *testing.T) {
		g := graph
		g.Inputs = []string{"position_ids"}
		data := append(g.Bytes(), modeldirtest.Comment("DynamicQuantizeLinear")...)
		dir, _ := modeldirtest.Manifest(data, 3)
		_, err := modeldir.Load(dir)
		wantError(t, err, "one_per_batch", "neighbours")
	})
}

func TestGoldenCheck(t *testing.T) {
	ctx := context.Background()
	m := landmarktest.New()
	text := "one two three. four five six."
	chunks := []chunker.Range{{Start: 0, End: 15}, {Start: 15, End: len(text)}}
	out, err := m.Encode(ctx, []landmark.Input{{Text: text, Chunks: chunks}})
	if err != nil {
		t.Fatal(err)
	}
	golden := func() *modeldir.Golden {
		return &modeldir.Golden{Text: text, Chunks: chunks, Landmarks: [][]float32{out[0].Landmarks[0], out[0].Landmarks[1]}, Document: out[0].Document, Tolerance: 0.001}
	}
	if err := golden().Check(ctx, m); err != nil {
		t.Errorf("the model's own vectors: %v", err)
	}
	g := golden()
	g.Landmarks[0], g.Landmarks[1] = g.Landmarks[1], g.Landmarks[0]
	wantError(t, g.Check(ctx, m), "landmark 0", "cosine distance")
	g = golden()
	g.Document = g.Landmarks[0]
	wantError(t, g.Check(ctx, m), "document vector", "cosine distance")
	g = golden()
	g.Document = make([]float32, len(g.Document))
	wantError(t, g.Check(ctx, m), "NaN")
	g = golden()
	g.Chunks = g.Chunks[1:]
	wantError(t, g.Check(ctx, m), "golden text")
}
