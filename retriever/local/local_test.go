package local

import (
	"path/filepath"
	"testing"

	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/storetest"
)

func TestContract(t *testing.T) {
	storetest.Test(t, func(t *testing.T) storetest.Open {
		path := filepath.Join(t.TempDir(), "store.db")
		return func(tenant string, f retriever.Fingerprint) (retriever.Store, error) {
			return Open(t.Context(), path, &Options{Create: true, Tenant: tenant, Fingerprint: f})
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
