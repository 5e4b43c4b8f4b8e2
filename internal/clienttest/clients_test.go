//go:build clients && cgo && onnx

package clienttest

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/internal/pythontest"
	"github.com/waymark-rag/waymark/internal/waymarktest"
)

var update = flag.Bool("update", false, "write what the clients got to testdata/clients.json")

var environment = pythontest.Environment{Name: "clients", Folder: "internal/clienttest/engine"}

const (
	key      = "open-sesame"
	question = "How often is the boiler serviced?"
)

// results are what clients.py prints. What is the same every time is compared as
// a whole, vectors with those that the server gives without a client.
type results struct {
	Vectors     map[string][][]float64 `json:"vectors"` // by client
	OpenAIQuery []float64              `json:"openai_query"`
	TEIQuery    []float64              `json:"tei_query"`
	Texts       []string               `json:"texts"`
}

func TestClients(t *testing.T) {
	waymark := waymarktest.Build(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "boiler.md"), []byte("# Boiler\n\nThe boiler is serviced every second autumn.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	store := "local:" + filepath.Join(t.TempDir(), "index.db")
	waymark.Run(t, "index", "--store", store, dir)
	base := waymark.Serve(t, "clients read - "+key, "--store", store)

	cmd, err := environment.Command("clients.py", base, key, question)
	if err != nil {
		t.Fatal(err)
	}
	var messages bytes.Buffer
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("clients.py: %v\n%s", err, &messages)
	}
	if dir := os.Getenv("WAYMARK_TEST_CLIENTS"); dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "clients.json"), out, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var got results
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	checkVectors(t, base, got)
	checkGolden(t, strings.ReplaceAll(string(out), base, "http://waymark"))
}

// checkVectors holds that every client has the vectors of the server.
func checkVectors(t *testing.T, base string, got results) {
	t.Helper()
	if len(got.Vectors) != 4 || len(got.Texts) != 2 {
		t.Fatalf("%d clients, %d texts", len(got.Vectors), len(got.Texts))
	}
	want := embed(t, base, "document", got.Texts)
	for client, vectors := range got.Vectors {
		if len(vectors) != len(want) {
			t.Errorf("%s: %d vectors, want %d", client, len(vectors), len(want))
			continue
		}
		for i := range want {
			same(t, client, vectors[i], want[i])
		}
	}
	query := embed(t, base, "query", got.Texts[1:])[0]
	same(t, "openai, query", got.OpenAIQuery, query)
	if cmp.Equal(query, want[1]) {
		t.Error("a query has the vector of a document: the model reads the two differently")
	}
	// LlamaIndex's TEI client has no word for a query: docs/clients.md says so.
	same(t, "LlamaIndex TEI, query", got.TEIQuery, want[1])
}

func same(t *testing.T, client string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) || len(got) == 0 {
		t.Errorf("%s: %d numbers, want %d", client, len(got), len(want))
		return
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-6 {
			t.Errorf("%s: number %d is %g, want %g", client, i, got[i], want[i])
			return
		}
	}
}

// embed asks the server without a client.
func embed(t *testing.T, base, kind string, texts []string) [][]float64 {
	t.Helper()
	body, err := json.Marshal(map[string]any{"input": texts, "input_type": kind})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), "POST", base+"/v1/embeddings", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var reply struct {
		Data []struct{ Embedding []float64 }
	}
	if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil || len(reply.Data) != len(texts) {
		t.Fatalf("status %d, %d vectors of %d texts, %v", resp.StatusCode, len(reply.Data), len(texts), err)
	}
	var out [][]float64
	for _, d := range reply.Data {
		out = append(out, d.Embedding)
	}
	return out
}

// checkGolden compares all but the vectors, and the scores that are made of them,
// with testdata/clients.json.
func checkGolden(t *testing.T, out string) {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatal(err)
	}
	delete(all, "vectors")
	delete(all, "openai_query")
	delete(all, "tei_query")
	without(all, "score", "rule")
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	golden := filepath.Join("testdata", "clients.json")
	if *update {
		if err := os.WriteFile(golden, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("what the clients got (-want +got; -update writes it):\n%s", diff)
	}
	chat, stream := all["chat"].(map[string]any), all["stream"].(map[string]any)
	for _, key := range []string{"text", "finish", "total_tokens", "annotations", "citations", "waymark"} {
		if diff := cmp.Diff(chat[key], stream[key]); diff != "" || chat[key] == nil {
			t.Errorf("%s of the chat and its stream (-chat +stream):\n%s", key, diff)
		}
	}
}

// without removes keys at any depth.
func without(v any, keys ...string) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range keys {
			delete(v, key)
		}
		for _, child := range v {
			without(child, keys...)
		}
	case []any:
		for _, child := range v {
			without(child, keys...)
		}
	}
}
