package llm

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
)

func TestAnthropicReply(t *testing.T) {
	m := serve(t, "anthropic", func(w http.ResponseWriter, body map[string]any) {
		if body["system"] != "Be brief." || body["max_tokens"] != 64.0 || len(body["messages"].([]any)) != 1 {
			t.Errorf("sent %v", body)
		}
		fmt.Fprint(w, `{"type":"message","role":"assistant","content":[{"type":"thinking","thinking":"Well.","signature":"s"},{"type":"text","text":"In "},{"type":"text","text":"caves."}],"stop_reason":"max_tokens","usage":{"input_tokens":7,"output_tokens":64}}`)
	})
	req := Request{Messages: []Message{{System, "Be brief."}, {User, "Where?"}}, MaxTokens: 64}
	got, err := m.Generate(context.Background(), req, nil)
	want := Response{Text: "In caves.", Stopped: "length", PromptTokens: 7, AnswerTokens: 64}
	if err != nil || got != want {
		t.Errorf("got %+v, %v: want %+v", got, err, want)
	}
}

// An error in the middle of a stream is no cut reply.
func TestAnthropicOverloaded(t *testing.T) {
	var calls atomic.Int32
	m := serve(t, "anthropic", func(w http.ResponseWriter, _ map[string]any) {
		if calls.Add(1) == 1 {
			fmt.Fprint(w, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n")
			return
		}
		protocols["anthropic"].stream(w, "Yes")
		protocols["anthropic"].end(w)
	})
	if streamed, _, err := generate(context.Background(), m); err != nil || streamed != "Yes" || calls.Load() != 2 {
		t.Errorf("got %q, %v after %d calls", streamed, err, calls.Load())
	}
}
