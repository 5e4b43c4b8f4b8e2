package langchain_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/landmarktest"
	"github.com/waymark-rag/waymark/langchain"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
)

// openLocal returns a new embedded store.
func openLocal(t testing.TB) *local.Store {
	t.Helper()
	s, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), &local.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// newChunker cuts as the tests expect, in the fake model's tokens.
func newChunker(t testing.TB, model *landmark.Model) *chunker.Chunker {
	t.Helper()
	c, err := chunker.New(model, chunker.Options{MaxTokens: 16})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fixture is a vector store on the fake model, and what it is made of.
type fixture struct {
	*langchain.VectorStore
	model *landmark.Model
	store retriever.Store
}

func newFixture(t testing.TB, opts *langchain.VectorStoreOptions) fixture {
	t.Helper()
	f := fixture{model: landmarktest.New(), store: openLocal(t)}
	var err error
	f.VectorStore, err = langchain.NewVectorStore(langchain.Parts{
		Embedder: f.model,
		Chunker:  newChunker(t, f.model),
		Open:     langchain.SingleTenant(f.store),
	}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f fixture) retriever(t testing.TB, opts *langchain.RetrieverOptions) *langchain.Retriever {
	t.Helper()
	r, err := langchain.NewRetriever(f.model, f.store, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func add(t testing.TB, s vectorstores.VectorStore, docs ...schema.Document) []string {
	t.Helper()
	ids, err := s.AddDocuments(t.Context(), docs)
	if err != nil {
		t.Fatal(err)
	}
	if len(ids) != len(docs) {
		t.Fatalf("added %d documents and got ids %q", len(docs), ids)
	}
	return ids
}

func find(t testing.TB, s vectorstores.VectorStore, query string, n int, options ...vectorstores.Option) []schema.Document {
	t.Helper()
	docs, err := s.SimilaritySearch(t.Context(), query, n, options...)
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

// stored reads a document as the store has it.
func stored(t testing.TB, s retriever.Store, id string) retriever.Document {
	t.Helper()
	docs, err := s.Fetch(t.Context(), []string{id}, retriever.Want{Text: true, Chunks: true, Vectors: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(docs) != 1 {
		t.Fatalf("the store holds %d documents with the id %q", len(docs), id)
	}
	return docs[0]
}

func count(t testing.TB, s retriever.Store) int {
	t.Helper()
	stats, err := s.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return stats.Documents
}

// users returns the caller's own part of metadata.
func users(metadata map[string]any) map[string]any {
	out := map[string]any{}
	for key, v := range metadata {
		if !strings.HasPrefix(key, "waymark.") {
			out[key] = v
		}
	}
	return out
}

func wantDiff(t testing.TB, what string, want, got any, opts ...cmp.Option) {
	t.Helper()
	if d := cmp.Diff(want, got, opts...); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q: want %q in it", err, p)
		}
	}
}

// axes is an embedder that knows no landmarks: a text is a vector over the words
// given, not of unit length. As langchaingo's own does, it takes line breaks out of
// the texts it is given, in place.
type axes struct {
	words []string
	calls *[][]string // the texts of every EmbedDocuments call
}

func (a axes) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range texts {
		texts[i] = strings.ReplaceAll(texts[i], "\n", " ")
		out[i] = a.vector(texts[i])
	}
	if a.calls != nil {
		*a.calls = append(*a.calls, texts)
	}
	return out, nil
}

func (a axes) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	return a.vector(text), nil
}

func (a axes) vector(text string) []float32 {
	v := make([]float32, len(a.words)+1)
	v[len(a.words)] = 0.5
	for i, w := range a.words {
		v[i] = 3 * float32(strings.Count(strings.ToLower(text), w))
	}
	return v
}

func norm(v []float32) float64 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

func nan() float64 { return math.NaN() }

func writeFile(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}
