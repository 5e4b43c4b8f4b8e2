package server

import (
	"context"
	"net/http"
	"strings"

	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

// answer is a pipeline.Answer as clients see it: with places that browsers and people
// understand.
type answer struct {
	pipeline.Answer
	Citations []citation `json:"citations"`
	Markers   []marker   `json:"markers"`
	Sentences []sentence `json:"sentences"`
	Passages  []hit      `json:"passages"`
}

type citation struct {
	pipeline.Citation
	span16
	URL string `json:"url"`
}

type marker struct {
	pipeline.Marker
	span16 // in the answer's text
}

type sentence struct {
	pipeline.Sentence
	span16 // in the answer's text
}

// asking is one question on its way to an answer.
type asking struct {
	pipeline *pipeline.Pipeline
	quotes   *queue
	question string
	history  []llm.Message
	opts     pipeline.SearchOptions
	at       *locator
	passages []retriever.Hit // as the stream told them
}

// newAsking checks a question and opens its collection.
func (s *Server) newAsking(r *http.Request, question string, history []llm.Message, find findRequest) (*asking, error) {
	opts, err := find.options(question, s.opts.Search, s.opts.Passages)
	if err != nil {
		return nil, err
	}
	p, err := s.open(r.Context(), find.Collection, false)
	if err != nil {
		return nil, err
	}
	return &asking{pipeline: p, quotes: s.quotes, question: question, history: history, opts: opts, at: s.newLocator(r, p.Store, find.Collection)}, nil
}

// run asks; with stream, which may be nil, told of every step. Where the model quotes,
// no more answers are worked on than there are processors.
func (a *asking) run(ctx context.Context, stream func(pipeline.Event) error) (answer, error) {
	if !llm.Writes(a.pipeline.Model) {
		t, err := a.quotes.join(callerOf(ctx).Tenant)
		if err != nil {
			return answer{}, err
		}
		if err := t.wait(ctx); err != nil {
			return answer{}, err
		}
		defer t.leave()
	}
	ctx, end := span(ctx, "ask")
	out, err := a.pipeline.Ask(ctx, a.question, a.history, a.opts, stream)
	end(err)
	if err != nil {
		return answer{}, err
	}
	return a.located(ctx, out)
}

// located adds the places to an answer.
func (a *asking) located(ctx context.Context, out pipeline.Answer) (answer, error) {
	passages, err := a.at.hits(ctx, out.Passages)
	if err != nil {
		return answer{}, err
	}
	v := answer{Answer: out, Citations: []citation{}, Markers: []marker{}, Sentences: []sentence{}, Passages: passages}
	for _, c := range out.Citations {
		v.Citations = append(v.Citations, a.cited(c, out.Passages))
	}
	for _, m := range out.Markers {
		v.Markers = append(v.Markers, marker{m, in16(out.Text, m.Range)})
	}
	for _, s := range out.Sentences {
		v.Sentences = append(v.Sentences, sentence{s, in16(out.Text, s.Range)})
	}
	return v, nil
}

// cited adds the place to a citation of one of the passages.
func (a *asking) cited(c pipeline.Citation, passages []retriever.Hit) citation {
	var metadata map[string]any
	if c.Passage < len(passages) {
		metadata = passages[c.Passage].Metadata
	}
	return citation{c, a.at.span(c.Document, c.Range), a.at.url(c.Document, metadata, c.Range)}
}

// ask is POST /v1/ask.
func (s *Server) ask(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		Question string        `json:"question"`
		History  []llm.Message `json:"history"`
		Stream   bool          `json:"stream"`
		findRequest
	}
	if err := s.readJSON(w, r, &req, true); err != nil {
		return err
	}
	for i, m := range req.History {
		if m.Role != llm.User && m.Role != llm.Assistant {
			return invalid("history", "history[%d].role %s: want %q or %q", i, quoted(string(m.Role)), llm.User, llm.Assistant)
		}
	}
	a, err := s.newAsking(r, req.Question, req.History, req.findRequest)
	if err != nil {
		return err
	}
	if req.Stream || wantsEvents(r) {
		return s.streamAnswer(w, r, a)
	}
	out, err := a.run(r.Context(), nil)
	if err != nil {
		return err
	}
	s.writeJSON(w, r, http.StatusOK, out)
	return nil
}

func wantsEvents(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// streamAnswer answers with server-sent events.
func (s *Server) streamAnswer(w http.ResponseWriter, r *http.Request, a *asking) error {
	e := s.newEvents(w)
	defer e.close()
	out, err := a.run(r.Context(), func(ev pipeline.Event) error { return a.tell(r.Context(), e, ev) })
	if err == nil {
		err = e.send("answer", out)
	}
	if err != nil {
		return e.fail(r, err, func(described *apiError) error { return e.send("error", waymarkErrors(described)) })
	}
	return nil
}

// tell sends a step of the answer, but for the last, which is sent with its places.
func (a *asking) tell(ctx context.Context, e *events, ev pipeline.Event) error {
	switch {
	case ev.Query != "":
		return e.send("query", map[string]string{"query": ev.Query})
	case len(ev.Passages) > 0:
		a.passages = ev.Passages
		hits, err := a.at.hits(ctx, ev.Passages)
		if err != nil {
			return err
		}
		return e.send("passages", map[string][]hit{"passages": hits})
	case ev.Text != "":
		return e.send("text", map[string]string{"text": ev.Text})
	case ev.Citation != nil:
		return e.send("citation", a.cited(*ev.Citation, a.passages))
	}
	return nil
}
