package qdrant

import (
	"fmt"
	"testing"

	"github.com/waymark-rag/waymark/internal/qdranttest"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/storetest"
)

// TestContract runs the suite with one landmark a point and with parts of
// several, in exact search, where a server in strict mode would refuse what has
// no index.
func TestContract(t *testing.T) {
	for _, part := range []int{1, 4} {
		t.Run(fmt.Sprintf("part of %d", part), func(t *testing.T) {
			storetest.Test(t, place(Options{Search: Search{Exact: true}, Layout: Layout{PartLandmarks: part, Strict: true}}))
		})
	}
}

// TestContractByIndex runs it for searches by the collection's indexes.
func TestContractByIndex(t *testing.T) {
	for _, part := range []int{1, 64} {
		t.Run(fmt.Sprintf("part of %d", part), func(t *testing.T) {
			storetest.TestApproximate(t, place(Options{Layout: Layout{PartLandmarks: part}}))
		})
	}
}

func place(opts Options) storetest.New {
	return func(t *testing.T) storetest.Open {
		address, name := qdranttest.Shared(t), qdranttest.Collection(t)
		return func(tenant string, f retriever.Fingerprint) (retriever.Store, error) {
			o := opts
			o.Create, o.Tenant, o.Fingerprint = !f.IsZero(), tenant, f
			return Open(t.Context(), address, name, &o)
		}
	}
}
