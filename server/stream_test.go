package server

import (
	"bufio"
	"context"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymark-rag/waymark/llm/llmtest"
)

// Clients that go away in the middle of a stream leave nothing behind: the call of
// the model is cancelled, and no goroutine stays.
func TestDisconnectsLeaveNoGoroutine(t *testing.T) {
	clients := 1000
	if testing.Short() {
		clients = 100
	}
	g := newGated()
	f := start(t, g, func(o *Options) { o.Limits.Answers, o.Limits.Waiting = clients, clients })
	transport := &http.Transport{}
	client := &http.Client{Transport: transport}
	visit := func(path, body string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, "POST", f.url+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if strings.Contains(lines.Text(), "Well,") {
				return // and cancel
			}
		}
		t.Error("the stream ended by itself")
	}
	settle := func() int {
		transport.CloseIdleConnections()
		last := -1
		for range 200 {
			time.Sleep(25 * time.Millisecond)
			n := runtime.NumGoroutine()
			if n == last {
				if running, waiting := f.answers.counts(); running+waiting == 0 {
					return n
				}
			}
			last = n
		}
		return last
	}
	visit("/v1/ask", `{"question":`+question+`,"stream":true}`) // whatever starts once is started
	before := settle()
	var all sync.WaitGroup
	slots := make(chan struct{}, 50)
	for i := range clients {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if i%2 == 0 {
				visit("/v1/ask", `{"question":`+question+`,"stream":true}`)
			} else {
				visit("/v1/chat/completions", chatBody+`,"stream":true}`)
			}
		})
	}
	all.Wait()
	if after := settle(); after > before {
		buf := make([]byte, 1<<20)
		t.Errorf("%d goroutines before %d clients, %d after:\n%s", before, clients, after, buf[:runtime.Stack(buf, true)])
	}
	if running, waiting := f.answers.counts(); running+waiting > 0 {
		t.Errorf("%d run and %d wait after all went away", running, waiting)
	}
}

// While nothing comes, comment lines keep the connection open.
func TestStreamsAreKeptOpen(t *testing.T) {
	g := newGated()
	f := start(t, g, func(o *Options) { o.Limits.Ping = 20 * time.Millisecond })
	go func() {
		<-g.asked
		time.Sleep(150 * time.Millisecond)
		close(g.gate)
	}()
	_, body := f.call(t, "POST", "/v1/ask", `{"question":`+question+`,"stream":true}`)
	if !strings.Contains(body, "\n: ping\n\n") || !strings.Contains(body, "event: answer\n") {
		t.Errorf("the stream has no comment lines, or no end:\n%s", body)
	}
	if events := parseEvents(t, body); len(events) < 4 {
		t.Errorf("events %v", events)
	}
}

func TestAnswersThatTakeTooLong(t *testing.T) {
	f := start(t, newGated(), func(o *Options) { o.Limits.Answer = 100 * time.Millisecond })
	f.refused(t, 504, "timeout", "POST", "/v1/ask", `{"question":`+question+`}`)
	_, body := f.call(t, "POST", "/v1/ask", `{"question":`+question+`,"stream":true}`)
	events := parseEvents(t, body)
	if last := events[len(events)-1]; last.name != "error" || !strings.Contains(last.data, `"timeout"`) {
		t.Errorf("last event %v", last)
	}
	_, body = f.call(t, "POST", "/v1/chat/completions", chatBody+`,"stream":true}`)
	events = parseEvents(t, body)
	if last := events[len(events)-1]; !strings.Contains(last.data, `{"error":{`) || strings.Contains(body, "[DONE]") {
		t.Errorf("last event %v", last)
	}
}

// Shutting down lets streams finish, and takes no new work.
func TestShutdownFinishesStreams(t *testing.T) {
	g := newGated()
	f := start(t, g, nil)
	hs := f.HTTPServer()
	hs.Addr = "127.0.0.1:0"
	ln := listen(t)
	served := make(chan error, 1)
	go func() { served <- hs.Serve(ln) }()
	type result struct{ body string }
	got := make(chan result, 1)
	f.url = "http://" + ln.Addr().String()
	go func() {
		_, body := f.call(t, "POST", "/v1/ask", `{"question":`+question+`,"stream":true}`)
		got <- result{body}
	}()
	<-g.asked
	f.Drain()
	f.refused(t, 503, "shutting_down", "GET", "/readyz", "")
	f.refused(t, 503, "shutting_down", "POST", "/v1/documents", `{"documents":[{"text":"x"}]}`)
	if resp, _ := f.call(t, "GET", "/healthz", ""); resp.StatusCode != 200 {
		t.Errorf("healthz: status %d", resp.StatusCode)
	}
	shut := make(chan error, 1)
	go func() { shut <- hs.Shutdown(context.Background()) }()
	time.Sleep(50 * time.Millisecond)
	close(g.gate)
	if r := <-got; !strings.Contains(r.body, "event: answer\n") {
		t.Errorf("the stream was cut:\n%s", r.body)
	}
	if err := <-shut; err != nil {
		t.Error(err)
	}
	if err := <-served; err != http.ErrServerClosed {
		t.Error(err)
	}
}

func TestCloseCutsJobsShort(t *testing.T) {
	f := start(t, extractive(), nil)
	held, err := f.jobs.queue.join("x")
	if err != nil {
		t.Fatal(err)
	}
	held2, err := f.jobs.queue.join("x")
	if err != nil {
		t.Fatal(err)
	}
	defer held.leave()
	defer held2.leave()
	id := get[map[string]string](t, f, 202, "POST", "/v1/documents", `{"documents":[{"text":"x y"}]}`)["job"]
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := f.Close(ctx); err != nil {
		t.Error(err)
	}
	if j := get[jobStatus](t, f, 200, "GET", "/v1/jobs/"+id, ""); j.State != "failed" || j.Error.Code != "shutting_down" {
		t.Errorf("job %+v", j)
	}
}

func TestPanicsAreAnswered(t *testing.T) {
	f := start(t, &llmtest.Scripted{Pieces: []string{"x"}}, nil)
	f.opts.Collections = nil // as a fault would leave it
	e := f.refused(t, 500, "internal", "POST", "/v1/search", `{"query":"x"}`)
	if strings.Contains(e.Error.Message, "nil") || !strings.Contains(f.log.String(), "panic") {
		t.Errorf("message %q", e.Error.Message)
	}
}
