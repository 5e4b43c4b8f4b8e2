package llm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"
)

// Langchain makes a Model of any langchaingo model. A call that fails because
// the provider is unavailable is tried again, up to three times in all and not
// before the provider allows it, as long as no piece has been streamed. A cancelled context ends the call at once even
// where the provider goes on; a panic in it becomes an error. langchaingo knows
// no unset temperature: where the request leaves it out, providers are asked
// for 0.
func Langchain(model llms.Model, name string) Model {
	return &langchain{model: model, name: name, backoff: time.Second}
}

// attempts is how often a call is tried.
const attempts = 3

// maxWait is how long a call waits to be tried again. A provider that wants to
// be left alone for longer is not waited for.
const maxWait = 30 * time.Second

// langchain is a langchaingo model as a Model.
type langchain struct {
	model   llms.Model
	name    string
	secret  string            // API key, kept out of errors
	options []llms.CallOption // for every call
	timeout time.Duration     // of a call with all its attempts, 0 for none
	backoff time.Duration     // before the second attempt, doubled for the third
	// finishes says that the provider always reports why a reply ended, so
	// that one without a reason was cut off.
	finishes bool
}

// Name implements Model.
func (m *langchain) Name() string { return m.name }

// Generate implements Model.
func (m *langchain) Generate(ctx context.Context, req Request, stream func(piece string) error) (Response, error) {
	messages, err := toLangchain(req.Messages)
	if err != nil {
		return Response{}, err
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if m.timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, m.timeout)
	}
	defer cancel()
	for attempt := 1; ; attempt++ {
		c := &call{stream: stream}
		resp, err := m.attempt(limited, c, messages, req)
		switch {
		case err == nil:
			return resp, nil
		case c.refused != nil:
			return Response{}, c.refused
		case ctx.Err() != nil:
			return Response{}, ctx.Err()
		case limited.Err() != nil:
			text := fmt.Sprintf("%s: no complete reply within %v: allow more time or use a faster model", m.name, m.timeout)
			return Response{}, &providerError{text: text, kind: ErrUnavailable}
		}
		failed := describe(err, m.secret)
		wait := max(m.backoff<<(attempt-1), failed.wait)
		if c.text.Len() > 0 || failed.kind != ErrUnavailable || attempt == attempts || wait > maxWait {
			return Response{}, fmt.Errorf("%s: %w", m.name, failed)
		}
		sleep(limited, wait) // a context that ends here ends the next attempt
	}
}

// sleep waits for d or until the context ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// call collects what one attempt streams.
type call struct {
	stream  func(string) error
	text    strings.Builder
	refused error // what stream returned
}

func (c *call) emit(piece string) error {
	if piece == "" {
		return nil
	}
	c.text.WriteString(piece)
	if c.stream == nil {
		return nil
	}
	c.refused = c.stream(piece)
	return c.refused
}

// result is what the provider returned.
type result struct {
	resp *llms.ContentResponse
	err  error
}

