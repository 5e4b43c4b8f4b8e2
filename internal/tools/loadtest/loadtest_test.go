package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPercentile(t *testing.T) {
	var values []time.Duration
	for i := range 200 {
		values = append(values, time.Duration(200-i))
	}
	for p, want := range map[float64]time.Duration{0: 1, .5: 100, .95: 190, .99: 198, .999: 200, 1: 200} {
		if got := percentile(values, p); got != want {
			t.Errorf("%v of 1 to 200 is %d, want %d", p, got, want)
		}
	}
	if values[0] != 200 {
		t.Error("the values were sorted in place")
	}
	if got := percentile([]time.Duration{7}, .01); got != 7 {
		t.Errorf("of a single 7: %d", got)
	}
	if got := percentile(nil, .5); got != 0 {
		t.Errorf("of none: %d", got)
	}
}

func TestArrivals(t *testing.T) {
	due := arrivals(500, time.Minute, rand.New(rand.NewPCG(1, 1)))
	if n := len(due); n < 29_000 || n > 31_000 { // 30,000 give or take 173
		t.Errorf("%d in a minute, want about 30,000", n)
	}
	if !slices.IsSorted(due) || due[0] < 0 || due[len(due)-1] >= time.Minute {
		t.Errorf("from %v to %v", due[0], due[len(due)-1])
	}
	// Of independent arrivals 1 in e gaps is longer than the mean.
	long := 0
	for i := 1; i < len(due); i++ {
		if due[i]-due[i-1] > 2*time.Millisecond {
			long++
		}
	}
	if share := float64(long) / float64(len(due)); share < .35 || share > .39 {
		t.Errorf("%.2f of the gaps are longer than the mean, want 0.37", share)
	}
	if none := arrivals(0, time.Minute, rand.New(rand.NewPCG(1, 1))); len(none) != 0 {
		t.Errorf("%d of none", len(none))
	}
}

func TestCauseLeavesAddressesOut(t *testing.T) {
	err := fmt.Errorf("a: %w", &url.Error{Op: "Post", URL: "http://127.0.0.1:1", Err: context.DeadlineExceeded})
	if got := cause(err); got != "context deadline exceeded" {
		t.Errorf("%q", got)
	}
}

// What a server answers is counted as what it is.
func TestOutcomes(t *testing.T) {
	stream := "event: query\ndata: {}\n\nevent: text\ndata: {}\n\n"
	for name, tt := range map[string]struct {
		path, body, after string
		status            int
		want              string // of outcome.failure
		refused           bool
	}{
		"found":         {path: "search", status: 200, body: `{"hits":[{"document":"a.md"}]}`},
		"nothing found": {path: "search", status: 200, body: `{"hits":[]}`, want: "200 without hits"},
		"broken":        {path: "search", status: 200, body: `{"hits":`, want: "a broken answer: unexpected EOF"},
		"full":          {path: "search", status: 429, after: "2", refused: true},
		"rude":          {path: "search", status: 429, want: "429 without Retry-After"},
		"down":          {path: "search", status: 503, after: "2", want: "status 503"},
		"answered":      {path: "ask", status: 200, body: stream + "event: answer\ndata: {}\n\n"},
		"failed":        {path: "ask", status: 200, body: stream + "event: error\ndata: {}\n\n", want: "an error in the stream"},
		"cut":           {path: "ask", status: 200, body: stream, want: "a stream without an answer"},
		"full stream":   {path: "ask", status: 429, after: "1", refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer key" {
					t.Error("without the key")
				}
				if tt.after != "" {
					w.Header().Set("Retry-After", tt.after)
				}
				w.WriteHeader(tt.status)
				fmt.Fprint(w, tt.body)
			}))
			defer s.Close()
			c := newClient(s.URL, "key")
			var o outcome
			if tt.path == "ask" {
				o = c.ask(t.Context(), "why?", nil)
			} else {
				o = c.search(t.Context(), time.Now(), "why?")
			}
			if o.failure != tt.want || o.refused != tt.refused || (o.took > 0) != (tt.want == "" && !tt.refused) {
				t.Errorf("%+v", o)
			}
			var all tally
			all.add(o)
			if all.offered != 1 || all.refused+len(all.took)+len(all.failed) != 1 {
				t.Errorf("counted as %+v", &all)
			}
		})
	}
}

func TestReport(t *testing.T) {
	light := &tenant{name: "light"}
	for i := range 98 {
		light.searches.add(outcome{took: time.Duration(i+1) * time.Millisecond})
	}
	light.searches.add(outcome{refused: true})
	light.searches.add(outcome{failure: "status 500"})
	light.streams.add(outcome{first: time.Second, took: 2 * time.Second})
	watch := &watcher{samples: []sample{{"before", 200 << 20, 12}}}
	var out strings.Builder
	load{streams: 1, searches: 100, time: time.Second, tenants: "light=1"}.report(&out, []*tenant{light}, watch, 0)
	for _, want := range []string{
		"| searches | light | 100 | 98 | 1.0 % | 1 | 0.049 s | 0.094 s | 0.098 s |\n",
		"| streams, first word | light | 1 | 1 | 0.0 % | 0 | 1 s | 1 s | 1 s |\n| streams | light | 1 | 1 | 0.0 % | 0 | 2 s | 2 s | 2 s |\n",
		"\n- searches of light: status 500, 1 times\n",
		"| before | 200 MiB | 12 |\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q in\n%s", want, out.String())
		}
	}
}
