package llm_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/llm/llmtest"
)

// provider is a langchaingo model made of a function.
type provider func(ctx context.Context, messages []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error)

func (p provider) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, option := range options {
		option(&o)
	}
	return p(ctx, messages, o)
}

func (p provider) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, p, prompt, options...)
}

// say streams pieces and returns them.
func say(ctx context.Context, o llms.CallOptions, pieces ...string) (*llms.ContentResponse, error) {
	for _, p := range pieces {
		if o.StreamingFunc == nil {
			break
		}
		if err := o.StreamingFunc(ctx, []byte(p)); err != nil {
			return nil, err
		}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: strings.Join(pieces, ""), StopReason: "stop"}}}, nil
}

func hello() llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Hello"}}}
}

func ExampleLangchain() {
	// Any langchaingo model will do; this one is made up.
	model := llm.Langchain(provider(func(ctx context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
		return say(ctx, o, "Hello ", "to you")
	}), "made-up")
	resp, err := model.Generate(context.Background(), hello(), func(piece string) error {
		fmt.Printf("%q\n", piece)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(resp.Text)
	// Output:
	// "Hello "
	// "to you"
	// Hello to you
}

func TestLangchainContract(t *testing.T) {
	t.Run("streaming", func(t *testing.T) {
		llmtest.TestModel(t, llm.Langchain(provider(func(ctx context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
			return say(ctx, o, "In ", "", "caves")
		}), "streaming"))
	})
	t.Run("not streaming", func(t *testing.T) {
		llmtest.TestModel(t, llm.Langchain(provider(func(ctx context.Context, _ []llms.MessageContent, _ llms.CallOptions) (*llms.ContentResponse, error) {
			return say(ctx, llms.CallOptions{}, "In caves")
		}), "not streaming"))
	})
}

func TestLangchainPassesTheRequestOn(t *testing.T) {
	var roles []llms.ChatMessageType
	var options llms.CallOptions
	model := llm.Langchain(provider(func(ctx context.Context, messages []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
		for _, m := range messages {
			roles = append(roles, m.Role)
		}
		options = o
		return say(ctx, o, "Yes")
	}), "p")
	warm := 0.7
	req := llm.Request{
		Messages:  []llm.Message{{Role: llm.System, Text: "a"}, {Role: llm.User, Text: "b"}, {Role: llm.Assistant, Text: "c"}, {Role: llm.User, Text: "d"}},
		MaxTokens: 33, Temperature: &warm,
	}
	if _, err := model.Generate(context.Background(), req, nil); err != nil {
		t.Fatal(err)
	}
	want := []llms.ChatMessageType{llms.ChatMessageTypeSystem, llms.ChatMessageTypeHuman, llms.ChatMessageTypeAI, llms.ChatMessageTypeHuman}
	if diff := cmp.Diff(want, roles); diff != "" {
		t.Errorf("roles (-want +got):\n%s", diff)
	}
	if options.MaxTokens != 33 || options.Temperature != warm || options.StreamingFunc != nil {
		t.Errorf("options %+v", options)
	}
}

func TestLangchainStopped(t *testing.T) {
	tests := []struct {
		choice llms.ContentChoice
		want   string
	}{
		{llms.ContentChoice{StopReason: "stop"}, "stop"},
		{llms.ContentChoice{StopReason: "length"}, "length"},
		{llms.ContentChoice{StopReason: "MAX_TOKENS"}, "length"},
		{llms.ContentChoice{GenerationInfo: map[string]any{"CompletionTokens": 10}}, "length"},
		{llms.ContentChoice{GenerationInfo: map[string]any{"CompletionTokens": 9}}, "stop"},
	}
	for _, test := range tests {
		test.choice.Content = "Yes"
		model := llm.Langchain(provider(func(context.Context, []llms.MessageContent, llms.CallOptions) (*llms.ContentResponse, error) {
			return &llms.ContentResponse{Choices: []*llms.ContentChoice{&test.choice}}, nil
		}), "p")
		req := hello()
		req.MaxTokens = 10
		if resp, err := model.Generate(context.Background(), req, nil); err != nil || resp.Stopped != test.want {
			t.Errorf("%+v: got %q, %v: want %q", test.choice, resp.Stopped, err, test.want)
		}
	}
}

func TestLangchainFails(t *testing.T) {
	choices := func(c ...*llms.ContentChoice) provider {
		return func(ctx context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
			return &llms.ContentResponse{Choices: c}, nil
		}
	}
	tests := []struct {
		name  string
		model llms.Model
		req   llm.Request
		want  string
		kind  error
	}{
		{"no response", provider(func(context.Context, []llms.MessageContent, llms.CallOptions) (*llms.ContentResponse, error) {
			return nil, nil
		}),
			hello(), "p: the reply holds no choices", nil},
		{"no choices", choices(), hello(), "p: the reply holds no choices", nil},
		{"nil choice", choices(nil), hello(), "p: the reply holds no choices", nil},
		{"empty choice", choices(&llms.ContentChoice{}), hello(), "p: the reply is empty", nil},
		{"panic", provider(func(context.Context, []llms.MessageContent, llms.CallOptions) (*llms.ContentResponse, error) {
			panic("boom")
		}),
			hello(), "p: the provider panicked: boom", nil},
		{"nil model", nil, hello(), "p: the provider panicked", nil},
		{"access", provider(func(context.Context, []llms.MessageContent, llms.CallOptions) (*llms.ContentResponse, error) {
			return nil, errors.New("API returned unexpected status code: 401: invalid api key")
		}), hello(), "p: API returned", llm.ErrDenied},
		{"cut while streaming", provider(func(ctx context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
			_, err := say(ctx, o, "In ")
			return &llms.ContentResponse{Choices: []*llms.ContentChoice{{}}}, err
		}), hello(), "p: the reply ended before", llm.ErrCut},
		{"role", choices(), llm.Request{Messages: []llm.Message{{Role: "tool", Text: "x"}}}, `message 0 has role "tool": want "system", "user" or "assistant"`, nil},
		{"no messages", choices(), llm.Request{}, "no messages to reply to", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			resp, err := llm.Langchain(test.model, "p").Generate(context.Background(), test.req, func(string) error { return nil })
			if err == nil || !strings.HasPrefix(err.Error(), test.want) || test.kind != nil && !errors.Is(err, test.kind) {
				t.Errorf("got %v: want %q, a case of %v", err, test.want, test.kind)
			}
			if resp != (llm.Response{}) {
				t.Errorf("response %+v: want zero", resp)
			}
		})
	}
}

func TestLangchainRetries(t *testing.T) {
	unavailable := errors.New("API returned unexpected status code: 503")
	tests := []struct {
		name     string
		failures int
		err      error
		before   string // streamed before failing
		calls    int
		ok       bool
		took     time.Duration
	}{
		{"succeeds at last", 2, unavailable, "", 3, true, 3 * time.Second},
		{"gives up", 5, unavailable, "", 3, false, 3 * time.Second},
		{"a typed error", 1, llms.NewError(llms.ErrCodeRateLimit, "x", "slow down"), "", 2, true, time.Second},
		{"not after the first piece", 5, unavailable, "In ", 1, false, 0},
		{"not a bad request", 5, errors.New("invalid request"), "", 1, false, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, calls := time.Now(), 0
				model := llm.Langchain(provider(func(ctx context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
					if calls++; calls > test.failures {
						return say(ctx, o, "Yes")
					}
					if _, err := say(ctx, o, test.before); err != nil {
						return nil, err
					}
					return nil, test.err
				}), "p")
				resp, err := model.Generate(context.Background(), hello(), func(string) error { return nil })
				if calls != test.calls || (err == nil) != test.ok || test.ok && resp.Text != "Yes" {
					t.Errorf("got %+v, %v after %d calls: want %d", resp, err, calls, test.calls)
				}
				if took := time.Since(start); took != test.took {
					t.Errorf("took %v: want %v", took, test.took)
				}
				if !test.ok && test.err == unavailable && !errors.Is(err, llm.ErrUnavailable) {
					t.Errorf("%v is no case of ErrUnavailable", err)
				}
			})
		})
	}
}

