package qdranttest

import (
	"context"
	"crypto/rand"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
)

// ServerVariable names a server, as host:port without TLS and API key, on which
// tests run instead of on the engine.
const ServerVariable = "WAYMARK_TEST_QDRANT"

// engine starts the one of this test binary. It keeps its collections in a
// folder that it removes, and ends when the binary does.
var engine = sync.OnceValues(func() (*process, error) { return start() })

// Shared returns the address, host:port, of a Qdrant that all tests of the
// binary share; each takes a Collection of its own. If the test fails, its log
// is what the engine wrote meanwhile.
func Shared(tb testing.TB) string {
	tb.Helper()
	if address := os.Getenv(ServerVariable); address != "" {
		return address
	}
	p, err := engine()
	if err != nil {
		tb.Fatal(err)
	}
	before := len(p.Log())
	tb.Cleanup(func() {
		if text := p.Log()[before:]; tb.Failed() && text != "" {
			tb.Logf("meanwhile the engine wrote:\n%s", text)
		}
	})
	return p.address
}

// Collection returns a name that no collection of the Shared Qdrant has. What
// the test stores under it is dropped when the test ends.
func Collection(tb testing.TB) string {
	tb.Helper()
	c := Client(tb, Shared(tb))
	name := "waymark-test-" + strings.ToLower(rand.Text())
	tb.Cleanup(func() {
		ctx := context.WithoutCancel(tb.Context())
		exists, err := c.CollectionExists(ctx, name)
		if err == nil && exists {
			err = c.DeleteCollection(ctx, name)
		}
		if err != nil {
			tb.Errorf("qdranttest: collection %q is left behind: %v", name, err)
		}
	})
	return name
}

// Client connects to a Qdrant without TLS and API key.
func Client(tb testing.TB, address string) *qdrant.Client {
	tb.Helper()
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		tb.Fatalf("qdranttest: %v: want host:port", err)
	}
	port, err := strconv.Atoi(portText)
	if err != nil {
		tb.Fatalf("qdranttest: address %q: want host:port with a number for the port", address)
	}
	c, err := qdrant.NewClient(&qdrant.Config{
		Host: host, Port: port, SkipCompatibilityCheck: true,
		GrpcOptions: []grpc.DialOption{grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(256 << 20))},
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	return c
}
