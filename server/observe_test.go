package server

import (
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace/noop"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

func TestMetrics(t *testing.T) {
	f := start(t, extractive(), nil)
	f.call(t, "POST", "/v1/search", `{"query":"battery"}`)
	f.call(t, "POST", "/v1/embeddings", `{"input":["one two","three"]}`)
	f.call(t, "GET", "/v1/documents/screen.md", "")
	f.call(t, "GET", "/v1/documents/none.md", "")
	f.call(t, "GET", "/nothing/here", "")
	f.call(t, "BREW", "/v1/search", "")
	_, text := f.call(t, "GET", "/metrics", "")
	for _, want := range []string{
		`waymark_http_requests_total{method="POST",route="/v1/search",status="200"} 1`,
		`waymark_http_requests_total{method="GET",route="/v1/documents/{id}",status="200"} 1`,
		`waymark_http_requests_total{method="GET",route="/v1/documents/{id}",status="404"} 1`,
		`waymark_http_requests_total{method="GET",route="none",status="404"} 1`,
		`waymark_http_requests_total{method="other",route="none",status="405"} 1`,
		`waymark_http_request_duration_seconds_count{route="/v1/search"}`,
		`waymark_embedded_texts_total 2`, `waymark_embedded_tokens_total 3`,
		`waymark_waiting{queue="work"} 0`, `go_goroutines`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, "screen.md") || strings.Contains(text, "nothing") {
		t.Error("the metrics name a path")
	}
	if t.Failed() {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "waymark_") {
				t.Log(line)
			}
		}
	}
}

// collector takes spans as an OpenTelemetry collector does.
type collector struct {
	mu   sync.Mutex
	data string
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = z
	}
	data, err := io.ReadAll(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	c.data += r.URL.Path + " " + string(data)
	c.mu.Unlock()
}

func TestTraces(t *testing.T) {
	c := &collector{}
	ts := httptest.NewServer(c)
	defer ts.Close()
	stop, err := StartTraces(t.Context(), ts.URL, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		otel.SetTracerProvider(noop.NewTracerProvider())
		otel.SetTextMapPropagator(propagation.NewCompositeTextMapPropagator())
	}()
	f := start(t, extractive(), nil)
	f.call(t, "POST", "/v1/ask", `{"question":"marmalade battery"}`, "Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "X-Request-Id", "id-7")
	f.call(t, "POST", "/v1/embeddings", `{"input":"x"}`)
	if err := stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"/v1/traces ", "POST /v1/ask", "POST /v1/embeddings", "waymark.request_id", "id-7", "\x0a\xf7\x65\x19\x16\xcd\x43\xdd\x84\x48\xeb\x21\x1c\x80\x31\x9c"} {
		if !strings.Contains(c.data, want) {
			t.Errorf("the collector did not get %q", want)
		}
	}
	if strings.Contains(c.data, "marmalade") {
		t.Error("a span holds the question")
	}
	for _, bad := range []string{"", "localhost:4318", "ftp://x", "http://me:pw@x"} {
		if _, err := StartTraces(t.Context(), bad, ""); err == nil || strings.Contains(err.Error(), "pw") {
			t.Errorf("%q: error %v", bad, err)
		}
	}
}

func TestHealth(t *testing.T) {
	f := start(t, extractive(), nil)
	for _, path := range []string{"/healthz", "/readyz", "/health"} {
		if resp, body := f.call(t, "GET", path, ""); resp.StatusCode != 200 {
			t.Errorf("%s: status %d: %s", path, resp.StatusCode, body)
		}
	}
	p, err := f.library.Open(t.Context(), "", Default, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Store.Close(); err != nil {
		t.Fatal(err)
	}
	f.refused(t, 503, "store_unavailable", "GET", "/readyz", "")
	if resp, _ := f.call(t, "GET", "/healthz", ""); resp.StatusCode != 200 {
		t.Errorf("healthz: status %d without a store", resp.StatusCode)
	}
	f.refused(t, 503, "store_unavailable", "POST", "/v1/search", `{"query":"x"}`)
}
