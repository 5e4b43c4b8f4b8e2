//go:build cgo && onnx

package onnx

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/modeldir"
	"github.com/waymark-rag/waymark/models"
)

var update = flag.Bool("update", false, "write the golden vectors of the default model anew")

// goldenText has three chunks of unlike subject, so that a vector read at
// another landmark is far off.
var goldenText = [...]string{
	"The harbour bridge was opened in 1932 and carries eight lanes of traffic. It is painted every ten years.\n\n",
	"Ferries to the islands leave from the north quay at seven in the morning; tickets are sold on board.\n\n",
	"Bread keeps best in a cloth bag. Re-heat it at 180 °C for five minutes.",
}

// TestGolden holds the golden vectors of the default model to what the graph
// gives, closer than their own tolerance, which is for other processors.
func TestGolden(t *testing.T) {
	tok, enc, cfg := openParts(t, 1)
	m, err := landmark.New(tok, enc, cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		writeGolden(t, m)
		return
	}
	spec, err := modeldir.Load(models.Default())
	if err != nil {
		t.Fatal(err)
	}
	if spec.Golden == nil {
		t.Fatal("the default model has no golden text: run with -update")
	}
	if err := spec.Golden.Check(context.Background(), m); err != nil {
		t.Error(err)
	}
}

func writeGolden(t *testing.T, m *landmark.Model) {
	g := modeldir.Golden{Tolerance: 0.01}
	for _, part := range goldenText {
		start := len(g.Text)
		g.Text += part
		g.Chunks = append(g.Chunks, chunker.Range{Start: start, End: len(g.Text)})
	}
	out, err := m.Encode(context.Background(), []landmark.Input{{Text: g.Text, Chunks: g.Chunks}})
	if err != nil {
		t.Fatal(err)
	}
	g.Landmarks, g.Document = out[0].Landmarks, out[0].Document
	golden, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "..", "models", models.DefaultName, "waymark.json")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The golden object is the last key, on a line of its own.
	const key = "  \"golden\": "
	if i := bytes.Index(file, []byte(",\n"+key)); i >= 0 {
		file = append(file[:i], "\n}\n"...)
	}
	file = append(bytes.TrimSuffix(file, []byte("\n}\n")), ",\n"+key...)
	file = append(append(file, golden...), "\n}\n"...)
	if err := os.WriteFile(path, file, 0o644); err != nil {
		t.Fatal(err)
	}
}
