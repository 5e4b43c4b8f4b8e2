package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/retriever"
)

// AnswerOptions say how questions are answered. The zero value is the default.
type AnswerOptions struct {
	// ContextTokens is the model's context, prompt and answer together; 0
	// means 4096.
	ContextTokens int
	// AnswerTokens is how many of them are kept for the answer; 0 means 512,
	// or a quarter of a context smaller than 2048.
	AnswerTokens int
	// Count counts the tokens of a text; nil estimates them from its length,
	// rather too many than too few.
	Count func(text string) int
	// Condense says how a question that follows on others becomes one that
	// can be searched by; empty means CondenseLLM.
	Condense Condense
	// Judge says who besides the rules decides whether the passages cited
	// bear a sentence out; empty means JudgeOff.
	Judge Judge
	// SystemPrompt, QuestionPrompt, CondensePrompt and JudgePrompt are
	// text/templates in place of the built-in ones (see prompts/ and
	// docs/answers.md).
	SystemPrompt, QuestionPrompt, CondensePrompt, JudgePrompt string
	// Temperature is passed to the model when it is not nil.
	Temperature *float64
}

// Answerer answers questions from passages. It is safe for concurrent use.
type Answerer struct {
	model       llm.Model
	budget      budget
	prompts     prompts
	condense    Condense
	judge       Judge
	temperature *float64
}

// NewAnswerer returns an Answerer that has model write the answers.
func NewAnswerer(model llm.Model, opts AnswerOptions) (*Answerer, error) {
	if model == nil {
		return nil, errors.New("answering needs a model: llm.Extractive needs no set-up")
	}
	budget, err := newBudget(opts)
	if err != nil {
		return nil, err
	}
	prompts, err := newPrompts(opts)
	if err != nil {
		return nil, err
	}
	a := &Answerer{model, budget, prompts, cmp.Or(opts.Condense, CondenseLLM), cmp.Or(opts.Judge, JudgeOff), opts.Temperature}
	if all := []Condense{CondenseLLM, CondenseRule, CondenseOff}; !slices.Contains(all, a.condense) {
		return nil, fmt.Errorf("condense %q: want one of %q", a.condense, all)
	}
	if all := []Judge{JudgeOff, JudgeLLM}; !slices.Contains(all, a.judge) {
		return nil, fmt.Errorf("judge %q: want one of %q", a.judge, all)
	}
	if a.judge == JudgeLLM && !llm.Writes(model) {
		return nil, fmt.Errorf("judge %q: the model %s only quotes: choose one that writes, or the judge %q", a.judge, model.Name(), JudgeOff)
	}
	return a, nil
}

// Answer answers a question from its hits. When stream is not nil it is called
// with the passages, the pieces of the text and the citations as they come, from
// this goroutine, and with the answer at the end; the answer is the same with
// and without. An error from stream ends the call and is returned as it is.
// Without hits the answer is llm.NotAnswered and the model is not asked.
func (a *Answerer) Answer(ctx context.Context, req AnswerRequest, stream func(Event) error) (Answer, error) {
	if strings.TrimSpace(req.Question) == "" {
		return Answer{}, errEmptyQuestion
	}
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	if req.Query.Text == "" {
		req.Query = Query{Text: req.Question}
	}
	history, err := spoken(req.History)
	if err != nil {
		return Answer{}, err
	}
	req.History = history
	fit, err := a.budget.fit(a.prompts, req)
	if err != nil {
		return Answer{}, err
	}
	w := &writing{stream: stream, parser: newCitationParser(len(fit.passages)), passages: fit.passages}
	resp, err := a.generate(ctx, req, fit, w)
	switch {
	case w.refused != nil:
		return Answer{}, w.refused
	case err != nil:
		return Answer{}, fmt.Errorf("answering: %w", err)
	}
	answer := w.answer()
	if answer.Text == "" && resp.Stopped == "length" {
		return Answer{}, fmt.Errorf("answering: %s used up its %d tokens %w: allow more", a.model.Name(), a.answerTokens(req.Generation), ErrNoText)
	}
	if answer.Text == "" {
		return Answer{}, fmt.Errorf("answering: %s replied %w", a.model.Name(), ErrNoText)
	}
	if a.judge == JudgeLLM {
		if err := a.judgeAnswer(ctx, &answer); err != nil {
			return Answer{}, fmt.Errorf("judging the answer: %w", err)
		}
	}
	answer.Query, answer.Condensed = req.Query.Text, req.Query.By
	answer.Dropped = fit.dropped
	answer.Dropped.Citations = w.parser.dropped
	answer.Model = a.model.Name()
	answer.Stopped = resp.Stopped
	answer.Usage = a.usage(fit, resp)
	if err := w.send(Event{Answer: &answer}); err != nil {
		return Answer{}, err
	}
	return answer, nil
}

