package qdrant

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/internal/qdranttest"
	"github.com/waymark-rag/waymark/retriever"
)

const dim = 8

var fingerprint = retriever.Fingerprint{Model: "test", Dim: dim}

// openTest opens a collection of the shared engine, creates it, and closes it
// when the test ends.
func openTest(t testing.TB, name string, opts Options) *Store {
	t.Helper()
	opts.Create, opts.Fingerprint = true, fingerprint
	s, err := Open(t.Context(), qdranttest.Shared(t), name, &opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// direction is a unit vector that turns with n.
func direction(n int) []float32 {
	v := make([]float32, dim)
	angle := float64(n) * 0.7
	v[n%(dim/2)*2], v[n%(dim/2)*2+1] = float32(math.Cos(angle)), float32(math.Sin(angle))
	return v
}

// lines makes a document of n lines, each a chunk, that begin with its name.
func lines(id, name string, n int) retriever.Document {
	d := retriever.Document{ID: id, Title: id, Hash: name, Vector: direction(n), Metadata: map[string]any{"name": name}}
	var b strings.Builder
	for i := range n {
		start := b.Len()
		fmt.Fprintf(&b, "%s line%d of the document.\n", name, i)
		r := chunker.Range{Start: start, End: b.Len()}
		d.Chunks = append(d.Chunks, retriever.Chunk{Text: r, Source: r, Lines: retriever.Lines{First: i + 1, Last: i + 1}, Tokens: 7, Vector: direction(i), Norm: 1})
	}
	d.Text = b.String()
	return d
}

// count is how many points the collection holds beside its description.
func points(t testing.TB, s *Store) int {
	t.Helper()
	n, err := s.client.Count(t.Context(), &pb.CountPoints{CollectionName: s.collection, Exact: pb.PtrOf(true)})
	if err != nil {
		t.Fatal(err)
	}
	return int(n) - 1
}

func wantPoints(t testing.TB, s *Store, when string, want int) {
	t.Helper()
	if n := points(t, s); n != want {
		t.Errorf("%s the collection holds %d points, want %d", when, n, want)
	}
}

func upsert(t testing.TB, s *Store, docs ...retriever.Document) {
	t.Helper()
	if err := s.Upsert(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
}

// best is the place of the first candidate for words.
func best(t testing.TB, s *Store, words string) string {
	t.Helper()
	c, err := s.Candidates(t.Context(), retriever.Query{Words: words, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Lexical) == 0 {
		return ""
	}
	return fmt.Sprintf("%s/%d", c.Lexical[0].Document, c.Lexical[0].Chunk)
}

// dying lets a number of calls through and then fails all, as for a process that
// was killed.
type dying struct {
	left  atomic.Int64
	calls atomic.Int64
}

func (d *dying) dial() []grpc.DialOption {
	return []grpc.DialOption{grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		d.calls.Add(1)
		if d.left.Add(-1) < 0 {
			return fmt.Errorf("the process is dead")
		}
		return invoke(ctx, method, req, reply, cc, opts...)
	})}
}
