package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const testKey = "sk-very-secret"

// protocol is how a provider's server replies.
type protocol struct {
	base   string // of the provider's URL
	path   string // below it
	key    string // header, and what stands in front of the key
	stream func(w io.Writer, piece string)
	end    func(w io.Writer)
	whole  func(w io.Writer, text string)
	fail   func(message string) string // body of an error
}

var openaiProtocol = protocol{
	base: "/v1",
	path: "/chat/completions",
	key:  "Authorization: Bearer ",
	stream: func(w io.Writer, piece string) {
		fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", piece)
	},
	end: func(w io.Writer) {
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":4,\"total_tokens\":9}}\n\ndata: [DONE]\n\n")
	},
	whole: func(w io.Writer, text string) {
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":4,"total_tokens":9}}`, text)
	},
	fail: func(m string) string { return fmt.Sprintf(`{"error":{"message":%q}}`, m) },
}

// googleProtocol is OpenAI's, but for the place and the errors.
func googleProtocol() protocol {
	p := openaiProtocol
	p.base = "/v1beta/openai"
	p.fail = func(m string) string { return fmt.Sprintf(`[{"error":{"code":400,"message":%q,"status":"X"}}]`, m) }
	return p
}

var protocols = map[string]protocol{
	"openai": openaiProtocol,
	"google": googleProtocol(),
	"anthropic": {
		base: "/v1",
		path: "/messages",
		key:  "X-Api-Key: ",
		stream: func(w io.Writer, piece string) {
			if piece == "In " || piece == "Yes" { // the first
				fmt.Fprint(w, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n"+
					"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n")
			}
			fmt.Fprintf(w, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":%q}}\n\n", piece)
		},
		end: func(w io.Writer) {
			fmt.Fprint(w, "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"+
				"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":4}}\n\n"+
				"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
		},
		whole: func(w io.Writer, text string) {
			fmt.Fprintf(w, `{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":%q}],"stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":4}}`, text)
		},
		fail: func(m string) string { return fmt.Sprintf(`{"type":"error","error":{"type":"x","message":%q}}`, m) },
	},
	"ollama": {
		path: "/api/chat",
		key:  "Authorization: Bearer ",
		stream: func(w io.Writer, piece string) {
			fmt.Fprintf(w, "{\"message\":{\"role\":\"assistant\",\"content\":%q},\"done\":false}\n", piece)
		},
		end: func(w io.Writer) {
			fmt.Fprint(w, "{\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":5,\"eval_count\":4}\n")
		},
		whole: func(w io.Writer, text string) {
			fmt.Fprintf(w, "{\"message\":{\"role\":\"assistant\",\"content\":%q},\"done\":true,\"prompt_eval_count\":5,\"eval_count\":4}\n", text)
		},
		fail: func(m string) string { return fmt.Sprintf(`{"error":%q}`, m) },
	},
}

// serve opens a model of the protocol at a test server.
func serve(t *testing.T, name string, handler func(w http.ResponseWriter, body map[string]any)) *langchain {
	t.Helper()
	return serveRequests(t, name, func(w http.ResponseWriter, _ *http.Request, body map[string]any) { handler(w, body) })
}

// serveRequests is serve for handlers that look at the request, too.
func serveRequests(t *testing.T, name string, handler func(w http.ResponseWriter, r *http.Request, body map[string]any)) *langchain {
	t.Helper()
	p := protocols[name]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header, scheme, _ := strings.Cut(p.key, ": ")
		if r.URL.Path != p.base+p.path || r.Header.Get(header) != scheme+testKey {
			t.Errorf("request to %s with headers %v", r.URL.Path, r.Header)
		}
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		handler(w, r, body)
	}))
	t.Cleanup(server.Close)
	model, err := Open(Config{Provider: name, Model: "tiny", BaseURL: server.URL + p.base, APIKey: testKey, ContextTokens: 2048})
	if err != nil {
		t.Fatal(err)
	}
	m := model.(*langchain)
	m.backoff = 0
	return m
}

// generate calls a model and returns what it streamed, too.
func generate(ctx context.Context, m Model) (string, Response, error) {
	var pieces strings.Builder
	resp, err := m.Generate(ctx, Request{Messages: []Message{{User, "Hello"}}, MaxTokens: 64}, func(p string) error {
		pieces.WriteString(p)
		return nil
	})
	return pieces.String(), resp, err
}