var errEmptyQuestion = errors.New("the question is empty")

// ErrNoText says that the model's reply has no text to show.
var ErrNoText = errors.New("without a word of the answer")

// generate has the model write the reply into w.
func (a *Answerer) generate(ctx context.Context, req AnswerRequest, fit fitted, w *writing) (llm.Response, error) {
	resp := llm.Response{Text: llm.NotAnswered, Stopped: "stop"}
	if len(fit.passages) == 0 {
		if err := w.write(resp.Text); err != nil {
			return llm.Response{}, err
		}
		return resp, w.close()
	}
	if err := w.send(Event{Passages: slices.Clone(fit.passages)}); err != nil {
		return llm.Response{}, err
	}
	var err error
	if w.stream != nil {
		resp, err = a.model.Generate(ctx, a.request(req, fit), w.write)
	} else if resp, err = a.model.Generate(ctx, a.request(req, fit), nil); err == nil {
		err = w.write(resp.Text)
	}
	if err != nil {
		return llm.Response{}, err
	}
	return resp, w.close()
}

// answerTokens is how many tokens an answer may have.
func (a *Answerer) answerTokens(g Generation) int {
	if g.MaxTokens > 0 {
		return min(g.MaxTokens, a.budget.answer)
	}
	return a.budget.answer
}

func (a *Answerer) request(req AnswerRequest, fit fitted) llm.Request {
	g := req.Generation
	return llm.Request{
		Messages:    fit.messages,
		Question:    req.Query.Text, // a model that quotes has no history to understand the question by
		Sources:     sources(fit.passages),
		MaxTokens:   a.answerTokens(g),
		Temperature: cmp.Or(g.Temperature, a.temperature),
		TopP:        g.TopP,
		Seed:        g.Seed,
		Stop:        g.Stop,
	}
}

// usage is what the model counted or, if it did not, what the budget did.
func (a *Answerer) usage(fit fitted, resp llm.Response) Usage {
	if len(fit.passages) == 0 { // it was not asked
		return Usage{}
	}
	u := Usage{PromptTokens: resp.PromptTokens, AnswerTokens: resp.AnswerTokens}
	if u.PromptTokens == 0 || u.AnswerTokens == 0 {
		u = Usage{AnswerTokens: a.budget.count(resp.Text), Estimated: true}
		for _, m := range fit.messages {
			u.PromptTokens += a.budget.cost(m)
		}
	}
	return u
}

// sources are the passages as Markdown, with their title and headings: a
// passage often leaves out what it is about.
func sources(hits []retriever.Hit) []string {
	out := make([]string, len(hits))
	for i, h := range hits {
		var b strings.Builder
		for _, heading := range append([]string{h.Title}, h.Headings...) {
			if heading = oneLine(heading); heading != "" {
				fmt.Fprintf(&b, "# %s\n\n", heading)
			}
		}
		b.WriteString(h.Shown())
		out[i] = b.String()
	}
	return out
}
