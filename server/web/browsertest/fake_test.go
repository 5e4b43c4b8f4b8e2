//go:build browser

package browsertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/waymark-rag/waymark/server/web"
)

// fake is a server with the API that the page uses, which a test can hold up in
// the middle of an answer and make refuse things. Its documents have a chunk for
// every paragraph; an answer quotes each paragraph that holds a word of the
// question.
type fake struct {
	mu        sync.Mutex
	documents map[string]map[string]string // by collection and id
	jobs      map[string]job
	key       string // asked for unless empty
	asked     []question
	cancelled int // answers that the client did not wait for
	stop      func()

	// gate, if not nil, holds up every answer after its first piece until it
	// can be received from.
	gate chan struct{}
	// answer, if not nil, changes an answer before it is sent.
	answer func(*answer)
	// broken ends an answer with this error after its first piece.
	broken *failure
}

type job struct {
	State   string         `json:"state"`
	Done    int            `json:"done"`
	Total   int            `json:"total"`
	Current string         `json:"current"`
	Report  map[string]any `json:"report"`
	busy    bool
}

type failure struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

type span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// newFake starts a server with documents in its collection "default".
func newFake(t *testing.T, documents map[string]string) (*fake, string) {
	f := &fake{documents: map[string]map[string]string{"default": documents}, jobs: map[string]job{}}
	if documents == nil {
		f.documents["default"] = map[string]string{}
	}
	api := http.NewServeMux()
	api.HandleFunc("GET /v1/collections", f.collections)
	api.HandleFunc("GET /v1/documents", f.list)
	api.HandleFunc("POST /v1/documents", f.upload)
	api.HandleFunc("GET /v1/documents/{id}", f.read)
	api.HandleFunc("DELETE /v1/documents/{id}", f.remove)
	api.HandleFunc("GET /v1/jobs/{id}", f.job)
	api.HandleFunc("POST /v1/ask", f.ask)
	mux := http.NewServeMux()
	mux.Handle("/", web.Handler())
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		key := f.key
		f.mu.Unlock()
		if key != "" && r.Header.Get("Authorization") != "Bearer "+key {
			refuse(w, http.StatusUnauthorized, failure{Message: "no API key that is known"})
			return
		}
		api.ServeHTTP(w, r)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	f.stop = s.Close
	return f, s.URL
}

// set changes what the server does.
func (f *fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// waitCancelled waits until the client has left n answers.
func (f *fake) waitCancelled(t *testing.T, n int) {
	t.Helper()
	var got int
	for end := time.Now().Add(10 * time.Second); got != n; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the server noticed %d of %d answers stopped", got, n)
		}
		f.set(func() { got = f.cancelled })
	}
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, status int, f failure) {
	reply(w, status, map[string]any{"error": f})
}

// chunks are the paragraphs of a text with the empty lines behind them.
func chunks(text string) []span {
	var out []span
	for start := 0; start < len(text); {
		end := len(text)
		if i := strings.Index(text[start:], "\n\n"); i >= 0 {
			end = start + i + 2
		}
		out = append(out, span{start, end})
		start = end
	}
	return out
}

func units(text string) int { return len(utf16.Encode([]rune(text))) }

func title(id, text string) string {
	first, _, _ := strings.Cut(text, "\n")
	if heading, ok := strings.CutPrefix(first, "# "); ok {
		return heading
	}
	return id
}

func (f *fake) collections(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []map[string]any
	for name, documents := range f.documents {
		list = append(list, map[string]any{"name": name, "documents": len(documents)})
	}
	reply(w, http.StatusOK, map[string]any{"collections": list})
}

// list gives three documents a page.
func (f *fake) list(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	documents, ok := f.documents[r.FormValue("collection")]
	if !ok {
		refuse(w, http.StatusNotFound, failure{Message: "the collection is not there"})
		return
	}
	ids := slices.Sorted(func(yield func(string) bool) {
		for id := range documents {
			if id > r.FormValue("cursor") && !yield(id) {
				return
			}
		}
	})
	next := ""
	if len(ids) > 3 {
		ids = ids[:3]
		next = ids[2]
	}
	list := []map[string]any{}
	for _, id := range ids {
		list = append(list, map[string]any{"id": id, "title": title(id, documents[id]), "format": "markdown", "chunks": len(chunks(documents[id]))})
	}
	reply(w, http.StatusOK, map[string]any{"documents": list, "next": next})
}

func (f *fake) upload(w http.ResponseWriter, r *http.Request) {
	reader, err := r.MultipartReader()
	if err != nil {
		refuse(w, http.StatusBadRequest, failure{Message: err.Error()})
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	name := r.URL.Query().Get("collection")
	if f.documents[name] == nil {
		f.documents[name] = map[string]string{}
	}
	skipped := []map[string]string{}
	added := 0
	for {
		part, err := reader.NextPart()
		if err == io.EOF {
			break
		}
		text, _ := io.ReadAll(part)
		if strings.HasSuffix(part.FileName(), ".png") {
			skipped = append(skipped, map[string]string{"path": part.FileName(), "reason": "it is a picture, which has no text"})
			continue
		}
		f.documents[name][part.FileName()] = string(text)
		added++
	}
	id := fmt.Sprint("job-", len(f.jobs))
	f.jobs[id] = job{State: "queued", Total: added, Report: map[string]any{"added": added, "changed": 0, "unchanged": 0, "skipped": skipped}}
	reply(w, http.StatusAccepted, map[string]string{"job": id})
}

// job says queued, then that the server is busy, then running, then done.
func (f *fake) job(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	j := f.jobs[r.PathValue("id")]
	if j.State == "running" && !j.busy {
		j.busy = true
		f.jobs[r.PathValue("id")] = j
		refuse(w, http.StatusTooManyRequests, failure{Message: "too many requests"})
		return
	}
	reply(w, http.StatusOK, j)
	j.State, j.Done, j.Current = map[string]string{"queued": "running", "running": "done"}[j.State], j.Total, "the last one"
	f.jobs[r.PathValue("id")] = j
}

func (f *fake) read(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := r.PathValue("id")
	text, ok := f.documents[r.FormValue("collection")][id]
	if !ok {
		refuse(w, http.StatusNotFound, failure{Message: fmt.Sprintf("document %q is not there", id)})
		return
	}
	list := []map[string]int{}
	for i, c := range chunks(text) {
		list = append(list, map[string]int{"index": i, "start": c.Start, "end": c.End, "start16": units(text[:c.Start]), "end16": units(text[:c.End])})
	}
	reply(w, http.StatusOK, map[string]any{"id": id, "title": title(id, text), "text": text, "chunks": list})
}

func (f *fake) remove(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := r.PathValue("id")
	if _, ok := f.documents[r.FormValue("collection")][id]; !ok {
		refuse(w, http.StatusNotFound, failure{Message: fmt.Sprintf("document %q is not there", id)})
		return
	}
	delete(f.documents[r.FormValue("collection")], id)
	w.WriteHeader(http.StatusNoContent)
}
