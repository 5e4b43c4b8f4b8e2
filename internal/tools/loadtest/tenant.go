package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// tenant sends its share of the load.
type tenant struct {
	name     string
	share    float64 // 0 to 1
	client   *client
	searches tally
	streams  tally
}

// client sends requests with a key.
type client struct {
	http     *http.Client
	url, key string
}

func newClient(url, key string) *client {
	transport := &http.Transport{MaxIdleConnsPerHost: 1000, DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext}
	return &client{&http.Client{Transport: transport}, url, key}
}

// search sends a search at each of the due times, and returns when all are answered.
func (t *tenant) search(ctx context.Context, due []time.Duration, questions []string) {
	start := time.Now()
	var all sync.WaitGroup
	for i, at := range due {
		sleep(ctx, time.Until(start.Add(at)))
		if ctx.Err() != nil {
			break
		}
		all.Go(func() { t.searches.add(t.client.search(ctx, start.Add(at), questions[i%len(questions)])) })
	}
	all.Wait()
}

// stream asks one question after the other until ctx ends, and lets the last be
// answered unless all ends.
func (t *tenant) stream(until, all context.Context, number int, questions []string) {
	for i := number; until.Err() == nil; i++ {
		o := t.client.ask(all, questions[i%len(questions)], nil)
		t.streams.add(o)
		if o.refused {
			sleep(until, o.retry)
		} else if o.failure != "" {
			sleep(until, time.Second)
		}
	}
}

// leave asks, and goes away at the first event.
func (t *tenant) leave(ctx context.Context, question string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t.client.ask(ctx, question, cancel)
}

// post sends JSON. Unless the answer is a 200, the outcome says what it is.
func (c *client) post(ctx context.Context, path string, body any) (*http.Response, outcome) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, outcome{failure: err.Error()}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, bytes.NewReader(data))
	if err != nil {
		return nil, outcome{failure: err.Error()}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.key)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, outcome{failure: cause(err)}
	}
	if resp.StatusCode == http.StatusOK {
		return resp, outcome{}
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body) //nolint:errcheck // so that the connection is used again
	after, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	switch {
	case resp.StatusCode != http.StatusTooManyRequests:
		return nil, outcome{failure: fmt.Sprintf("status %d", resp.StatusCode)}
	case err != nil || after < 1:
		return nil, outcome{failure: "429 without Retry-After"}
	}
	return nil, outcome{refused: true, retry: time.Duration(after) * time.Second}
}

// cause is an error without the addresses in it, which differ from one to the next.
func cause(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err.Error()
}

// search sends one search, due at a time.
func (c *client) search(ctx context.Context, due time.Time, question string) outcome {
	resp, o := c.post(ctx, "/v1/search", map[string]any{"query": question})
	if resp == nil {
		return o
	}
	defer resp.Body.Close()
	var found struct {
		Hits []struct {
			Document string `json:"document"`
		} `json:"hits"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&found); err != nil {
		return outcome{failure: "a broken answer: " + cause(err)}
	}
	if len(found.Hits) == 0 {
		return outcome{failure: "200 without hits"}
	}
	return outcome{took: time.Since(due)}
}

// ask reads a streamed answer to its end; began, if there is one, is called at the
// first event.
func (c *client) ask(ctx context.Context, question string, began func()) outcome {
	start := time.Now()
	resp, o := c.post(ctx, "/v1/ask", map[string]any{"question": question, "stream": true})
	if resp == nil {
		return o
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		event, ok := strings.CutPrefix(lines.Text(), "event: ")
		if !ok {
			continue
		}
		if began != nil {
			began()
			began = nil
		}
		switch {
		case event == "text" && o.first == 0:
			o.first = time.Since(start)
		case event == "answer":
			o.took = time.Since(start)
		case event == "error":
			return outcome{failure: "an error in the stream"}
		}
	}
	if err := lines.Err(); err != nil {
		return outcome{failure: "a cut stream: " + cause(err)}
	}
	if o.took == 0 {
		return outcome{failure: "a stream without an answer"}
	}
	return o
}