// A provider that does not look at its context does not hold the caller up, and
// what it streams later goes nowhere.
func TestLangchainCancelsDeafProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, ended := make(chan bool), make(chan error)
		model := llm.Langchain(provider(func(ctx context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
			<-release
			_, err := say(ctx, o, "too late")
			ended <- err
			return nil, err
		}), "p")
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		_, err := model.Generate(ctx, hello(), func(piece string) error {
			t.Errorf("streamed %q", piece)
			return nil
		})
		if !errors.Is(err, context.Canceled) || time.Since(start) != time.Second {
			t.Errorf("got %v after %v: want context.Canceled after 1s", err, time.Since(start))
		}
		close(release)
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the late piece got %v: want context.Canceled", err)
		}
	})
}

func TestLangchainCancelsWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		model := llm.Langchain(provider(func(context.Context, []llms.MessageContent, llms.CallOptions) (*llms.ContentResponse, error) {
			calls++
			return nil, errors.New("503")
		}), "p")
		ctx, cancel := context.WithTimeout(context.Background(), time.Second/2)
		defer cancel()
		_, err := model.Generate(ctx, hello(), nil)
		if !errors.Is(err, context.DeadlineExceeded) || calls != 1 {
			t.Errorf("got %v after %d calls: want context.DeadlineExceeded after 1", err, calls)
		}
	})
}
