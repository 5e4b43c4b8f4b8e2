package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymark-rag/waymark/llm"
)

// A tenant that floods the queue delays another by no more than what is in work.
func TestQueueIsFair(t *testing.T) {
	q := newQueue(2, 10)
	var tickets []*ticket
	for range 12 { // two get in, ten wait
		tk, err := q.join("flood")
		if err != nil {
			t.Fatal(err)
		}
		tickets = append(tickets, tk)
	}
	if _, err := q.join("flood"); err == nil {
		t.Error("an eleventh may wait")
	}
	other, err := q.join("other")
	if err != nil {
		t.Fatalf("the other tenant is refused: %v", err)
	}
	if granted(other) {
		t.Error("there are three at once")
	}
	tickets[0].leave()
	if !granted(other) || granted(tickets[2]) {
		t.Error("the free slot did not go to the tenant that has none")
	}
	tickets[1].leave()
	if !granted(tickets[2]) {
		t.Error("the next slot did not go to the one that waits longest")
	}
	tickets[5].leave() // gives up
	other.leave()
	if running, waiting := q.counts(); running != 2 || waiting != 7 {
		t.Errorf("%d run and %d wait, want 2 and 7", running, waiting)
	}
	for i, tk := range tickets {
		if i > 1 && i != 5 {
			tk.leave()
		}
	}
	if running, waiting := q.counts(); running != 0 || waiting != 0 || len(q.tenants) != 0 {
		t.Errorf("%d run, %d wait, of %d tenants, after all left", running, waiting, len(q.tenants))
	}
}

// Tenants that all wait get their turns one after the other, however many requests
// each has and whoever came first.
func TestTurnsAlternate(t *testing.T) {
	q := newQueue(1, 10)
	type request struct {
		tenant string
		*ticket
	}
	var waiting []request
	for _, tenant := range []string{"heavy", "heavy", "heavy", "heavy", "heavy", "light", "light", "third"} {
		tk, err := q.join(tenant)
		if err != nil {
			t.Fatal(err)
		}
		waiting = append(waiting, request{tenant, tk})
	}
	var order []string
	for len(waiting) > 0 {
		i := slices.IndexFunc(waiting, func(r request) bool { return granted(r.ticket) })
		if i < 0 {
			t.Fatalf("after %q it is no one's turn", order)
		}
		order = append(order, waiting[i].tenant)
		waiting[i].leave()
		waiting = slices.Delete(waiting, i, i+1)
	}
	if len(order) != 8 || order[0] != "heavy" || slices.Contains(order[1:3], "heavy") || order[3] != "heavy" || order[4] != "light" {
		t.Errorf("turns %q: want heavy, the others, heavy, light and the rest", order)
	}
}