// attempt runs the provider in a goroutine of its own, which may outlive the
// call, and hands its pieces on from this one.
func (m *langchain) attempt(ctx context.Context, c *call, messages []llms.MessageContent, req Request) (Response, error) {
	if err := ctx.Err(); err != nil {
		return Response{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // turns away pieces that come too late

	pieces := make(chan string)
	done := make(chan result, 1)
	options := m.callOptions(req)
	if c.stream != nil {
		options = append(options, llms.WithStreamingFunc(func(_ context.Context, piece []byte) error {
			select {
			case pieces <- string(piece):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}))
	}
	go func() { done <- m.generate(ctx, messages, options) }()
	for {
		select {
		case piece := <-pieces:
			if err := c.emit(piece); err != nil {
				return Response{}, err
			}
		case r := <-done:
			// Providers return what they have, and no error, when they are
			// cancelled.
			if err := ctx.Err(); err != nil {
				return Response{}, err
			}
			if r.err != nil {
				return Response{}, r.err
			}
			return m.finish(c, r.resp, req.MaxTokens)
		case <-ctx.Done():
			return Response{}, ctx.Err()
		}
	}
}

func (m *langchain) generate(ctx context.Context, messages []llms.MessageContent, options []llms.CallOption) (r result) {
	defer func() {
		if p := recover(); p != nil {
			r = result{err: &providerError{text: strings.TrimSpace(fmt.Sprintf("the provider panicked: %v", p))}}
		}
	}()
	resp, err := m.model.GenerateContent(ctx, messages, options...)
	return result{resp, err}
}

func (m *langchain) callOptions(req Request) []llms.CallOption {
	options := append([]llms.CallOption{}, m.options...)
	if req.MaxTokens > 0 {
		options = append(options, llms.WithMaxTokens(req.MaxTokens))
	}
	if req.Temperature != nil {
		options = append(options, llms.WithTemperature(*req.Temperature))
	}
	if req.TopP != nil {
		options = append(options, llms.WithTopP(*req.TopP))
	}
	if req.Seed != nil {
		options = append(options, llms.WithSeed(*req.Seed))
	}
	if len(req.Stop) > 0 {
		options = append(options, llms.WithStopWords(req.Stop))
	}
	return options
}

// finish makes the response of what was streamed and what was returned.
func (m *langchain) finish(c *call, resp *llms.ContentResponse, maxTokens int) (Response, error) {
	if resp == nil || len(resp.Choices) == 0 || resp.Choices[0] == nil {
		return Response{}, &providerError{text: "the reply holds no choices"}
	}
	choice := resp.Choices[0]
	if m.finishes && choice.StopReason == "" || c.text.Len() > 0 && choice.Content == "" {
		return Response{}, &providerError{text: cutOff, kind: ErrCut}
	}
	// A provider that does not stream, or leaves the end out of the stream.
	if rest, ok := strings.CutPrefix(choice.Content, c.text.String()); ok {
		if err := c.emit(rest); err != nil {
			return Response{}, err
		}
	}
	if c.text.Len() == 0 {
		return Response{}, &providerError{text: "the reply is empty"}
	}
	return Response{
		Text:         c.text.String(),
		Stopped:      stopped(choice, maxTokens),
		PromptTokens: counted(choice, "PromptTokens", "InputTokens"),
		AnswerTokens: counted(choice, "CompletionTokens", "OutputTokens"),
	}, nil
}

// counted finds a number of tokens under the names that providers give it.
func counted(choice *llms.ContentChoice, names ...string) int {
	for _, name := range names {
		if n, ok := choice.GenerationInfo[name].(int); ok && n > 0 {
			return n
		}
	}
	return 0
}

// stopped says why a reply ended. Ollama's client passes no reason on, only how
// many tokens it wrote.
func stopped(choice *llms.ContentChoice, maxTokens int) string {
	switch strings.ToLower(choice.StopReason) {
	case "length", "max_tokens":
		return "length"
	}
	if n, ok := choice.GenerationInfo["CompletionTokens"].(int); ok && choice.StopReason == "" && maxTokens > 0 && n >= maxTokens {
		return "length"
	}
	return "stop"
}

// toLangchain maps the roles.
func toLangchain(messages []Message) ([]llms.MessageContent, error) {
	if len(messages) == 0 {
		return nil, errors.New("no messages to reply to: set Request.Messages")
	}
	out := make([]llms.MessageContent, len(messages))
	for i, msg := range messages {
		var role llms.ChatMessageType
		switch msg.Role {
		case System:
			role = llms.ChatMessageTypeSystem
		case User:
			role = llms.ChatMessageTypeHuman
		case Assistant:
			role = llms.ChatMessageTypeAI
		default:
			return nil, fmt.Errorf("message %d has role %q: want %q, %q or %q", i, msg.Role, System, User, Assistant)
		}
		out[i] = llms.TextParts(role, msg.Text)
	}
	return out, nil
}
