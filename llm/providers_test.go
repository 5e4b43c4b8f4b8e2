package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const testKey = "sk-very-secret"

// protocol is how a provider's server replies.
type protocol struct {
	path   string
	stream func(w io.Writer, piece string)
	end    func(w io.Writer)
	whole  func(w io.Writer, text string)
	fail   func(message string) string // body of an error
}

var protocols = map[string]protocol{
	"openai": {
		path: "/v1/chat/completions",
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
	},
	"ollama": {
		path: "/api/chat",
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
	p := protocols[name]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != p.path || r.Header.Get("Authorization") != "Bearer "+testKey {
			t.Errorf("request to %s with authorization %q", r.URL.Path, r.Header.Get("Authorization"))
		}
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		handler(w, body)
	}))
	t.Cleanup(server.Close)
	base := server.URL
	if name == "openai" {
		base += "/v1"
	}
	model, err := Open(Config{Provider: name, Model: "tiny", BaseURL: base, APIKey: testKey, ContextTokens: 2048})
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

func TestProvidersReply(t *testing.T) {
	for name, p := range protocols {
		t.Run(name, func(t *testing.T) {
			var sent map[string]any
			m := serve(t, name, func(w http.ResponseWriter, body map[string]any) {
				sent = body
				if body["stream"] != true {
					p.whole(w, "In “caves”.")
					return
				}
				p.stream(w, "In ")
				p.stream(w, "“caves”.")
				p.end(w)
			})
			want := Response{Text: "In “caves”.", Stopped: "stop", PromptTokens: 5, AnswerTokens: 4}
			streamed, resp, err := generate(context.Background(), m)
			if err != nil || streamed != want.Text || resp != want {
				t.Errorf("streaming: got %q, %+v, %v", streamed, resp, err)
			}
			resp, err = m.Generate(context.Background(), Request{Messages: []Message{{User, "Hello"}}, MaxTokens: 64}, nil)
			if err != nil || resp != want {
				t.Errorf("blocking: got %+v, %v", resp, err)
			}
			limits := sent
			if name == "ollama" {
				limits = sent["options"].(map[string]any)
				limits["max_tokens"] = limits["num_predict"]
				if limits["num_ctx"] != 2048.0 {
					t.Errorf("context %v: want 2048", limits["num_ctx"])
				}
			}
			if sent["model"] != "tiny" || limits["max_tokens"] != 64.0 {
				t.Errorf("sent %v", sent)
			}
			if m.Name() != name+"/tiny" {
				t.Errorf("name %q", m.Name())
			}
		})
	}
}

func TestProvidersRecover(t *testing.T) {
	for name, p := range protocols {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			m := serve(t, name, func(w http.ResponseWriter, _ map[string]any) {
				if calls.Add(1) == 1 {
					http.Error(w, "out of memory", http.StatusInternalServerError)
					return
				}
				p.stream(w, "Yes")
				p.end(w)
			})
			if streamed, _, err := generate(context.Background(), m); err != nil || streamed != "Yes" || calls.Load() != 2 {
				t.Errorf("got %q, %v after %d calls", streamed, err, calls.Load())
			}
		})
	}
}

func TestProvidersFail(t *testing.T) {
	for name, p := range protocols {
		tests := []struct {
			name    string
			handler func(w http.ResponseWriter, _ map[string]any)
			want    string
			kind    error
			calls   int32
		}{
			{"access", func(w http.ResponseWriter, _ map[string]any) {
				w.WriteHeader(http.StatusUnauthorized)
				fmt.Fprint(w, p.fail("the key "+testKey+" is unknown"))
			}, "401 Unauthorized: the key [api key] is unknown", ErrDenied, 1},
			{"down", func(w http.ResponseWriter, _ map[string]any) {
				http.Error(w, "<html>\n"+testKey+" overloaded", http.StatusServiceUnavailable)
			}, "503 Service Unavailable: <html> [api key] overloaded", ErrUnavailable, attempts},
			{"unknown model", func(w http.ResponseWriter, _ map[string]any) {
				w.WriteHeader(http.StatusNotFound)
				fmt.Fprint(w, p.fail("no model tiny"))
			}, "404 Not Found: no model tiny", nil, 1},
			{"cut stream", func(w http.ResponseWriter, _ map[string]any) {
				p.stream(w, "In ")
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}, "", ErrCut, 1},
			{"stream without an end", func(w http.ResponseWriter, _ map[string]any) {
				p.stream(w, "In ")
			}, "the reply ended before the model had finished it", ErrCut, 1},
		}
		for _, test := range tests {
			t.Run(name+" "+test.name, func(t *testing.T) {
				var calls atomic.Int32
				m := serve(t, name, func(w http.ResponseWriter, body map[string]any) {
					calls.Add(1)
					test.handler(w, body)
				})
				_, resp, err := generate(context.Background(), m)
				if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), name+"/tiny: ") {
					t.Fatalf("got %v: want %q", err, test.want)
				}
				if test.kind != nil && !errors.Is(err, test.kind) {
					t.Errorf("%v is no case of %v", err, test.kind)
				}
				for e := err; e != nil; e = errors.Unwrap(e) {
					if strings.Contains(fmt.Sprintf("%v %+v", e, e), testKey) {
						t.Errorf("the API key is in %v", e)
					}
				}
				if calls.Load() != test.calls || resp != (Response{}) {
					t.Errorf("%d calls, response %+v: want %d and zero", calls.Load(), resp, test.calls)
				}
			})
		}
	}
}

