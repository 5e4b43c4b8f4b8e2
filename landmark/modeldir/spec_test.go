package modeldir_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/modeldir"
	"github.com/waymark-rag/waymark/landmark/modeldir/modeldirtest"
	"github.com/waymark-rag/waymark/models"
)

var graph = modeldirtest.Graph{Table: [][]float32{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {1, 0, 0}}}

func ExampleLoad() {
	spec, err := modeldir.Load(models.Default())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(spec.Name, spec.Config.Pooling, spec.Config.Dim, spec.Graph.File)
	// Output: waymark-e5-small landmark 384 onnx/model_qint8.onnx
}

func TestDefaultModel(t *testing.T) {
	for _, name := range models.Names() {
		fsys, err := models.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		spec, err := modeldir.Load(fsys)
		if err != nil {
			t.Fatal(err)
		}
		if spec.Name != name || spec.Golden == nil || len(spec.Notes) > 0 {
			t.Errorf("model %q calls itself %q, golden %v, notes %q", name, spec.Name, spec.Golden != nil, spec.Notes)
		}
	}
	if _, err := models.Open("other"); err == nil {
		t.Error("an unknown model was opened")
	}
	spec, err := modeldir.Load(models.Default())
	if err != nil {
		t.Fatal(err)
	}
	want := landmark.Config{
		Style: landmark.Paper, Pooling: landmark.Landmark, Base: landmark.Landmark,
		Landmark: 102, CLS: 101, Pad: 0, Separator: 102,
		Interval: 128, MaxLength: 512, Dim: 384,
		QueryPrefix: "query: ", DocumentPrefix: "passage: ", OnePerBatch: true,
	}
	if diff := cmp.Diff(want, spec.Config); diff != "" {
		t.Errorf("config differs (-want +got):\n%s", diff)
	}
	if !spec.Graph.Gathers || !spec.Graph.Quantised || spec.Graph.Output != "landmark_states" {
		t.Errorf("graph gathers %v, quantised %v, output %q", spec.Graph.Gathers, spec.Graph.Quantised, spec.Graph.Output)
	}
}

// without is a file system that lacks a file.
type without struct {
	fs.FS
	file string
}

func (w without) Open(name string) (fs.File, error) {
	if name == w.file {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return w.FS.Open(name)
}

// TestDefaultAsSentenceTransformers reads the default model by its
// sentence-transformers files alone, which differ in style only.
func TestDefaultAsSentenceTransformers(t *testing.T) {
	want, err := modeldir.Load(models.Default())
	if err != nil {
		t.Fatal(err)
	}
	got, err := modeldir.Load(without{models.Default(), "waymark.json"})
	if err != nil {
		t.Fatal(err)
	}
	want.Config.Style = landmark.ST
	want.Name, want.Golden = "", nil
	if !bytes.Equal(want.Graph.Data, got.Graph.Data) {
		t.Error("the graphs differ")
	}
	want.Graph.Data, got.Graph.Data = nil, nil // too large for a diff
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spec differs (-want +got):\n%s", diff)
	}
}

func TestTokenizerIsNotTruncating(t *testing.T) {
	dir, _ := modeldirtest.Manifest(graph.Bytes(), 3)
	spec, err := modeldir.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var before, after map[string]any
	if err := json.Unmarshal(modeldirtest.Tokenizer(), &before); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(spec.Tokenizer, &after); err != nil {
		t.Fatal(err)
	}
	before["truncation"], before["padding"] = nil, nil
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("tokenizer.json differs in more than truncation and padding (-want +got):\n%s", diff)
	}
}

func TestExternalDataCountsInDigest(t *testing.T) {
	g := graph
	g.External = "model.onnx_data"
	load := func(data string) *modeldir.Spec {
		t.Helper()
		dir := modeldirtest.SentenceTransformers(g.Bytes(), 3)
		dir["onnx/model.onnx_data"] = &fstest.MapFile{Data: []byte(data)}
		spec, err := modeldir.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		return spec
	}
	one, other := load("weights"), load("other weights")
	if one.Digest == other.Digest {
		t.Errorf("both have the digest %s", one.Digest)
	}
	if diff := cmp.Diff([]string{"onnx/model.onnx_data"}, one.Graph.External); diff != "" {
		t.Errorf("external files differ (-want +got):\n%s", diff)
	}
	_, err := modeldir.Load(modeldirtest.SentenceTransformers(g.Bytes(), 3))
	wantError(t, err, "external data", "model.onnx_data")
	g.External = "../../secret"
	_, err = modeldir.Load(modeldirtest.SentenceTransformers(g.Bytes(), 3))
	wantError(t, err, "outside the model directory")
}

// wantError checks that an error says each of the words.
func wantError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q, want it to say %q", err, w)
		}
	}
}

func TestGraphRefusals(t *testing.T) {
	whole := graph.Bytes()
	for _, c := range []struct {
		name  string
		graph []byte
		words []string
	}{
		{"pooled output", modeldirtest.Graph{Table: graph.Table, Pooled: true}.Bytes(), []string{"last_hidden_state", "rank 2", "want float32 of rank 3"}},
		{"unknown output", modeldirtest.Graph{Table: graph.Table, Output: "logits"}.Bytes(), []string{"logits", "last_hidden_state", "token_embeddings"}},
		{"unknown input", modeldirtest.Graph{Table: graph.Table, Inputs: []string{"pixel_values"}}.Bytes(), []string{"pixel_values", "input_ids"}},
		{"truncated", whole[:len(whole)-9], []string{"not a whole ONNX file", "ends early"}},
		{"empty", nil, []string{"no graph"}},
		{"text", []byte("version https://git-lfs"), []string{"not a whole ONNX file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := modeldir.Load(modeldirtest.SentenceTransformers(c.graph, 3))
			wantError(t, err, append(c.words, "onnx/model.onnx")...)
		})
	}
}

func TestNoModelDirectory(t *testing.T) {
	_, err := modeldir.Load(fstest.MapFS{"README.md": {}})
	wantError(t, err, "waymark.json", "modules.json")
}

// FuzzLoad puts arbitrary bytes in the place of one file of a directory.
func FuzzLoad(f *testing.F) {
	manifest, _ := modeldirtest.Manifest(graph.Bytes(), 3)
	sentence := modeldirtest.SentenceTransformers(graph.Bytes(), 3)
	seeds := []struct {
		dir  fstest.MapFS
		file string
	}{
		{manifest, "waymark.json"}, {manifest, "tokenizer.json"}, {manifest, "onnx/model.onnx"},
		{sentence, "modules.json"}, {sentence, "1_Pooling/config.json"}, {sentence, "sentence_bert_config.json"},
		{sentence, "tokenizer_config.json"}, {sentence, "config.json"}, {sentence, "tokenizer.json"}, {sentence, "onnx/model.onnx"},
	}
	for i, s := range seeds {
		f.Add(uint8(i), s.dir[s.file].Data)
		f.Add(uint8(i), bytes.ReplaceAll(s.dir[s.file].Data, []byte("false"), []byte("null")))
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		s := seeds[int(which)%len(seeds)]
		dir := make(fstest.MapFS)
		for name, file := range s.dir {
			dir[name] = file
		}
		dir[s.file] = &fstest.MapFile{Data: data}
		spec, err := modeldir.Load(dir)
		if (spec == nil) == (err == nil) {
			t.Fatalf("spec %v and error %v", spec, err)
		}
		if err == nil && spec.Config.Validate() != nil {
			t.Fatalf("the config is not valid: %v", spec.Config.Validate())
		}
	})
}
