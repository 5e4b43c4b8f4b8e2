package langchain_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/waymark-rag/waymark/landmark/landmarktest"
	"github.com/waymark-rag/waymark/langchain"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
)

func TestSearchIsRefused(t *testing.T) {
	f := newFixture(t, nil)
	add(t, f, schema.Document{PageContent: "text", Metadata: map[string]any{"lang": "en"}})
	for _, tt := range []struct {
		query   string
		n       int
		options []vectorstores.Option
		want    string
	}{
		{"", 1, nil, "query is empty"},
		{" \t", 1, nil, "query is empty"},
		{"x", 0, nil, "search for 0 documents: want 1 or more"},
		{"x", -1, nil, "search for -1 documents"},
		{"x", 1, []vectorstores.Option{vectorstores.WithScoreThreshold(1.5)}, "score threshold 1.5: want -1 to 1"},
		{"x", 1, []vectorstores.Option{vectorstores.WithScoreThreshold(float32(nan()))}, "score threshold NaN"},
		{"x", 1, []vectorstores.Option{vectorstores.WithFilters("lang=en")}, "filters of type string"},
		{"x", 1, []vectorstores.Option{vectorstores.WithNameSpace("other")}, `name space "other": this store has no tenants`},
		{"x", 1, []vectorstores.Option{vectorstores.WithEmbedder(axes{})}, "the embedder langchain_test.axes given with the call"},
		{"x", 1, []vectorstores.Option{vectorstores.WithDeduplicater(func(context.Context, schema.Document) bool { return false })}, "WithDeduplicater"},
	} {
		docs, err := f.SimilaritySearch(t.Context(), tt.query, tt.n, tt.options...)
		wantError(t, err, tt.want)
		if docs != nil {
			t.Errorf("%q: documents beside an error", tt.want)
		}
	}
	_, err := f.SimilaritySearch(t.Context(), "x", 1, vectorstores.WithFilters(map[string]any{"author": "me"}))
	var unknown *retriever.UnknownKeyError
	if !errors.As(err, &unknown) || unknown.Key != "author" {
		t.Errorf("filter by an unknown key: %v", err)
	}
	wantError(t, err, `one of ["lang"]`, "only strings, bools, numbers, times and lists of strings")
}

