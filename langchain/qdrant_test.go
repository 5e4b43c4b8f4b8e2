package langchain_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/waymark-rag/waymark/internal/qdranttest"
	"github.com/waymark-rag/waymark/landmark/landmarktest"
	"github.com/waymark-rag/waymark/langchain"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/qdrant"
)

// overQdrant is a vector store in a Qdrant collection with tenants.
func overQdrant(t *testing.T) *langchain.VectorStore {
	t.Helper()
	address, name, model := qdranttest.Shared(t), qdranttest.Collection(t), landmarktest.New()
	s, err := langchain.NewVectorStore(langchain.Parts{
		Embedder: model,
		Chunker:  newChunker(t, model),
		Open: func(ctx context.Context, tenant string) (retriever.Store, error) {
			fingerprint := retriever.Fingerprint{Model: "fake", Dim: model.Config().Dim}
			return qdrant.Open(ctx, address, name, &qdrant.Options{Create: true, Fingerprint: fingerprint, Tenant: tenant})
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestQdrantKeepsMetadata(t *testing.T) {
	s := overQdrant(t)
	add(t, s, schema.Document{PageContent: "some text", Metadata: values()}, schema.Document{PageContent: "other text"})
	got := find(t, s, "text", 2)
	if len(got) != 2 {
		t.Fatalf("found %q", texts(got))
	}
	for _, d := range got {
		want := values()
		if d.PageContent == "other text" {
			want = map[string]any{}
		}
		wantDiff(t, d.PageContent, want, users(d.Metadata))
	}
	for key, filter := range map[string]any{
		"int32": int32(-32), "float32": float32(0.1), "bool": true, "any strings": "b", "time": map[string]any{"$gte": values()["time"], "$lte": values()["time"]}, "strings": map[string]any{"$in": []string{"b", "z"}},
	} {
		if got := find(t, s, "text", 2, vectorstores.WithFilters(map[string]any{key: filter})); len(got) != 1 || got[0].PageContent != "some text" {
			t.Errorf("filter by %s: %q", key, texts(got))
		}
	}
	_, err := s.SimilaritySearch(t.Context(), "text", 1, vectorstores.WithFilters(map[string]any{"nosuch": 1}))
	wantError(t, err, `filter on "nosuch"`, "only strings, bools")
	if err != nil && strings.Contains(err.Error(), "waymark.values") {
		t.Errorf("error %q names an inner key", err)
	}
}

func TestQdrantTenantsAndChain(t *testing.T) {
	s := overQdrant(t)
	for tenant, text := range map[string]string{"north": boatAnswer, "south": "The key of the boat house lies under a stone."} {
		if _, err := s.AddDocuments(t.Context(), []schema.Document{{PageContent: text}}, vectorstores.WithNameSpace(tenant)); err != nil {
			t.Fatal(err)
		}
	}
	chain := chains.NewRetrievalQAFromLLM(langchain.NewExtractive(nil), vectorstores.ToRetriever(s, 3, vectorstores.WithNameSpace("north")))
	got, err := chains.Run(t.Context(), chain, "Where is the key of the boat house?")
	if err != nil || got != boatAnswer {
		t.Errorf("answer %q, %v", got, err)
	}
	if got := find(t, s, "key", 3); len(got) != 0 {
		t.Errorf("the plain store holds %q", texts(got))
	}
}

// Both stores find the same, with the same metadata.
func TestQdrantFindsWhatTheLocalStoreFinds(t *testing.T) {
	docs := []schema.Document{
		{PageContent: guide, Metadata: map[string]any{"id": "guide.md", "title": "Guide", "format": "markdown", "n": 1}},
		{PageContent: strings.Repeat("Filler about the village. ", 40) + "The boat is old.", Metadata: map[string]any{"id": "village"}},
		{PageContent: "Bread is baked on Tuesdays in the village.", Metadata: map[string]any{"id": "bread"}},
	}
	f, q := newFixture(t, nil), overQdrant(t)
	add(t, f, docs...)
	add(t, q, docs...)
	for _, query := range []string{"boat house key", "old boat", "bread", "colza oil"} {
		near := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-3 && b-a < 1e-3 })
		near32 := cmp.Comparer(func(a, b float32) bool { return a-b < 1e-3 && b-a < 1e-3 })
		rule := cmp.FilterPath(func(p cmp.Path) bool { return strings.Contains(p.GoString(), langchain.MetaRule) }, cmp.Ignore()) // scores as text
		wantDiff(t, query, find(t, f, query, 3), find(t, q, query, 3), near, near32, rule)
	}
}
