package pipeline

import (
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
	// SystemPrompt and QuestionPrompt are text/templates in place of the
	// built-in ones (see prompts/). They are rendered with .Question,
	// .Passages (each with .Number, .Label and .Text), .Fence, a line that is
	// in no passage, and .NotAnswered, the reply when nothing answers.
	SystemPrompt, QuestionPrompt string
	// Temperature is passed to the model when it is not nil.
	Temperature *float64
}

// Answerer answers questions from passages. It is safe for concurrent use.
type Answerer struct {
	model       llm.Model
	budget      budget
	prompts     prompts
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
	return &Answerer{model, budget, prompts, opts.Temperature}, nil
}

// Answer answers a question from its hits. When stream is not nil it is called
// with the pieces of the text and the citations as they come, from this
// goroutine, and with the answer at the end; the answer is the same with and
// without. An error from stream ends the call and is returned as it is. Without
// hits the answer is llm.NotAnswered and the model is not asked.
func (a *Answerer) Answer(ctx context.Context, req AnswerRequest, stream func(Event) error) (Answer, error) {
	if strings.TrimSpace(req.Question) == "" {
		return Answer{}, errors.New("the question is empty")
	}
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	hits := slices.DeleteFunc(slices.Clone(req.Hits), func(h retriever.Hit) bool {
		return strings.TrimSpace(h.Text) == ""
	})
	fit, err := a.budget.fit(a.prompts, req, hits)
	if err != nil {
		return Answer{}, err
	}
	w := &writing{stream: stream, parser: newCitationParser(len(fit.passages)), passages: fit.passages}
	resp, err := a.generate(ctx, req.Question, fit, w)
	switch {
	case w.refused != nil:
		return Answer{}, w.refused
	case err != nil:
		return Answer{}, fmt.Errorf("answering: %w", err)
	}
	answer := w.answer()
	if answer.Text == "" {
		return Answer{}, fmt.Errorf("answering: %s replied without a word", a.model.Name())
	}
	answer.Dropped = fit.dropped
	answer.Dropped.Citations = w.parser.dropped
	answer.Model = a.model.Name()
	answer.Stopped = resp.Stopped
	if err := w.send(Event{Answer: &answer}); err != nil {
		return Answer{}, err
	}
	return answer, nil
}

// generate has the model write the reply into w.
func (a *Answerer) generate(ctx context.Context, question string, fit fitted, w *writing) (llm.Response, error) {
	resp := llm.Response{Text: llm.NotAnswered, Stopped: "stop"}
	var err error
	switch {
	case len(fit.passages) == 0:
		err = w.write(resp.Text)
	case w.stream != nil:
		resp, err = a.model.Generate(ctx, a.request(question, fit), w.write)
	default:
		if resp, err = a.model.Generate(ctx, a.request(question, fit), nil); err == nil {
			err = w.write(resp.Text)
		}
	}
	if err != nil {
		return llm.Response{}, err
	}
	return resp, w.add(w.parser.close())
}

func (a *Answerer) request(question string, fit fitted) llm.Request {
	return llm.Request{
		Messages:    fit.messages,
		Question:    question,
		Sources:     sources(fit.passages),
		MaxTokens:   a.budget.answer,
		Temperature: a.temperature,
	}
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
		b.WriteString(h.Text)
		out[i] = b.String()
	}
	return out
}

// writing is an answer while it is written.
type writing struct {
	stream   func(Event) error
	refused  error // what stream returned
	parser   *citationParser
	passages []retriever.Hit

	text      strings.Builder
	citations []Citation
}

// write takes the next piece of the model's reply.
func (w *writing) write(piece string) error { return w.add(w.parser.write(piece)) }

// add sends text, after the citations that are new in it.
func (w *writing) add(text string) error {
	for _, passage := range w.parser.used[len(w.citations):] {
		c := newCitation(len(w.citations)+1, passage-1, w.passages[passage-1])
		w.citations = append(w.citations, c)
		if err := w.send(Event{Citation: &c}); err != nil {
			return err
		}
	}
	if text == "" {
		return nil
	}
	w.text.WriteString(text)
	return w.send(Event{Text: text})
}

func (w *writing) send(e Event) error {
	if w.stream == nil {
		return nil
	}
	w.refused = w.stream(e)
	return w.refused
}

// answer is what was written.
func (w *writing) answer() Answer {
	text, marks := w.text.String(), w.parser.marks
	a := Answer{
		Text:        text,
		Citations:   append([]Citation{}, w.citations...), // [] in JSON, not null
		Sentences:   []Sentence{},
		Passages:    append([]retriever.Hit{}, w.passages...),
		NotAnswered: strings.EqualFold(strings.TrimSpace(masked(text, marks)), llm.NotAnswered),
	}
	if a.NotAnswered {
		return a
	}
	cited := make([]retriever.Hit, len(w.parser.used))
	for i, passage := range w.parser.used {
		cited[i] = w.passages[passage-1]
	}
	a.Sentences = checkSupport(text, marks, sources(cited))
	return a
}

func newCitation(number, passage int, h retriever.Hit) Citation {
	return Citation{
		Number:   number,
		Passage:  passage,
		Document: h.Document,
		Title:    h.Title,
		Headings: h.Headings,
		Range:    h.Range,
		Source:   h.Source,
		Lines:    h.Lines,
		Excerpt:  excerpt(h.Text),
		Score:    h.Score,
	}
}
