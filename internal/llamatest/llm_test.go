//go:build llama

package llamatest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/waymark-rag/waymark/llm"
)

func open(t *testing.T, s *Server) llm.Model {
	t.Helper()
	m, err := llm.Open(llm.Config{Provider: "openai", Model: Model, BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ask(text string, maxTokens int) llm.Request {
	cold := 0.0
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}, MaxTokens: maxTokens, Temperature: &cold}
}

const story = "Write a long story about a cat, a dog and a house by the sea."

// A reply comes in pieces, which make up the whole; it is that of a call that does not
// stream, and as long as it may be.
func TestStream(t *testing.T) {
	m := open(t, Start(t, 1024))
	const limit = 24
	var pieces []string
	streamed, err := m.Generate(t.Context(), ask(story, limit), func(piece string) error { pieces = append(pieces, piece); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if len(pieces) < limit/2 || strings.Join(pieces, "") != streamed.Text {
		t.Errorf("%d pieces of up to %d: %q, want %q in them", len(pieces), limit, pieces, streamed.Text)
	}
	if streamed.AnswerTokens != limit || streamed.Stopped != "length" || streamed.PromptTokens < 20 {
		t.Errorf("%+v, want %d tokens and then to be stopped", streamed, limit)
	}
	whole, err := m.Generate(t.Context(), ask(story, limit), nil)
	if err != nil || whole != streamed {
		t.Errorf("without a stream %+v, %v, want %+v", whole, err, streamed)
	}
	short, err := m.Generate(t.Context(), ask("Say yes.", 200), nil)
	if err != nil || short.Stopped != "stop" || short.AnswerTokens >= 200 {
		t.Errorf("a short reply: %+v, %v, want it to end by itself", short, err)
	}
}

// Whoever stops listening stops the model.
func TestCancel(t *testing.T) {
	s := Start(t, 1024)
	m := open(t, s)
	const limit = 900
	enough := errors.New("enough")
	for name, stop := range map[string]func(context.CancelFunc) error{
		"the context ends":   func(cancel context.CancelFunc) error { cancel(); return nil },
		"a piece is refused": func(context.CancelFunc) error { return enough },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		before, pieces := s.WaitIdle(time.Minute), 0
		_, err := m.Generate(ctx, ask(story, limit), func(string) error {
			if pieces++; pieces == 3 {
				return stop(cancel)
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) && !errors.Is(err, enough) {
			t.Errorf("%s: error %v", name, err)
		}
		if n := s.WaitIdle(time.Minute) - before; n < 3 || n >= limit {
			t.Errorf("%s: the server went on to %d tokens of %d", name, n, limit)
		}
	}
}

// A prompt that the server has no room for is its error in words, not an empty reply;
// a reply that it has no room for says that it was cut.
func TestContextOverflow(t *testing.T) {
	m := open(t, Start(t, 256))
	_, err := m.Generate(t.Context(), ask(strings.Repeat("The sea was calm. ", 100), 10), nil)
	if !errors.Is(err, llm.ErrTooLong) || !strings.Contains(err.Error(), "exceeds the available context size (256 tokens)") {
		t.Errorf("error %v, want the server's own words", err)
	}
	resp, err := m.Generate(t.Context(), ask(story, 2000), nil)
	if err != nil || resp.Stopped != "length" || resp.PromptTokens+resp.AnswerTokens > 256 {
		t.Errorf("%+v, %v, want a reply cut at 256 tokens", resp, err)
	}
}
