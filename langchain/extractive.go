package langchain

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/llms"

	"github.com/waymark-rag/waymark/llm"
)

// ExtractiveOptions tune an Extractive. The zero value is the default.
type ExtractiveOptions struct {
	// Model quotes; nil means &llm.Extractive{}.
	Model *llm.Extractive
	// Parse finds question and sources in prompts of a form of one's own, and quotes
	// then carry the numbers of the sources, from 1. It returns false for prompts
	// that are to be read as usual.
	Parse func(prompt string) (question string, sources []string, ok bool)
	// Callbacks is told of every call; nil tells nobody.
	Callbacks callbacks.Handler
}

// Extractive is the built-in answerer, llm.Extractive, as langchaingo's llms.Model:
// chains run with it offline, and every run gives the same answer. It is no language
// model. It knows these prompts, and refuses others:
//
//   - that of RetrievalQA (chains.LoadStuffQA): it quotes the sentences of the context
//     that answer the question, or says llm.NotAnswered;
//   - that of ConversationalRetrievalQA for a standalone question
//     (chains.LoadCondenseQuestionGenerator): it puts in front of a question that does
//     not stand by itself the earlier ones that it leans on;
//   - that of a one-shot agent (agents.NewOneShotAgent): it calls the first tool with
//     the question, and answers from what the tool returned;
//   - Waymark's own, of package pipeline;
//   - any other with a line that starts with "Context:" and, after it, one that
//     starts with "Question:".
//
// Quotes carry the numbers of their passages where the context has labels, as a
// Retriever with Labels and a SearchTool put there; else they carry none. Of the call
// options the streaming functions are honoured; those that steer how a model writes
// do not apply. It is safe for concurrent use.
type Extractive struct {
	opts ExtractiveOptions
}

// NewExtractive returns an Extractive; nil options are the default.
func NewExtractive(opts *ExtractiveOptions) *Extractive {
	e := &Extractive{}
	if opts != nil {
		e.opts = *opts
	}
	if e.opts.Model == nil {
		e.opts.Model = &llm.Extractive{}
	}
	return e
}

// Call implements llms.Model.
func (e *Extractive) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, e, prompt, options...)
}

// GenerateContent implements llms.Model. It replies to the last message that is not
// the system's.
func (e *Extractive) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	if e.opts.Callbacks != nil {
		e.opts.Callbacks.HandleLLMGenerateContentStart(ctx, messages)
	}
	resp, err := e.generate(ctx, messages, options)
	if e.opts.Callbacks != nil {
		if err != nil {
			e.opts.Callbacks.HandleLLMError(ctx, err)
		} else {
			e.opts.Callbacks.HandleLLMGenerateContentEnd(ctx, resp)
		}
	}
	return resp, err
}

func (e *Extractive) generate(ctx context.Context, messages []llms.MessageContent, options []llms.CallOption) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, option := range options {
		if option != nil {
			option(&o)
		}
	}
	prompt, err := lastText(messages)
	if err != nil {
		return nil, err
	}
	text, err := e.reply(ctx, prompt, stream(ctx, o))
	if err != nil {
		return nil, err
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: text, StopReason: "stop"}}}, nil
}

// lastText is the text of the last message that is not the system's.
func lastText(messages []llms.MessageContent) (string, error) {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == llms.ChatMessageTypeSystem {
			continue
		}
		var b strings.Builder
		for _, part := range messages[i].Parts {
			text, ok := part.(llms.TextContent)
			if !ok {
				return "", fmt.Errorf("message %d has a part of type %T: the extractive model reads text alone", i, part)
			}
			b.WriteString(text.Text)
		}
		return repair(b.String()), nil
	}
	return "", errors.New("no message to reply to: want one that is not the system's")
}

// stream hands pieces of text to the functions that the options name.
func stream(ctx context.Context, o llms.CallOptions) func(piece string) error {
	return func(piece string) error {
		if o.StreamingFunc != nil {
			if err := o.StreamingFunc(ctx, []byte(piece)); err != nil {
				return err
			}
		}
		if o.StreamingReasoningFunc != nil {
			return o.StreamingReasoningFunc(ctx, nil, []byte(piece))
		}
		return nil
	}
}

// reply writes the reply to a prompt, piece by piece.
func (e *Extractive) reply(ctx context.Context, prompt string, emit func(piece string) error) (string, error) {
	if e.opts.Parse != nil {
		if question, sources, ok := e.opts.Parse(prompt); ok {
			return e.quote(ctx, task{question, sources, true}, emit)
		}
	}
	if history, question, ok := parseCondense(prompt); ok {
		text := standalone(history, question)
		return text, emit(text)
	}
	if a, ok := parseAgent(prompt); ok {
		if !a.called {
			text := a.action()
			return text, emit(text)
		}
		if err := emit(finalAnswer); err != nil {
			return "", err
		}
		text, err := e.quote(ctx, contextTask(a.question, a.observation), emit)
		return finalAnswer + text, err
	}
	t, ok := parseTask(prompt)
	if !ok {
		return "", fmt.Errorf(`no question with a context found in the prompt %q: the extractive model reads the prompts of langchaingo's RetrievalQA and ConversationalRetrievalQA, of its one-shot agent, and any with a line "Context:" and then a line "Question:"; for others set ExtractiveOptions.Parse`, excerpt(prompt))
	}
	return e.quote(ctx, t, emit)
}

// quote answers a question from sources.
func (e *Extractive) quote(ctx context.Context, t task, emit func(piece string) error) (string, error) {
	if isBlank(t.question) {
		return "", errors.New("the question in the prompt is empty")
	}
	clean := func(text string) string {
		if t.numbered {
			return text
		}
		return strings.ReplaceAll(text, " [1]", "") // which would stand for nothing that was given
	}
	resp, err := e.opts.Model.Generate(ctx, llm.Request{Question: t.question, Sources: t.sources}, func(piece string) error {
		return emit(clean(piece))
	})
	return clean(resp.Text), err
}

// excerpt is the start of a prompt, for an error.
func excerpt(prompt string) string {
	const limit = 120
	if len(prompt) <= limit {
		return prompt
	}
	return strings.ToValidUTF8(prompt[:limit], "") + "..."
}