func TestWithNameSpace(t *testing.T) {
	dir := t.TempDir()
	var opened []string
	model := landmarktest.New()
	s, err := langchain.NewVectorStore(langchain.Parts{
		Embedder: model,
		Chunker:  newChunker(t, model),
		Open: func(ctx context.Context, tenant string) (retriever.Store, error) {
			opened = append(opened, tenant)
			if tenant == "banned" {
				return nil, errors.New("not a customer")
			}
			return local.Open(ctx, filepath.Join(dir, "tenant-"+tenant+".db"), &local.Options{Create: true})
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tenant := range []string{"", "one", "two"} {
		if _, err := s.AddDocuments(t.Context(), []schema.Document{{PageContent: "the secret of tenant " + tenant}}, vectorstores.WithNameSpace(tenant)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tenant := range []string{"one", "two", ""} {
		got := find(t, s, "secret of tenant one two", 5, vectorstores.WithNameSpace(tenant))
		wantDiff(t, "found for "+tenant, []string{"the secret of tenant " + tenant}, texts(got))
	}
	wantDiff(t, "opened", []string{"", "one", "two"}, opened)
	for range 2 {
		_, err = s.SimilaritySearch(t.Context(), "x", 1, vectorstores.WithNameSpace("banned"))
		wantError(t, err, `name space "banned": not a customer`)
	}
	wantDiff(t, "opened after failures", []string{"", "one", "two", "banned", "banned"}, opened)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.SimilaritySearch(t.Context(), "x", 1); !errors.Is(err, retriever.ErrClosed) {
		t.Errorf("search after Close: %v", err)
	}
}

func TestWithScoreThreshold(t *testing.T) {
	store := openLocal(t)
	s, err := langchain.NewVectorStore(langchain.Parts{Embedder: axes{words: []string{"red", "blue"}}, Open: langchain.SingleTenant(store)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, schema.Document{PageContent: "red red"}, schema.Document{PageContent: "red blue"}, schema.Document{PageContent: "blue blue"})
	all := find(t, s, "red", 3)
	wantDiff(t, "without a threshold", []string{"red red", "red blue", "blue blue"}, texts(all))
	// One that equals a score keeps that document, whatever the rounding.
	for i, d := range all {
		got := find(t, s, "red", 3, vectorstores.WithScoreThreshold(d.Score))
		wantDiff(t, "threshold of a score", texts(all[:i+1]), texts(got))
	}
	if got := find(t, s, "red", 3, vectorstores.WithScoreThreshold(0.99999)); len(got) != 0 {
		t.Errorf("above all scores: %q", texts(got))
	}
}

func TestThresholdOfTheTemplateHoldsToo(t *testing.T) {
	least := 0.5
	store := openLocal(t)
	s, err := langchain.NewVectorStore(langchain.Parts{Embedder: axes{words: []string{"red", "blue"}}, Open: langchain.SingleTenant(store)},
		&langchain.VectorStoreOptions{Request: retriever.Request{MinScore: retriever.MinScore{Dense: &least}}})
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, schema.Document{PageContent: "red red"}, schema.Document{PageContent: "red blue"}, schema.Document{PageContent: "blue blue"})
	for threshold, want := range map[float32]int{0: 2, 0.1: 2, 0.9: 1} {
		if got := find(t, s, "red", 3, vectorstores.WithScoreThreshold(threshold)); len(got) != want {
			t.Errorf("threshold %v: %q, want %d", threshold, texts(got), want)
		}
	}
}

func TestWithDeduplicater(t *testing.T) {
	f := newFixture(t, nil)
	docs := []schema.Document{{PageContent: "first"}, {PageContent: "second"}, {PageContent: "third"}}
	ids, err := f.AddDocuments(t.Context(), docs, vectorstores.WithDeduplicater(func(_ context.Context, d schema.Document) bool {
		return d.PageContent == "second"
	}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.store.Fetch(t.Context(), ids, retriever.Want{Text: true})
	if err != nil || len(got) != 2 || got[0].Text != "first" || got[1].Text != "third" || count(t, f.store) != 2 {
		t.Errorf("stored %v, %v", got, err)
	}
}

func TestWithEmbedder(t *testing.T) {
	f := newFixture(t, nil)
	wrapped, err := langchain.NewEmbedder(f.model)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		option vectorstores.Option
		ok     bool
	}{
		"the model":          {vectorstores.WithEmbedder(f.model), true},
		"an Embedder of it":  {vectorstores.WithEmbedder(wrapped), true},
		"none":               {vectorstores.WithEmbedder(nil), true},
		"another model":      {vectorstores.WithEmbedder(landmarktest.New()), false},
		"one without an own": {vectorstores.WithEmbedder(axes{words: []string{"a"}}), false},
	} {
		_, err := f.AddDocuments(t.Context(), []schema.Document{{PageContent: "text"}}, tt.option)
		if (err == nil) != tt.ok {
			t.Errorf("%s: adding: %v", name, err)
		}
		_, err = f.SimilaritySearch(t.Context(), "text", 1, tt.option)
		if (err == nil) != tt.ok {
			t.Errorf("%s: searching: %v", name, err)
		}
	}
	for _, option := range []vectorstores.Option{vectorstores.WithScoreThreshold(0.5), vectorstores.WithFilters(map[string]any{})} {
		_, err := f.AddDocuments(t.Context(), []schema.Document{{PageContent: "text"}}, option)
		wantError(t, err, "leave WithFilters and WithScoreThreshold out")
	}
}
