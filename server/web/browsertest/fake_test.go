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

type question struct {
	Question   string `json:"question"`
	Collection string `json:"collection"`
	History    []struct{ Role, Text string }
}

type failure struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

type span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

type passage struct {
	Number   int                `json:"number,omitempty"`
	Passage  int                `json:"passage"`
	Document string             `json:"document"`
	Title    string             `json:"title"`
	Headings []string           `json:"headings"`
	Text     string             `json:"text"`
	Range    span               `json:"range"`
	Source   span               `json:"source"`
	Start16  int                `json:"start16"`
	End16    int                `json:"end16"`
	Lines    map[string]int     `json:"lines"`
	Chunk    int                `json:"chunk"`
	Score    map[string]float64 `json:"score"`
	Rule     string             `json:"rule"`
}

type sentence struct {
	Start16   int      `json:"start16"`
	End16     int      `json:"end16"`
	Citations []int    `json:"citations"`
	Supported bool     `json:"supported"`
	Reasons   []string `json:"reasons"`
}

type answer struct {
	Text        string         `json:"text"`
	Query       string         `json:"query"`
	Citations   []passage      `json:"citations"`
	Sentences   []sentence     `json:"sentences"`
	Passages    []passage      `json:"passages"`
	Dropped     map[string]int `json:"dropped"`
	NotAnswered bool           `json:"not_answered"`
	Stopped     string         `json:"stopped"`
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

func (f *fake) ask(w http.ResponseWriter, r *http.Request) {
	var q question
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		refuse(w, http.StatusBadRequest, failure{Message: err.Error()})
		return
	}
	f.mu.Lock()
	f.asked = append(f.asked, q)
	a := f.find(q)
	if f.answer != nil {
		f.answer(&a)
	}
	gate, broken := f.gate, f.broken
	f.mu.Unlock()

	w.Header().Set("Content-Type", "text/event-stream")
	send := func(event string, v any) {
		data, _ := json.Marshal(v)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data)
		w.(http.Flusher).Flush()
	}
	if a.Query != q.Question {
		send("query", map[string]string{"query": a.Query})
	}
	if len(a.Passages) > 0 {
		send("passages", map[string]any{"passages": a.Passages})
	}
	for _, c := range a.Citations {
		send("citation", c)
	}
	pieces := strings.SplitAfter(a.Text, " ")
	for i, piece := range pieces {
		send("text", map[string]string{"text": piece})
		if i < len(pieces)/2 {
			continue
		}
		if gate != nil {
			select {
			case <-gate:
			case <-r.Context().Done():
				f.set(func() { f.cancelled++ })
				return
			}
			gate = nil
		}
		if broken != nil {
			send("error", map[string]any{"error": broken})
			return
		}
	}
	send("answer", a)
}

// find answers a question.
func (f *fake) find(q question) answer {
	a := answer{Query: q.Question, Passages: []passage{}, Citations: []passage{}, Sentences: []sentence{}, Stopped: "stop"}
	words := strings.Fields(strings.ToLower(strings.Trim(q.Question, "?")))
	documents := f.documents[q.Collection]
	for _, id := range slices.Sorted(func(yield func(string) bool) {
		for id := range documents {
			if !yield(id) {
				return
			}
		}
	}) {
		text := documents[id]
		for i, c := range chunks(text) {
			chunk := text[c.Start:c.End]
			if !slices.ContainsFunc(words, func(w string) bool { return len(w) > 4 && strings.Contains(strings.ToLower(chunk), w) }) {
				continue
			}
			line := strings.Count(text[:c.Start], "\n") + 1
			p := passage{
				Passage: len(a.Passages), Document: id, Title: title(id, text), Headings: []string{title(id, text)}, Text: chunk,
				Range: c, Source: c, Start16: units(text[:c.Start]), End16: units(text[:c.End]), Chunk: i,
				Lines: map[string]int{"first": line, "last": line + strings.Count(strings.TrimSpace(chunk), "\n")},
				Score: map[string]float64{"value": 0.0328, "dense": 0.8, "landmark": 0.823, "document": 0.644, "lexical": 7.25 - float64(len(a.Passages))},
				Rule:  "rrf(k=60): dense #1 (0.8·landmark 0.823 + 0.2·document 0.644), lexical #1 (bm25 7.25)",
			}
			a.Passages = append(a.Passages, p)
		}
	}
	for i, p := range a.Passages {
		if i == 3 {
			break // the others are read only
		}
		p.Number = i + 1
		first, _, _ := strings.Cut(strings.TrimSpace(strings.TrimLeft(p.Text, "# ")), "\n")
		text := fmt.Sprintf("%s [%d]", first, p.Number)
		if a.Text != "" {
			a.Text += "\n\n"
		}
		a.Sentences = append(a.Sentences, sentence{Start16: units(a.Text), End16: units(a.Text + text), Citations: []int{p.Number}, Supported: true})
		a.Text += text
		a.Citations = append(a.Citations, p)
	}
	if a.Text == "" {
		a.Text, a.NotAnswered = "The documents do not answer this.", true
	}
	return a
}
