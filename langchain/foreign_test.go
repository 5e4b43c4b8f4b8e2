package langchain_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/schema"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/langchain"
	"github.com/waymark-rag/waymark/retriever"
)

func TestForeignEmbedder(t *testing.T) {
	store := openLocal(t)
	s, err := langchain.NewVectorStore(langchain.Parts{Embedder: axes{words: []string{"red", "blue"}}, Open: langchain.SingleTenant(store)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("red and blue,\n", 300)
	ids := add(t, s, schema.Document{PageContent: text, Metadata: map[string]any{"n": 7}}, schema.Document{PageContent: "blue"})
	d := stored(t, store, ids[0])
	if len(d.Chunks) != 1 || d.Chunks[0].Text != (chunker.Range{Start: 0, End: len(text)}) || d.Text != text {
		t.Errorf("stored as %d chunks, %q", len(d.Chunks), d.Text[:40])
	}
	if n := norm(d.Vector); n < 0.999 || n > 1.001 || !slices.Equal(d.Vector, d.Chunks[0].Vector) {
		t.Errorf("the document's vector %v has length %v, its chunk's is %v", d.Vector, n, d.Chunks[0].Vector)
	}
	if err := retriever.Verify(&d, 1e-3); err != nil {
		t.Error(err)
	}
	got := find(t, s, "red", 2)
	if got[0].PageContent != text || got[0].Metadata["n"] != 7 || got[0].Metadata["waymark.last_line"] != 300 {
		t.Errorf("found %v", got[0].Metadata)
	}
	r, err := langchain.NewRetriever(axes{words: []string{"red", "blue"}}, store, nil)
	if err != nil {
		t.Fatal(err)
	}
	if docs, err := r.GetRelevantDocuments(t.Context(), "blue"); err != nil || docs[0].PageContent != "blue" {
		t.Errorf("retriever: %q, %v", texts(docs), err)
	}
}

// badEmbedder breaks the contract of embeddings.Embedder in the way that it is told.
type badEmbedder struct {
	axes
	vectors func([][]float32) [][]float32
}

func (b badEmbedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	v, err := b.axes.EmbedDocuments(ctx, texts)
	return b.vectors(v), err
}

func TestForeignEmbedderThatFails(t *testing.T) {
	for want, change := range map[string]func([][]float32) [][]float32{
		"1 vectors for 2 texts":      func(v [][]float32) [][]float32 { return v[1:] },
		"text 1: ":                   func(v [][]float32) [][]float32 { v[1] = make([]float32, 3); return v },
		"a vector of length 0":       func(v [][]float32) [][]float32 { v[0] = make([]float32, 3); return v },
		"an empty vector":            func(v [][]float32) [][]float32 { v[0] = nil; return v },
		"a vector of length NaN":     func(v [][]float32) [][]float32 { v[0][0] = float32(nan()); return v },
		"vector of length 4: want 3": func(v [][]float32) [][]float32 { v[1] = append(v[1], 1); return v },
	} {
		store := openLocal(t)
		s, err := langchain.NewVectorStore(langchain.Parts{Embedder: badEmbedder{axes{words: []string{"red", "blue"}}, change}, Open: langchain.SingleTenant(store)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.AddDocuments(t.Context(), []schema.Document{{PageContent: "red"}, {PageContent: "blue"}})
		wantError(t, err, want)
		if n := count(t, store); n != 0 {
			t.Errorf("%s: %d documents stored", want, n)
		}
	}
}
