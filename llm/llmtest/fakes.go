package llmtest

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/waymark-rag/waymark/llm"
)

// Echo replies with the text of the messages it was sent, so that a test can
// read back the prompt. It streams line by line.
type Echo struct{}

// Name implements llm.Model.
func (Echo) Name() string { return "echo" }

// Generate implements llm.Model.
func (Echo) Generate(ctx context.Context, req llm.Request, stream func(string) error) (llm.Response, error) {
	var b strings.Builder
	for _, m := range req.Messages {
		b.WriteString(string(m.Role) + ": " + m.Text + "\n")
	}
	return reply(ctx, strings.SplitAfter(b.String(), "\n"), nil, stream)
}

// Scripted replies with given pieces, whatever it is asked, and remembers what
// that was. Set the fields before the first call.
type Scripted struct {
	Pieces []string
	// Err, when not nil, is returned after the pieces.
	Err error
	// Stopped is llm.Response.Stopped; empty means "stop".
	Stopped string

	mu       sync.Mutex
	requests []llm.Request
}

// Name implements llm.Model.
func (*Scripted) Name() string { return "scripted" }

// Generate implements llm.Model.
func (s *Scripted) Generate(ctx context.Context, req llm.Request, stream func(string) error) (llm.Response, error) {
	s.mu.Lock()
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	resp, err := reply(ctx, s.Pieces, s.Err, stream)
	if err == nil && s.Stopped != "" {
		resp.Stopped = s.Stopped
	}
	return resp, err
}

// Requests returns what the model was asked, in order.
func (s *Scripted) Requests() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]llm.Request(nil), s.requests...)
}

// Dialogue gives one reply for each call, in order, word by word, and remembers
// what it was asked. After the last reply every call fails.
type Dialogue struct {
	Replies []string

	mu       sync.Mutex
	requests []llm.Request
}

// Name implements llm.Model.
func (*Dialogue) Name() string { return "dialogue" }

// Generate implements llm.Model.
func (d *Dialogue) Generate(ctx context.Context, req llm.Request, stream func(string) error) (llm.Response, error) {
	d.mu.Lock()
	n := len(d.requests)
	d.requests = append(d.requests, req)
	d.mu.Unlock()
	if n >= len(d.Replies) {
		return llm.Response{}, fmt.Errorf("the dialogue has %d replies: this is call %d", len(d.Replies), n+1)
	}
	return reply(ctx, strings.SplitAfter(d.Replies[n], " "), nil, stream)
}

// Requests returns what the model was asked, in order.
func (d *Dialogue) Requests() []llm.Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]llm.Request(nil), d.requests...)
}

// reply streams the pieces and then fails or returns them.
func reply(ctx context.Context, pieces []string, fail error, stream func(string) error) (llm.Response, error) {
	for _, p := range pieces {
		if err := ctx.Err(); err != nil {
			return llm.Response{}, err
		}
		if stream == nil {
			continue
		}
		if err := stream(p); err != nil {
			return llm.Response{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return llm.Response{}, err
	}
	if fail != nil {
		return llm.Response{}, fail
	}
	return llm.Response{Text: strings.Join(pieces, ""), Stopped: "stop"}, nil
}
