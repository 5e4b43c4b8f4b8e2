package local

import (
	"path/filepath"
	"testing"

	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/storetest"
)

func TestContract(t *testing.T) {
	storetest.Test(t, func(t *testing.T, dim int) (retriever.Store, func() retriever.Store) {
		path := filepath.Join(t.TempDir(), "store.db")
		s := openTest(t, path, &Options{Create: true, Fingerprint: retriever.Fingerprint{Model: "test", Dim: dim}})
		return s, func() retriever.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openTest(t, path, nil)
			return s
		}
	})
}

// openTest opens a store that is closed when the test ends.
func openTest(t testing.TB, path string, opts *Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
