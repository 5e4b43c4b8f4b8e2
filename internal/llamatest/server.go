package llamatest

import (
	"bufio"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waymark-rag/waymark/internal/pythontest"
)

// Model is the name that the server gives its model.
const Model = "smollm2"

var environment = pythontest.Environment{Name: "llm", Folder: "internal/llamatest/engine"}

// Server is a llama.cpp server of one test. It is stopped when the test ends; if the
// test fails, its log is what the server wrote.
type Server struct {
	URL     string // of the API, with /v1 at the end
	tb      testing.TB
	address string
}

// Start starts a server whose prompts and replies have up to contextTokens together.
func Start(tb testing.TB, contextTokens int) *Server {
	tb.Helper()
	p, err := environment.Start("serve.py", "--context", strconv.Itoa(contextTokens))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.Stop(); err != nil {
			tb.Errorf("llamatest: the server ended with %v", err)
		}
		if text := p.Log(); tb.Failed() && text != "" {
			tb.Logf("the server wrote:\n%s", text)
		}
	})
	return &Server{URL: p.Ready + "/v1", tb: tb, address: p.Ready}
}

// WaitIdle waits until the server writes nothing, and returns how many tokens it has
// written so far. It fails the test after limit.
func (s *Server) WaitIdle(limit time.Duration) (written int) {
	s.tb.Helper()
	for deadline := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		m := s.metrics()
		if m["llamacpp:requests_processing"]+m["llamacpp:requests_deferred"] == 0 {
			return int(m["llamacpp:tokens_predicted_total"])
		}
		if time.Now().After(deadline) {
			s.tb.Fatalf("llamatest: after %v the server still writes: %v", limit, m)
		}
	}
}

// metrics are what the server counts, by name.
func (s *Server) metrics() map[string]float64 {
	s.tb.Helper()
	resp, err := http.Get(s.address + "/metrics")
	if err != nil {
		s.tb.Fatal(err)
	}
	defer resp.Body.Close()
	out := map[string]float64{}
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if x, err := strconv.ParseFloat(value, 64); err == nil {
			out[name] = x
		}
	}
	for _, name := range []string{"llamacpp:requests_processing", "llamacpp:requests_deferred", "llamacpp:tokens_predicted_total"} {
		if _, ok := out[name]; !ok {
			s.tb.Fatalf("llamatest: the server counts no %s: %v", name, out)
		}
	}
	return out
}
