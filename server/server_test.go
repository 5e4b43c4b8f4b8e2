package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/ingest"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/landmarktest"
	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
)

// library is a Collections of local stores in a folder, with the fake embedding model.
type library struct {
	dir      string
	model    llm.Model
	embedder *landmark.Model

	mu      sync.Mutex
	open    map[string]*pipeline.Pipeline
	foreign bool // lists a collection that another model made
}

// foreign is the name of a collection that another model made.
const foreign = "foreign"

func newLibrary(t *testing.T, model llm.Model) *library {
	t.Helper()
	l := &library{dir: t.TempDir(), model: model, embedder: landmarktest.New(), open: map[string]*pipeline.Pipeline{}}
	t.Cleanup(func() {
		for _, p := range l.open {
			p.Store.Close()
		}
	})
	return l
}

func (l *library) Open(ctx context.Context, tenant, name string, create bool) (*pipeline.Pipeline, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := tenant + "/" + name
	if name == foreign {
		return nil, &retriever.MismatchError{Have: retriever.Fingerprint{Model: "another"}, Want: retriever.Fingerprint{Model: "this"}}
	}
	if p := l.open[key]; p != nil {
		return p, nil
	}
	if !create && name != Default {
		return nil, retriever.ErrNotFound
	}
	store, err := local.Open(ctx, filepath.Join(l.dir, name+".db"), &local.Options{Fingerprint: retriever.Fingerprint{Dim: 256}, Create: true, Tenant: tenant})
	if err != nil {
		return nil, err
	}
	cut, err := chunker.New(l.embedder, chunker.Options{MaxTokens: 24})
	if err != nil {
		return nil, err
	}
	p, err := pipeline.New(pipeline.Parts{Chunker: cut, Embedder: l.embedder, Store: store, Model: l.model}, nil)
	if err == nil {
		l.open[key] = p
	}
	return p, err
}

func (l *library) Names(_ context.Context, tenant string) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	names := []string{Default}
	if l.foreign {
		names = append(names, foreign)
	}
	for _, key := range slices.Sorted(maps.Keys(l.open)) {
		if name, ok := strings.CutPrefix(key, tenant+"/"); ok && name != Default {
			names = append(names, name)
		}
	}
	return names, nil
}

// add stores a document as an upload would.
func (l *library) add(t *testing.T, tenant, collection, name, text string) {
	t.Helper()
	p, err := l.Open(t.Context(), tenant, collection, true)
	if err != nil {
		t.Fatal(err)
	}
	for loaded, err := range ingest.Parse(t.Context(), name, []byte(text), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Add(t.Context(), loaded.Document); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	battery = "# Battery\n\nThe battery lasts up to twelve hours. Charging it takes ninety minutes.\n\n# Wärme 🔋\n\nThe battery gets warm while it is charged quickly.\n"
	screen  = "# Screen\n\nThe screen is thirteen inches wide. Its surface repels water and dust.\n"
)

// fixture is a server with two documents.
type fixture struct {
	*Server
	library *library
	url     string
	log     *lockedBuffer
}

// lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// start serves; change, if there is one, alters the options.
func start(t *testing.T, model llm.Model, change func(*Options)) *fixture {
	t.Helper()
	l := newLibrary(t, model)
	l.add(t, "", Default, "guide/battery.md", battery)
	l.add(t, "", Default, "screen.md", screen)
	log := &lockedBuffer{}
	opts := Options{Collections: l, Embedder: l.embedder, Model: "fake-model", Digest: "abc", Version: "1.2.3",
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	if change != nil {
		change(&opts)
	}
	s, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewUnstartedServer(s)
	hs := s.HTTPServer()
	hs.Addr = ""
	ts.Config = hs
	ts.Start()
	t.Cleanup(func() {
		ts.Close()
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &fixture{s, l, ts.URL, log}
}

// extractive is the answerer of most tests.
func extractive() llm.Model { return &llm.Extractive{} }

// call sends a request and returns the status and the body.
func (f *fixture) call(t *testing.T, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, f.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	conforms(t, f.Server, method, path, resp.StatusCode, mediaTypeOf(resp), data)
	return resp, string(data)
}

func mediaTypeOf(resp *http.Response) string {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return kind
}

// get calls and decodes the answer, which must have the status.
func get[T any](t *testing.T, f *fixture, status int, method, path, body string, headers ...string) T {
	t.Helper()
	resp, text := f.call(t, method, path, body, headers...)
	var v T
	if resp.StatusCode != status {
		t.Fatalf("%s %s %.80s: status %d, want %d: %s\n%s", method, path, body, resp.StatusCode, status, text, f.log)
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s %s: %v in %s", method, path, err, text)
	}
	return v
}

type errorBody struct {
	Error struct{ Message, Type, Code, Param, Hint string }
}

// refused calls and checks the status and the code of the error.
func (f *fixture) refused(t *testing.T, status int, code, method, path, body string, headers ...string) errorBody {
	t.Helper()
	e := get[errorBody](t, f, status, method, path, body, headers...)
	if e.Error.Code != code {
		t.Errorf("%s %s %.80s: code %q, want %q: %s", method, path, body, e.Error.Code, code, e.Error.Message)
	}
	return e
}

// event is one of a stream.
type event struct{ name, data string }

func parseEvents(t *testing.T, body string) []event {
	t.Helper()
	var out []event
	for block := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		var e event
		for line := range strings.Lines(block) {
			line = strings.TrimSuffix(line, "\n")
			switch {
			case strings.HasPrefix(line, "event: "):
				e.name = line[len("event: "):]
			case strings.HasPrefix(line, "data: "):
				e.data = line[len("data: "):]
			case strings.HasPrefix(line, ":"):
			default:
				t.Fatalf("line %q in the stream:\n%s", line, body)
			}
		}
		if e != (event{}) {
			out = append(out, e)
		}
	}
	return out
}

// unexported has cmp look into the types of this package too.
var unexported = cmp.Exporter(func(t reflect.Type) bool {
	return strings.HasPrefix(t.PkgPath(), "github.com/waymark-rag/waymark/server")
})
