//go:build cgo && onnx

package langchain_test

import (
	"os"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/schema"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark/onnx"
	"github.com/waymark-rag/waymark/langchain"
	"github.com/waymark-rag/waymark/models"
	"github.com/waymark-rag/waymark/retriever"
)

func openDefault(t *testing.T) *onnx.Model {
	t.Helper()
	library := os.Getenv("WAYMARK_ONNXRUNTIME")
	if library == "" {
		library = "../.deps/lib"
	}
	model, err := onnx.Open(t.Context(), models.Default(), &onnx.Options{Library: library})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	return model
}

// The whole of it with the default model: a folder through the loader into a store,
// questions through langchaingo's chain into answers that name their passages.
func TestDefaultModel(t *testing.T) {
	model := openDefault(t)
	split, err := chunker.New(model, chunker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db := openLocal(t)
	store, err := langchain.NewVectorStore(langchain.Parts{Embedder: model, Chunker: split, Open: langchain.SingleTenant(db)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const root = "../examples/handbook/operations/runbook.md"
	loader, err := langchain.NewLoader([]string{root}, nil)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := loader.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	add(t, store, docs...)

	r, err := langchain.NewRetriever(model, db, &langchain.RetrieverOptions{Request: retriever.Request{K: 5}, Labels: true})
	if err != nil {
		t.Fatal(err)
	}
	chain := chains.NewRetrievalQAFromLLM(langchain.NewExtractive(nil), r)
	chain.ReturnSourceDocuments = true
	out, err := chains.Call(t.Context(), chain, map[string]any{"query": "How many minutes did the batteries last at the test in 2032?"})
	if err != nil {
		t.Fatal(err)
	}
	answer, sources := out["text"].(string), out["source_documents"].([]schema.Document)
	if !strings.Contains(answer, "17 minutes") || !strings.HasSuffix(answer, "[1]") {
		t.Errorf("answer %q", answer)
	}
	m := sources[0].Metadata
	file, err := os.ReadFile(root)
	if err != nil {
		t.Fatal(err)
	}
	if source := string(file[m[langchain.MetaSourceStart].(int):m[langchain.MetaSourceEnd].(int)]); !strings.Contains(source, "17 minutes") {
		t.Errorf("the passage cited is %q", source)
	}

	// A similarity search has the same passage among its first.
	found := false
	for _, d := range find(t, store, "how long did the batteries last in the test of 2032", 3) {
		found = found || strings.Contains(d.PageContent, "17 minutes")
	}
	if !found {
		t.Error("the vector store does not find the passage")
	}
}

func TestDefaultModelsLandmarks(t *testing.T) {
	model := openDefault(t)
	e, err := langchain.NewEmbedder(model)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{strings.Repeat("The harbour bridge was opened in 1932. ", 40), "cat"}
	both, err := e.EmbedLandmarks(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := e.EmbedDocuments(t.Context(), texts[1:])
	if err != nil {
		t.Fatal(err)
	}
	wantDiff(t, "the vector alone and beside a long text", alone[0], both[1].Document)
	end := 0
	for _, c := range both[0].Chunks {
		if c.Start != end {
			t.Errorf("chunk %s starts elsewhere than at %d", c, end)
		}
		end = c.End
	}
	if end != len(texts[0]) || len(both[0].Landmarks) != len(both[0].Chunks) || len(both[0].Chunks) < 3 {
		t.Errorf("%d landmarks for %d chunks that end at %d of %d", len(both[0].Landmarks), len(both[0].Chunks), end, len(texts[0]))
	}
}
