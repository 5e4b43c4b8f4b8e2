package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/waymark-rag/waymark/retriever"
)

// version makes the nth version of a document: its number is in every part of
// it, and in the count of its chunks.
func version(id string, n int) retriever.Document {
	angle := float64(n) / 100
	v := unit(float32(math.Cos(angle)), float32(math.Sin(angle)), 0, 0)
	parts := make([]part, 1+n%5)
	for i := range parts {
		parts[i] = part{fmt.Sprintf("version%d chunk%d ", n, i), v}
	}
	return with(document(id, v, parts...), map[string]any{"version": n})
}

// testAtomicReplace lets readers look at a document while it is replaced: all
// they see of it must be of one version.
func testAtomicReplace(t *testing.T, at Open) {
	const versions, readers = 60, 3
	s := create(t, at, 4)
	upsert(t, s, version("d", 0))
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				checkWhole(t, s)
				if t.Failed() {
					return
				}
			}
		})
	}
	for n := 1; n <= versions && !t.Failed(); n++ {
		if err := s.Upsert(t.Context(), []retriever.Document{version("d", n)}); err != nil {
			t.Errorf("Upsert: %v", err)
		}
		// A call that starts now sees the new version.
		c, err := s.Candidates(t.Context(), retriever.Query{Words: fmt.Sprintf("version%d", n), Limit: 9})
		if err != nil || len(c.Lexical) != 1+n%5 {
			t.Errorf("after storing version %d its words find %d chunks, %v", n, len(c.Lexical), err)
		}
	}
	close(done)
	wg.Wait()
}

func checkWhole(t *testing.T, s retriever.Store) {
	docs, err := s.Fetch(t.Context(), []string{"d"}, all)
	if err != nil || len(docs) != 1 {
		t.Errorf("Fetch: %d documents, %v", len(docs), err)
		return
	}
	n, _ := docs[0].Metadata["version"].(int64)
	if d := diff(version("d", int(n)).Chunks, docs[0].Chunks); d != "" || docs[0].Text != version("d", int(n)).Text {
		t.Errorf("a mixture with version %d: %s", n, d)
	}
	q := retriever.Query{Vector: axis(0), Words: "chunk0", Limit: 20, Weights: retriever.Weights{Landmark: 1}}
	c, err := s.Candidates(t.Context(), q)
	if err != nil {
		t.Errorf("Candidates: %v", err)
		return
	}
	if len(c.Lexical) != 1 || len(c.Dense) == 0 {
		t.Errorf("found %d and %d chunks, want one version of the document", len(c.Dense), len(c.Lexical))
		return
	}
	found := int(math.Round(math.Acos(min(c.Dense[0].Score.Landmark, 1)) * 100))
	for _, c := range append(c.Dense, c.Lexical...) {
		if c.Score.Landmark != c.Score.Document || found > 10 && math.Abs(c.Score.Landmark-math.Cos(float64(found)/100)) > tolerance {
			t.Errorf("a chunk scores %v, its document %v, the first chunk like version %d: a mixture", c.Score.Landmark, c.Score.Document, found)
		}
	}
	if found > 10 && len(c.Dense) != 1+found%5 {
		t.Errorf("version %d came with %d chunks, want %d", found, len(c.Dense), 1+found%5)
	}
}

func testConcurrentUse(t *testing.T, at Open) {
	s := create(t, at, 4)
	ctx := t.Context()
	var wg sync.WaitGroup
	report := func(what string, err error) {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	const writers, rounds = 3, 15
	for w := range writers {
		wg.Go(func() {
			for n := range rounds {
				kept, gone := fmt.Sprintf("kept %d %d", w, n), fmt.Sprintf("gone %d", w)
				report("Upsert", s.Upsert(ctx, []retriever.Document{version(kept, n), version(gone, n)}))
				_, err := s.Delete(ctx, []string{gone})
				report("Delete", err)
			}
		})
		wg.Go(func() {
			for range rounds {
				_, err := s.Candidates(ctx, retriever.Query{Vector: axis(0), Words: "version3 chunk0", Limit: 5, Weights: retriever.Weights{Landmark: 1}})
				report("Candidates", err)
				_, err = scroll(ctx, s, retriever.Filter{})
				report("Scroll", err)
				_, err = s.Stats(ctx)
				report("Stats", err)
			}
		})
	}
	wg.Wait()
	if docs, _ := stats(t, s); docs != writers*rounds {
		t.Errorf("the store holds %d documents, want %d", docs, writers*rounds)
	}
	if c := candidates(t, s, retriever.Query{Vector: axis(0), Limit: 1000, PerDocument: 1}); len(c.Dense) != writers*rounds {
		t.Errorf("found %d documents, want %d", len(c.Dense), writers*rounds)
	}
}

// calls makes every call that takes a context.
func calls(ctx context.Context, s retriever.Store) map[string]error {
	out := make(map[string]error)
	out["Upsert"] = s.Upsert(ctx, []retriever.Document{version("new", 1)})
	_, out["Delete"] = s.Delete(ctx, []string{"a"})
	_, out["DeleteWhere"] = s.DeleteWhere(ctx, where("n", retriever.Gte, 0))
	_, out["Candidates"] = s.Candidates(ctx, retriever.Query{Vector: axis(0), Words: "letter", Limit: 1, Weights: retriever.Weights{Landmark: 1}})
	_, out["Fetch"] = s.Fetch(ctx, []string{"a"}, all)
	_, out["Scroll"] = scroll(ctx, s, retriever.Filter{})
	_, out["Stats"] = s.Stats(ctx)
	return out
}

func testCancelled(t *testing.T, at Open) {
	s := create(t, at, 4)
	letters(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range calls(ctx, s) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled context: %v, want context.Canceled", name, err)
		}
	}
	ids, err := scroll(t.Context(), s, retriever.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	wantDiff(t, "documents afterwards", []string{"a", "b", "c", "d", "e", "f"}, ids)
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range s.Scroll(ctx, retriever.Filter{}, retriever.Want{}) {
		last = err
		cancel()
	}
	if last != nil && !errors.Is(last, context.Canceled) {
		t.Errorf("cancelled within Scroll: %v", last)
	}
}

func testClosed(t *testing.T, at Open) {
	s := create(t, at, 4)
	letters(t, s)
	candidates(t, s, retriever.Query{Vector: axis(0)})
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	for name, err := range calls(t.Context(), s) {
		if !errors.Is(err, retriever.ErrClosed) {
			t.Errorf("%s of a closed store: %v, want ErrClosed", name, err)
		}
	}
}
