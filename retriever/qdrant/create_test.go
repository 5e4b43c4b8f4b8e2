package qdrant

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/waymark-rag/waymark/internal/qdranttest"
	"github.com/waymark-rag/waymark/retriever"
)

// TestCreatedAtOnce opens a new collection from several sides at once. All of the
// same fingerprint get it; of different ones, those of one do.
func TestCreatedAtOnce(t *testing.T) {
	address := qdranttest.Shared(t)
	for round := range 10 {
		name := qdranttest.Collection(t)
		models := []string{"a", "a", "a", "a"}
		if round%2 == 1 {
			models = []string{"a", "b", "a", "b"}
		}
		var wg sync.WaitGroup
		errs := make([]error, len(models))
		for i, model := range models {
			wg.Go(func() {
				time.Sleep(rand.N(20 * time.Millisecond))
				s, err := Open(t.Context(), address, name, &Options{Create: true, Fingerprint: retriever.Fingerprint{Model: model, Dim: dim}})
				if errs[i] = err; err == nil {
					errs[i] = s.Upsert(t.Context(), []retriever.Document{lines(fmt.Sprint(i), "x", 2)})
					s.Close()
				}
			})
		}
		wg.Wait()
		s, err := Open(t.Context(), address, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		stored := 0
		for i, model := range models {
			if same := model == s.Fingerprint().Model; same != (errs[i] == nil) {
				t.Errorf("round %d: the collection is of model %q, and opening it with %q gave %v", round, s.Fingerprint().Model, model, errs[i])
			} else if same {
				stored++
			}
		}
		wantPoints(t, s, fmt.Sprintf("round %d: ", round), 2*stored)
		s.Close()
	}
}
