package qdrant

import (
	"context"
	"fmt"
	"testing"

	"google.golang.org/grpc"

	"github.com/waymark-rag/waymark/internal/qdranttest"
	"github.com/waymark-rag/waymark/retriever"
)

// TestWritersInterleave has another writer replace a document twice in the midst of
// a replacement, before every two of its calls, by the same content and by another.
// Whoever wins, one version is there, whole and alone.
func TestWritersInterleave(t *testing.T) {
	chunks := map[string]int{"old": 9, "mine": 7, "other": 5}
	name := qdranttest.Collection(t)
	var call int
	var before map[int][]func() // what happens before a call of the writer
	dial := []grpc.DialOption{grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		for _, f := range before[call] {
			f()
		}
		call++
		return invoke(ctx, method, req, reply, cc, opts...)
	})}
	writer, another := openTest(t, name, Options{Dial: dial}), openTest(t, name, Options{})
	stores := func(version string) func() {
		doc := lines("d", version, chunks[version])
		return func() { upsert(t, another, doc) }
	}
	// How many calls a replacement takes.
	upsert(t, another, lines("d", "old", chunks["old"]))
	before, call = nil, 0
	upsert(t, writer, lines("d", "mine", chunks["mine"]))
	calls := call
	if calls < 5 {
		t.Fatalf("a replacement takes %d calls: the test does not see them", calls)
	}
	for first := range calls {
		for second := first; second < calls; second++ {
			for _, versions := range [][2]string{{"other", "mine"}, {"mine", "other"}, {"other", "other"}} {
				when := fmt.Sprintf("%q before call %d and %q before call %d: ", versions[0], first, versions[1], second)
				before = nil
				upsert(t, another, lines("d", "old", chunks["old"]))
				call, before = 0, map[int][]func(){first: {stores(versions[0])}}
				before[second] = append(before[second], stores(versions[1]))
				if err := writer.Upsert(t.Context(), []retriever.Document{lines("d", "mine", chunks["mine"])}); err != nil {
					t.Fatalf("%s%v", when, err)
				}
				got := whole(t, another, when, chunks)
				wantPoints(t, another, when, chunks[got])
				if n := marked(t, another); n > 0 {
					t.Errorf("%s%d points are still marked", when, n)
				}
				if t.Failed() {
					return
				}
			}
		}
	}
}
