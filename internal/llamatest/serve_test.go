//go:build llama && cgo && onnx

package llamatest

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/internal/waymarktest"
	"github.com/waymark-rag/waymark/pipeline"
)

// documents are what the questions are about.
var documents = map[string]string{
	"boiler.md": "# Boiler\n\nThe boiler stands in the cellar. It is serviced every second autumn by the firm Larsen.\n",
	"bees.md":   "# Bees\n\nThe bees moved to the orchard in May. Their honey is sold at the gate.\n",
	"roof.md":   "# Roof\n\nThe roof was tiled in 1987. The gutters are cleaned each November.\n",
}

// library is an index of the documents, and the program that made it.
type library struct {
	waymark waymarktest.Program
	store   string
}

func newLibrary(t *testing.T) library {
	t.Helper()
	dir := t.TempDir()
	for name, text := range documents {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := library{waymarktest.Build(t), "local:" + filepath.Join(t.TempDir(), "index.db")}
	l.waymark.Run(t, "index", "--store", l.store, dir)
	return l
}

// serve serves it, with answers by the model of s, and returns the address.
func (l library) serve(t *testing.T, s *Server, settings ...string) string {
	t.Helper()
	args := []string{"--store", l.store}
	for _, set := range append([]string{"llm.provider=openai", "llm.model=" + Model, "llm.base_url=" + s.URL, "answer.passages=2"}, settings...) {
		args = append(args, "--set", set)
	}
	return l.waymark.Serve(t, "", args...)
}

// post sends JSON and returns the status and the body.
func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

func decode[T any](t *testing.T, data string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(data), &v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return v
}

// answered posts and decodes what must be the answer.
func answered[T any](t *testing.T, url, body string) T {
	t.Helper()
	status, data := post(t, url, body)
	if status != http.StatusOK {
		t.Fatalf("%s: status %d: %s", body, status, data)
	}
	return decode[T](t, data)
}

// event is one of a stream.
type event struct{ name, data string }

// events reads a stream's to its end, or until enough says so.
func events(t *testing.T, body io.Reader, enough func(event) bool) []event {
	t.Helper()
	var out []event
	var e event
	lines := bufio.NewScanner(body)
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		line := lines.Text()
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			e.name = name
		} else if data, ok := strings.CutPrefix(line, "data: "); ok {
			e.data = data
		} else if line == "" && e.data != "" {
			if out = append(out, e); enough != nil && enough(e) {
				return out
			}
			e = event{}
		}
	}
	return out
}

// streamed posts and reads the whole stream that must come.
func streamed(t *testing.T, url, body string) []event {
	t.Helper()
	status, data := post(t, url, body)
	all := events(t, strings.NewReader(data), nil)
	if status != http.StatusOK || len(all) < 2 {
		t.Fatalf("%s: status %d, %d events: %s", body, status, len(all), data)
	}
	return all
}

// texts joins the pieces of a stream of /v1/ask, and counts them.
func texts(t *testing.T, all []event) (string, int) {
	t.Helper()
	var pieces []string
	for _, e := range all {
		if e.name == "text" {
			pieces = append(pieces, decode[pipeline.Event](t, e.data).Text)
		}
	}
	return strings.Join(pieces, ""), len(pieces)
}