func granted(tk *ticket) bool {
	select {
	case <-tk.turn:
		return true
	default:
		return false
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	q := newQueue(1, 5)
	first, err := q.join("a")
	if err != nil {
		t.Fatal(err)
	}
	second, err := q.join("a")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := second.wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	first.leave()
	if running, waiting := q.counts(); running != 0 || waiting != 0 {
		t.Errorf("%d run and %d wait", running, waiting)
	}
}

// Who waits for longer than a request may take is told to come again.
func TestWaitingTooLongIsRefused(t *testing.T) {
	f := start(t, extractive(), func(o *Options) { o.Limits.Concurrent, o.Limits.Request = 1, 50*time.Millisecond })
	held, err := f.work.join("x")
	if err != nil {
		t.Fatal(err)
	}
	defer held.leave()
	resp, body := f.call(t, "POST", "/v1/search", `{"query":"x"}`)
	if resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "1" || !strings.Contains(body, "queue_full") {
		t.Errorf("status %d, Retry-After %q: %s", resp.StatusCode, resp.Header.Get("Retry-After"), body)
	}
	if running, waiting := f.work.counts(); running != 1 || waiting != 0 {
		t.Errorf("%d run and %d wait, want the one that holds it", running, waiting)
	}
}

// quoting is gated as a model that works on this machine.
type quoting struct{ *gated }

func (quoting) Quotes() {}

// Answers that are quoted take turns at the processors; those of models elsewhere
// are waited for all at once.
func TestQuotingTakesTurns(t *testing.T) {
	clients := processors() + 3
	for _, tt := range []struct {
		name         string
		quotes       bool
		asked, waits int
	}{{"quotes", true, processors(), 3}, {"writes", false, clients, 0}} {
		t.Run(tt.name, func(t *testing.T) {
			g := newGated()
			var model llm.Model = g
			if tt.quotes {
				model = quoting{g}
			}
			f := start(t, model, nil)
			var calls sync.WaitGroup
			for range clients {
				calls.Go(func() {
					if resp, body := f.call(t, "POST", "/v1/ask", `{"question":`+question+`}`); resp.StatusCode != 200 {
						t.Errorf("status %d: %s", resp.StatusCode, body)
					}
				})
			}
			for range tt.asked {
				<-g.asked
			}
			for {
				if _, waiting := f.quotes.counts(); waiting == tt.waits && len(g.asked) == 0 {
					break
				}
				time.Sleep(time.Millisecond)
			}
			close(g.gate)
			calls.Wait()
			if running, waiting := f.quotes.counts(); running+waiting > 0 {
				t.Errorf("%d run and %d wait after all was answered", running, waiting)
			}
		})
	}
}

// gated is a model that answers when it is let.
type gated struct {
	asked chan struct{} // gets one for each call
	gate  chan struct{} // closed, or one for each call
}

func newGated() *gated { return &gated{make(chan struct{}, 10_000), make(chan struct{})} }

func (*gated) Name() string { return "gated" }

func (g *gated) Generate(ctx context.Context, _ llm.Request, stream func(string) error) (llm.Response, error) {
	if stream != nil {
		if err := stream("Well, "); err != nil {
			return llm.Response{}, err
		}
	}
	g.asked <- struct{}{}
	select {
	case <-g.gate:
	case <-ctx.Done():
		return llm.Response{}, ctx.Err()
	}
	if stream != nil {
		if err := stream("yes [1]."); err != nil {
			return llm.Response{}, err
		}
	}
	return llm.Response{Text: "Well, yes [1].", Stopped: "stop"}, nil
}

func TestFullQueueIsRefusedWithRetryAfter(t *testing.T) {
	g := newGated()
	f := start(t, g, func(o *Options) { withKeys(o); o.Limits.Answers, o.Limits.Waiting = 1, 1 })
	f.library.add(t, "alice", Default, "a.md", "One text.\n")
	f.library.add(t, "bob", Default, "b.md", "Other text.\n")
	ask := func(key string) int {
		resp, _ := f.call(t, "POST", "/v1/ask", `{"question":"text?"}`, "Authorization", "Bearer "+key)
		return resp.StatusCode
	}
	statuses := make(chan int, 3)
	var calls sync.WaitGroup
	calls.Go(func() { statuses <- ask(aliceReads) })
	<-g.asked
	calls.Go(func() { statuses <- ask(aliceReads) })
	for { // until it waits
		if _, waiting := f.answers.counts(); waiting == 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	resp, body := f.call(t, "POST", "/v1/ask", `{"question":"text?"}`, "Authorization", "Bearer "+aliceReads)
	if after, err := strconv.Atoi(resp.Header.Get("Retry-After")); resp.StatusCode != 429 || err != nil || after < 1 || !strings.Contains(body, "queue_full") {
		t.Errorf("status %d, Retry-After %q: %s", resp.StatusCode, resp.Header.Get("Retry-After"), body)
	}
	calls.Go(func() { statuses <- ask(bobDoesAll) }) // another tenant has room of its own
	for {
		if _, waiting := f.answers.counts(); waiting == 2 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	close(g.gate)
	calls.Wait()
	for range 3 {
		if s := <-statuses; s != 200 {
			t.Errorf("status %d of one that waited", s)
		}
	}
	if _, metrics := f.call(t, "GET", "/metrics", "", "Authorization", "Bearer "+adminKey); !strings.Contains(metrics, `waymark_refused_total{reason="queue"} 1`) {
		t.Error("the refusal is not counted")
	}
}

func TestRateOfATenant(t *testing.T) {
	f := start(t, extractive(), func(o *Options) { withKeys(o); o.Limits.Rate = 0.5 }) // a burst of one
	get := func(key string) *http.Response {
		resp, _ := f.call(t, "GET", "/v1/documents", "", "Authorization", "Bearer "+key)
		return resp
	}
	if s := get(aliceReads).StatusCode; s != 200 {
		t.Errorf("the first: status %d", s)
	}
	if resp := get(aliceReads); resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "2" {
		t.Errorf("the second: status %d, Retry-After %q, want 429 and 2", resp.StatusCode, resp.Header.Get("Retry-After"))
	}
	if s := get(bobDoesAll).StatusCode; s != 200 {
		t.Errorf("the other tenant: status %d", s)
	}
}

func TestPendingUploadsAreBounded(t *testing.T) {
	f := start(t, extractive(), func(o *Options) { o.Limits.Upload, o.Limits.Pending = 1000, 1000 })
	held, err := f.jobs.queue.join("x") // both slots, so that jobs wait
	if err != nil {
		t.Fatal(err)
	}
	held2, err := f.jobs.queue.join("x")
	if err != nil {
		t.Fatal(err)
	}
	body := fmt.Sprintf(`{"documents":[{"text":%q}]}`, strings.Repeat("word ", 120))
	id := get[map[string]string](t, f, 202, "POST", "/v1/documents", body)["job"]
	if resp, _ := f.call(t, "POST", "/v1/documents", body); resp.StatusCode != 429 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("status %d for more than may wait", resp.StatusCode)
	}
	if j := get[jobStatus](t, f, 200, "GET", "/v1/jobs/"+id, ""); j.State != "queued" {
		t.Errorf("job %+v", j)
	}
	held.leave()
	held2.leave()
	f.call(t, "GET", "/v1/jobs/"+id, "", "Accept", "text/event-stream") // ends with the job, which then holds nothing
	if resp, body := f.call(t, "POST", "/v1/documents", body); resp.StatusCode != 202 {
		t.Errorf("status %d when there is room again: %s", resp.StatusCode, body)
	}
}

func TestLimitsAreChecked(t *testing.T) {
	l := newLibrary(t, extractive())
	for _, change := range []func(*Options){
		func(o *Options) { o.Limits.Body = -1 }, func(o *Options) { o.Limits.Pending = 1 }, func(o *Options) { o.Limits.Rate = -1 },
		func(o *Options) { o.Passages = 1001 }, func(o *Options) { o.PublicURL = "docs.example" }, func(o *Options) { o.PublicURL = "https://me:pw@docs.example" },
		func(o *Options) { o.Origins = []string{"app.example"} }, func(o *Options) { o.Collections = nil }, func(o *Options) { o.Embedder = nil },
	} {
		opts := Options{Collections: l, Embedder: l.embedder}
		change(&opts)
		if _, err := New(opts); err == nil || strings.Contains(err.Error(), "pw") {
			t.Errorf("error %v", err)
		}
	}
}
