package llmtest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/waymark-rag/waymark/llm"
)

// TestModel checks what llm.Model promises. The model must reply to a question
// about dragons, the same way each time, with at least one piece.
func TestModel(t *testing.T, model llm.Model) {
	t.Helper()
	req := llm.Request{
		Messages: []llm.Message{
			{Role: llm.System, Text: "Answer from the passages."},
			{Role: llm.User, Text: "Where do dragons sleep?"},
			{Role: llm.Assistant, Text: "Do you mean large dragons?"},
			{Role: llm.User, Text: "Dragons sleep in caves.\n\nWhere do large dragons sleep?"},
		},
		Question:  "Where do large dragons sleep?",
		Sources:   []string{"Large dragons sleep in deep caves. Small dragons sleep in trees."},
		MaxTokens: 256,
	}
	ctx := context.Background()
	want, err := model.Generate(ctx, req, nil)
	if err != nil {
		t.Fatalf("blocking: %v", err)
	}

	t.Run("name", func(t *testing.T) {
		if model.Name() == "" {
			t.Error("Name is empty")
		}
	})
	t.Run("reply", func(t *testing.T) {
		if want.Text == "" || want.Stopped != "stop" && want.Stopped != "length" {
			t.Errorf("got text %q, stopped %q: want some text, and stop or length", want.Text, want.Stopped)
		}
	})
	t.Run("streamed pieces make up the text", func(t *testing.T) {
		var b strings.Builder
		got, err := model.Generate(ctx, req, func(piece string) error {
			b.WriteString(piece)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got != want || b.String() != want.Text {
			t.Errorf("streamed %q, response %+v: want %+v", b.String(), got, want)
		}
	})
	t.Run("error of stream is returned", func(t *testing.T) {
		full := errors.New("receiver is full")
		calls := 0
		got, err := model.Generate(ctx, req, func(string) error {
			calls++
			return full
		})
		if err != full || got != (llm.Response{}) || calls != 1 {
			t.Errorf("got %+v, %v after %d calls: want a zero response and the stream's own error after 1", got, err, calls)
		}
	})
	t.Run("cancelled before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		got, err := model.Generate(ctx, req, func(string) error {
			t.Error("a piece was streamed")
			return nil
		})
		if !errors.Is(err, context.Canceled) || got != (llm.Response{}) {
			t.Errorf("got %+v, %v: want a zero response and context.Canceled", got, err)
		}
	})
	t.Run("cancelled while streaming", func(t *testing.T) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		got, err := model.Generate(ctx, req, func(string) error {
			cancel()
			return ctx.Err()
		})
		if !errors.Is(err, context.Canceled) || got != (llm.Response{}) {
			t.Errorf("got %+v, %v: want a zero response and context.Canceled", got, err)
		}
	})
	t.Run("concurrent", func(t *testing.T) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if got, err := model.Generate(ctx, req, nil); err != nil || got != want {
					t.Errorf("got %+v, %v: want %+v", got, err, want)
				}
			})
		}
		wg.Wait()
	})
	t.Run("empty request", func(t *testing.T) {
		if _, err := model.Generate(ctx, llm.Request{}, nil); err != nil {
			t.Logf("refused: %v", err) // either is right, as long as it does not panic
		}
	})
}
