package langchain_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/waymark-rag/waymark/landmark/landmarktest"
	"github.com/waymark-rag/waymark/langchain"
	"github.com/waymark-rag/waymark/retriever"
)

func TestConcurrentUse(t *testing.T) {
	model := landmarktest.New()
	var opened atomic.Int32
	s, err := langchain.NewVectorStore(langchain.Parts{
		Embedder: model,
		Chunker:  newChunker(t, model),
		Open: func(context.Context, string) (retriever.Store, error) {
			opened.Add(1)
			return openLocal(t), nil
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	shared := map[string]any{"tags": []string{"a"}, "deep": map[string]any{"n": 1}}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			tenant := vectorstores.WithNameSpace(fmt.Sprint(i % 2))
			docs := []schema.Document{{PageContent: fmt.Sprintf("The marker is word%d.", i), Metadata: shared}}
			if _, err := s.AddDocuments(t.Context(), docs, tenant); err != nil {
				t.Error(err)
			}
			got, err := s.SimilaritySearch(t.Context(), fmt.Sprintf("word%d", i), 1, tenant)
			if err != nil || got[0].PageContent != docs[0].PageContent {
				t.Errorf("%q, %v", texts(got), err)
				return
			}
			got[0].Metadata["tags"].([]string)[0] = "changed"
		})
	}
	wg.Wait()
	if n := opened.Load(); n != 2 {
		t.Errorf("opened %d stores, want one for each of 2 tenants", n)
	}
}

func TestAddGoesOnWhereItFailed(t *testing.T) {
	var calls [][]string
	store, limit := openLocal(t), 1
	e := badEmbedder{axes{words: []string{"line"}, calls: &calls}, func(v [][]float32) [][]float32 {
		if len(calls) > limit {
			return nil
		}
		return v
	}}
	s, err := langchain.NewVectorStore(langchain.Parts{Embedder: e, Open: langchain.SingleTenant(store)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	docs := make([]schema.Document, 12)
	for i := range docs {
		docs[i] = schema.Document{PageContent: fmt.Sprint(i, strings.Repeat(" line", 10_000))}
	}
	ids, err := s.AddDocuments(t.Context(), docs)
	wantError(t, err, "encoding 6 documents from", "0 vectors for 6 texts")
	if n := count(t, store); n != 6 || ids != nil {
		t.Errorf("%d documents stored, ids %q, %v", n, ids, err)
	}
	limit = 99
	add(t, s, docs...)
	if n := count(t, store); n != 12 || len(calls) != 3 || len(calls[2]) != 6 {
		t.Errorf("%d documents stored in %d calls", n, len(calls))
	}
}

func TestCancelled(t *testing.T) {
	f := guideFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.AddDocuments(ctx, []schema.Document{{PageContent: "new text"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("adding: %v", err)
	}
	if _, err := f.SimilaritySearch(ctx, "boat", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("searching: %v", err)
	}
	if _, err := f.retriever(t, nil).GetRelevantDocuments(ctx, "boat"); !errors.Is(err, context.Canceled) {
		t.Errorf("retrieving: %v", err)
	}
	if n := count(t, f.store); n != 2 {
		t.Errorf("the store holds %d documents, want 2", n)
	}
}

// TestOpeningHoldsUpNobodyElse: while the store of one tenant is opened, that of
// another can be used, and whoever waits for the first may give up.
func TestOpeningHoldsUpNobodyElse(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	model, plain, slow := landmarktest.New(), openLocal(t), openLocal(t)
	s, err := langchain.NewVectorStore(langchain.Parts{
		Embedder: model,
		Chunker:  newChunker(t, model),
		Open: func(_ context.Context, tenant string) (retriever.Store, error) {
			if tenant == "" {
				return plain, nil
			}
			close(begun)
			<-goOn
			return slow, nil
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, schema.Document{PageContent: "The lamp burns colza oil."})
	first := make(chan error)
	go func() {
		_, err := s.SimilaritySearch(t.Context(), "lamp", 1, vectorstores.WithNameSpace("slow"))
		first <- err
	}()
	<-begun
	if docs := find(t, s, "lamp", 1); len(docs) != 1 {
		t.Errorf("found %v in the store that is open", docs)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := s.SimilaritySearch(ctx, "lamp", 1, vectorstores.WithNameSpace("slow")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting for a store: %v, want that the time is over", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	close(goOn)
	if err := <-first; !errors.Is(err, retriever.ErrClosed) {
		t.Errorf("a store that opens once all are closed: %v, want %v", err, retriever.ErrClosed)
	}
	if _, err := slow.Stats(t.Context()); !errors.Is(err, retriever.ErrClosed) {
		t.Errorf("it is open still: %v", err)
	}
}
