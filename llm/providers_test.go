package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

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

// What a request says of how the reply is written reaches the provider.
func TestProvidersAreToldHowToWrite(t *testing.T) {
	for name, p := range protocols {
		t.Run(name, func(t *testing.T) {
			var sent map[string]any
			m := serve(t, name, func(w http.ResponseWriter, body map[string]any) {
				sent = body
				p.whole(w, "Yes")
			})
			temperature, topP, seed := 0.75, 0.5, 7
			req := Request{Messages: []Message{{User, "Hello"}}, MaxTokens: 9, Temperature: &temperature, TopP: &topP, Seed: &seed, Stop: []string{"END"}}
			if _, err := m.Generate(context.Background(), req, nil); err != nil {
				t.Fatal(err)
			}
			want := map[string]any{"temperature": 0.75, "top_p": 0.5, "seed": 7.0, "stop": []any{"END"}, "max_tokens": 9.0}
			switch name {
			case "ollama":
				sent = sent["options"].(map[string]any)
				sent["max_tokens"] = sent["num_predict"]
			case "anthropic": // which knows no seed
				delete(want, "seed")
				sent["stop"] = sent["stop_sequences"]
			}
			for field, value := range want {
				if !reflect.DeepEqual(sent[field], value) {
					t.Errorf("%s is %v, want %v", field, sent[field], value)
				}
			}
			if _, err := m.Generate(context.Background(), Request{Messages: []Message{{User, "Hello"}}}, nil); err != nil {
				t.Fatal(err)
			}
			for _, field := range []string{"top_p", "seed", "stop", "stop_sequences"} {
				if v, ok := sent[field]; ok && v != nil {
					t.Errorf("%s %v is sent without being asked for", field, v)
				}
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
			}, "404 Not Found: no model tiny", ErrFailed, 1},
			{"too long", func(w http.ResponseWriter, _ map[string]any) {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(w, p.fail("request (4531 tokens) exceeds the available context size (2048 tokens)"))
			}, "400 Bad Request: request (4531 tokens)", ErrTooLong, 1},
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
				if !errors.Is(err, test.kind) {
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
				left := make(chan bool)
				ctx, cancel := context.WithCancel(context.Background())
				m := serveRequests(t, name, func(w http.ResponseWriter, r *http.Request, _ map[string]any) {
					if streaming {
						p.stream(w, "In ")
						w.(http.Flusher).Flush()
					} else {
						cancel()
					}
					<-r.Context().Done() // the server learns of it, too
					close(left)
				})
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
				select {
				case <-left:
				case <-time.After(10 * time.Second):
					t.Error("the server was left generating")
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

// The key goes to the server that was named and to no other.
func TestProvidersFollowNoRedirect(t *testing.T) {
	var asked atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	for name := range protocols {
		m := serve(t, name, func(w http.ResponseWriter, _ map[string]any) {
			w.Header().Set("Location", other.URL+"/?key="+testKey)
			w.WriteHeader(http.StatusTemporaryRedirect)
		})
		_, _, err := generate(context.Background(), m)
		if err == nil || !strings.Contains(err.Error(), "redirects are not followed: set the base url to one on "+strings.TrimPrefix(other.URL, "http://")) || strings.Contains(err.Error(), testKey) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if asked.Load() > 0 {
		t.Errorf("the other server was asked %d times", asked.Load())
	}
}

// Providers say in words of their own that a prompt is too long.
func TestTooLong(t *testing.T) {
	for message, want := range map[string]error{
		"This model's maximum context length is 8192 tokens. However, your messages resulted in 10000 tokens.": ErrTooLong,
		"request (4531 tokens) exceeds the available context size (2048 tokens), try increasing it":            ErrTooLong,
		"prompt is too long: 208310 tokens > 200000 maximum":                                                   ErrTooLong,
		"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).":              ErrTooLong,
		"unknown field": nil,
	} {
		if got := kindOfAnswer(http.StatusBadRequest, message); got != want {
			t.Errorf("%q: %v, want %v", message, got, want)
		}
	}
	if got := kindOfAnswer(http.StatusTooManyRequests, "context length"); got != ErrUnavailable {
		t.Errorf("429: %v", got)
	}
}
