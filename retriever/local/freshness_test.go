package local

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/retriever"
)

// find returns "document/chunk" of everything that matches.
func find(t *testing.T, s *Store) []string {
	t.Helper()
	c, err := s.Candidates(t.Context(), retriever.Query{Vector: []float32{1, 0}, Limit: 1_000_000, Weights: retriever.Weights{Landmark: 1}})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range c.Dense {
		out = append(out, fmt.Sprintf("%s/%d", c.Document, c.Chunk))
	}
	return out
}

// TestFreshness lets two stores on one file, as two processes would have, make
// random changes in turn; both must always find what is there.
func TestFreshness(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	stores := []*Store{openTest(t, path, &Options{Create: true}), openTest(t, path, nil), openTest(t, path, &Options{ReadOnly: true})}
	rng := rand.New(rand.NewPCG(5, 6))
	have := make(map[string]int)
	for round := range 150 {
		w := stores[rng.IntN(2)]
		id := fmt.Sprintf("%02d", rng.IntN(12))
		switch rng.IntN(4) {
		case 0:
			if _, err := w.Delete(t.Context(), []string{id, "nosuch"}); err != nil {
				t.Fatal(err)
			}
			delete(have, id)
		case 1: // a replacement and a deletion in one look
			if err := w.Upsert(t.Context(), []retriever.Document{testDocument(id, 2, 1, 0)}); err != nil {
				t.Fatal(err)
			}
			have[id] = 2
			fallthrough
		default:
			id, n := fmt.Sprintf("%02d", rng.IntN(12)), rng.IntN(4)
			d := testDocument(id, n, 1, 0)
			if err := w.Upsert(t.Context(), []retriever.Document{d}); err != nil {
				t.Fatal(err)
			}
			have[id] = n
		}
		var want []string
		for i := range 12 {
			id := fmt.Sprintf("%02d", i)
			for chunk := range have[id] {
				want = append(want, fmt.Sprintf("%s/%d", id, chunk))
			}
		}
		s := stores[rng.IntN(3)] // not every store looks after every change
		if d := cmp.Diff(want, find(t, s)); d != "" {
			t.Fatalf("round %d: want -, got +:\n%s", round, d)
		}
	}
}

// TestReload replaces a store's content until memory is read anew.
func TestReload(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "store.db"), &Options{Create: true})
	for round := range 8 {
		docs := []retriever.Document{testDocument("a", 3000, 1, 0), testDocument("b", 1+round, 1, 0)}
		if err := s.Upsert(t.Context(), docs); err != nil {
			t.Fatal(err)
		}
		if n := len(find(t, s)); n != 3001+round {
			t.Fatalf("round %d: %d chunks, want %d", round, n, 3001+round)
		}
	}
	if rows := s.current.Load().chunks.rows(); rows > 10_000 {
		t.Errorf("%d rows are in memory for 3,008 chunks: those gone are kept", rows)
	}
}

// TestLoadCancelled cancels a load; the next one must not miss anything.
func TestLoadCancelled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	w := openTest(t, path, &Options{Create: true})
	r := openTest(t, path, &Options{ReadOnly: true})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for round := range 3 {
		if err := w.Upsert(t.Context(), []retriever.Document{testDocument("a", 3, 1, 0), testDocument(fmt.Sprint(round), 1, 1, 0)}); err != nil {
			t.Fatal(err)
		}
		if err := r.Load(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Load = %v, want context.Canceled", err)
		}
		tx, st, err := r.beginRead(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		l := <-r.loading
		if _, err := l.advance(ctx, tx, st, r.current.Load()); err == nil {
			t.Error("advance with a cancelled context succeeded")
		}
		r.loading <- l
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if n := len(find(t, r)); n != 4+round {
			t.Errorf("afterwards %d chunks are found, want %d", n, 4+round)
		}
	}
}