func TestProvidersUnreachable(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	for name := range protocols {
		model, err := Open(Config{Provider: name, Model: "tiny", BaseURL: server.URL, APIKey: testKey})
		if err != nil {
			t.Fatal(err)
		}
		model.(*langchain).backoff = 0
		_, _, err = generate(context.Background(), model)
		if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "cannot reach "+strings.TrimPrefix(server.URL, "http://")) {
			t.Errorf("%s: got %v: want that the server cannot be reached", name, err)
		}
	}
}

func TestProvidersSlow(t *testing.T) {
	for name, p := range protocols {
		for _, streaming := range []bool{true, false} {
			t.Run(fmt.Sprint(name, " streaming ", streaming), func(t *testing.T) {
				release := make(chan bool)
				ctx, cancel := context.WithCancel(context.Background())
				m := serve(t, name, func(w http.ResponseWriter, _ map[string]any) {
					if streaming {
						p.stream(w, "In ")
						w.(http.Flusher).Flush()
					} else {
						cancel()
					}
					<-release
				})
				defer close(release)
				var stream func(string) error
				if streaming {
					stream = func(string) error {
						cancel()
						return nil
					}
				}
				resp, err := m.Generate(ctx, Request{Messages: []Message{{User, "Hello"}}}, stream)
				if !errors.Is(err, context.Canceled) || resp != (Response{}) {
					t.Errorf("got %+v, %v: want context.Canceled", resp, err)
				}
			})
		}
	}
}

func TestProviderTimeout(t *testing.T) {
	release := make(chan bool)
	m := serve(t, "openai", func(http.ResponseWriter, map[string]any) { <-release })
	defer close(release)
	m.timeout = time.Millisecond
	_, _, err := generate(context.Background(), m)
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "no complete reply within 1ms") {
		t.Errorf("got %v: want a timeout", err)
	}
}

func TestOpen(t *testing.T) {
	tests := []struct {
		name, want string // name of the model, or part of the error
		config     Config
	}{
		{"default", "extractive", Config{}},
		{"openai", "openai/gpt-4o", Config{Provider: "openai", Model: "gpt-4o", APIKey: testKey}},
		{"server without a key", "openai/tiny", Config{Provider: "openai", Model: "tiny", BaseURL: "http://localhost:8080/v1"}},
		{"ollama", "ollama/llama3.2", Config{Provider: "ollama", Model: "llama3.2"}},
		{"unknown", `llm provider "gpt": want one of ["extractive" "ollama" "openai"]`, Config{Provider: "gpt"}},
		{"no model", `llm provider "ollama" needs a model`, Config{Provider: "ollama"}},
		{"no key", "openai needs an API key", Config{Provider: "openai", Model: "gpt-4o"}},
		{"timeout", "llm timeout -1s", Config{Timeout: -time.Second}},
		{"not a url", "want http://HOST:PORT/PATH", Config{Provider: "ollama", Model: "m", BaseURL: "http://[::1"}},
		{"no scheme", `llm base url "localhost:11434"`, Config{Provider: "ollama", Model: "m", BaseURL: "localhost:11434"}},
		{"password", "without user or password", Config{Provider: "ollama", Model: "m", BaseURL: "http://me:" + testKey + "@host"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			model, err := Open(test.config)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = model.Name()
			}
			if !strings.Contains(got, test.want) || strings.Contains(got, testKey) {
				t.Errorf("got %q: want %q", got, test.want)
			}
		})
	}
}

// langchaingo fills in from the environment what it is not given.
func TestOpenIgnoresTheEnvironment(t *testing.T) {
	for _, v := range []string{"OPENAI_API_KEY", "OPENAI_MODEL", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OLLAMA_HOST"} {
		t.Setenv(v, "http://from.the.environment.test")
	}
	if _, err := Open(Config{Provider: "openai", Model: "m"}); err == nil {
		t.Error("openai took its key from the environment")
	}
	m := serve(t, "openai", func(w http.ResponseWriter, body map[string]any) {
		if body["model"] != "tiny" {
			t.Errorf("model %v", body["model"])
		}
		protocols["openai"].stream(w, "Yes")
		protocols["openai"].end(w)
	})
	if _, _, err := generate(context.Background(), m); err != nil {
		t.Error(err)
	}
}
