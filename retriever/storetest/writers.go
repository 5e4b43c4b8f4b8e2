package storetest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/waymark-rag/waymark/retriever"
)

// handles opens the same store twice, as two processes would.
func handles(t *testing.T, at Open) []retriever.Store {
	t.Helper()
	return []retriever.Store{create(t, at, 4), open(t, at, "", retriever.Fingerprint{})}
}

// testTwoWritersOneDocument has both replace the same document at once, while
// a third reads it.
func testTwoWritersOneDocument(t *testing.T, at Open) {
	const rounds = 20
	stores := handles(t, at)
	reader := open(t, at, "", retriever.Fingerprint{})
	upsert(t, stores[0], version("d", 0))
	var writers, readers sync.WaitGroup
	for w, s := range stores {
		writers.Go(func() {
			for n := 1; n <= rounds; n++ {
				if err := s.Upsert(t.Context(), []retriever.Document{version("d", 2*n+w)}); err != nil {
					t.Errorf("Upsert: %v", err)
				}
			}
		})
	}
	done := make(chan struct{})
	readers.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if checkWhole(t, reader); t.Failed() {
				return
			}
		}
	})
	writers.Wait()
	close(done)
	readers.Wait()
	for _, s := range append(stores, reader) {
		checkWhole(t, s)
		docs := fetch(t, s, all, "d")
		if len(docs) != 1 {
			t.Fatalf("there are %d documents, want 1", len(docs))
		}
		n, _ := docs[0].Metadata["version"].(int64)
		if n != 2*rounds && n != 2*rounds+1 {
			t.Errorf("version %d is left, want the last of one writer: %d or %d", n, 2*rounds, 2*rounds+1)
		}
		if d, c := stats(t, s); d != 1 || c != len(docs[0].Chunks) {
			t.Errorf("the store holds %d documents with %d chunks, want 1 with %d", d, c, len(docs[0].Chunks))
		}
	}
}

// testTwoWriters has both store and delete documents of their own at once.
func testTwoWriters(t *testing.T, at Open) {
	const rounds, batch = 12, 5
	stores := handles(t, at)
	var wg sync.WaitGroup
	for w, s := range stores {
		wg.Go(func() {
			for n := range rounds {
				var docs []retriever.Document
				for i := range batch {
					docs = append(docs, version(fmt.Sprintf("%02d %d of %d", n, i, w), n))
				}
				if err := s.Upsert(t.Context(), docs); err != nil {
					t.Errorf("Upsert: %v", err)
				}
				if found, err := s.Fetch(t.Context(), []string{docs[0].ID}, retriever.Want{}); err != nil || len(found) != 1 {
					t.Errorf("Fetch of what was just stored: %v, %v", found, err)
				}
				if deleted, err := s.Delete(t.Context(), []string{docs[batch-1].ID}); deleted != 1 || err != nil {
					t.Errorf("Delete of what was just stored: %d, %v, want 1", deleted, err)
				}
			}
		})
	}
	wg.Wait()
	var ids, chunks []string
	for n := range rounds {
		for i := range batch - 1 {
			for w := range stores {
				id := fmt.Sprintf("%02d %d of %d", n, i, w)
				ids = append(ids, id)
				for c := range version(id, n).Chunks {
					chunks = append(chunks, fmt.Sprintf("%s/%d", id, c))
				}
			}
		}
	}
	for _, s := range stores {
		got, err := scroll(t.Context(), s, retriever.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		wantDiff(t, "documents", ids, got)
		if d, c := stats(t, s); d != len(ids) || c != len(chunks) {
			t.Errorf("the store holds %d documents with %d chunks, want %d with %d", d, c, len(ids), len(chunks))
		}
		if c := candidates(t, s, retriever.Query{Vector: axis(0), Words: "chunk0", Limit: 1000}); len(c.Dense) != len(chunks) || len(c.Lexical) != len(ids) {
			t.Errorf("found %d chunks by vector and %d by a word of each first one, want %d and %d", len(c.Dense), len(c.Lexical), len(chunks), len(ids))
		}
	}
}

// testWriteAgainstDelete has one store a document while the other deletes it:
// it is there afterwards, or it is not.
func testWriteAgainstDelete(t *testing.T, at Open) {
	const rounds = 12
	stores := handles(t, at)
	upsert(t, stores[0], document("other", axis(3), part{"other", axis(3)}))
	for n := range rounds {
		upsert(t, stores[0], version("d", 99))
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := stores[0].Upsert(t.Context(), []retriever.Document{version("d", n)}); err != nil {
				t.Errorf("Upsert: %v", err)
			}
		})
		wg.Go(func() {
			if deleted, err := stores[1].Delete(t.Context(), []string{"d"}); deleted != 1 || err != nil {
				t.Errorf("Delete = %d, %v, want 1: one version or the other", deleted, err)
			}
		})
		wg.Wait()
		for _, s := range stores {
			docs := fetch(t, s, all, "d")
			chunks := 0
			if len(docs) == 1 {
				chunks = len(docs[0].Chunks)
				wantDiff(t, "the document", version("d", n).Chunks, docs[0].Chunks)
			}
			if d, c := stats(t, s); d != len(docs)+1 || c != chunks+1 {
				t.Errorf("round %d: the store holds %d documents with %d chunks, want %d with %d", n, d, c, len(docs)+1, chunks+1)
			}
			c := candidates(t, s, retriever.Query{Vector: axis(0), Words: fmt.Sprintf("version%d version99", n), Limit: 20})
			if len(c.Dense) != chunks+1 || len(c.Lexical) != chunks {
				t.Errorf("round %d: found %d and %d chunks, want %d and %d", n, len(c.Dense), len(c.Lexical), chunks+1, chunks)
			}
		}
	}
}
