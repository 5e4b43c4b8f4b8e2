package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// NotAnswered is the reply when the sources do not answer the question.
const NotAnswered = "The documents do not answer this."

// When Extractive quotes. The limits were chosen on questions about fairy tales
// and encyclopedia articles, five paragraphs a question: higher ones refuse more
// of what can be answered, lower ones answer more of what cannot.
const (
	defaultSentences = 3
	// minCoverage is the share of the question, by weight of its words, that
	// a sentence and what surrounds it must mention.
	minCoverage = 0.42
	// minEvidence is what takes its place when the similarity is known: for
	// the sum of both.
	minEvidence = 0.6
	// nearlyAsGood is what a further sentence must score relative to the best.
	nearlyAsGood = 0.85
)

// Extractive is the built-in Model. It answers by quoting the sentences of
// Request.Sources that fit Request.Question best, each followed by its citation
// marker, as in "Dragons sleep. [2]", in paragraphs of their own, best first. It
// quotes words exactly as they stand; only white space, Markdown markers and
// the sources' own reference marks, such as "[3]", are left out. When no
// sentence fits it answers [NotAnswered]. It needs no network, and the same
// request always gets the same answer. The zero value is ready for use.
type Extractive struct {
	// Similarity, when not nil, compares the meaning of the question with
	// each sentence: 1 is the same, 0 unrelated. Without it words decide.
	Similarity func(ctx context.Context, question string, sentences []string) ([]float64, error)
	// MaxSentences is the most sentences quoted; 0 means 3.
	MaxSentences int
}

// Name implements Model.
func (*Extractive) Name() string { return "extractive" }

// Quotes implements Quoter.
func (*Extractive) Quotes() {}

// Generate implements Model. MaxTokens and what follows it in Request do not apply.
func (e *Extractive) Generate(ctx context.Context, req Request, stream func(piece string) error) (Response, error) {
	if err := ctx.Err(); err != nil {
		return Response{}, err
	}
	if strings.TrimSpace(req.Question) == "" {
		return Response{}, errors.New("the extractive model needs the question and its sources, not only messages: set Request.Question")
	}
	ranked, err := e.rank(ctx, req.Question, req.Sources)
	if err != nil {
		return Response{}, err
	}
	var text strings.Builder
	for i, s := range e.pick(ranked) {
		piece := s.quoted()
		if i > 0 {
			piece = "\n\n" + piece
		}
		text.WriteString(piece)
		if err := emit(ctx, stream, piece); err != nil {
			return Response{}, err
		}
	}
	if text.Len() == 0 {
		text.WriteString(NotAnswered)
		if err := emit(ctx, stream, NotAnswered); err != nil {
			return Response{}, err
		}
	}
	return Response{Text: text.String(), Stopped: "stop"}, nil
}

// emit hands a piece to stream unless the context is done.
func emit(ctx context.Context, stream func(string) error, piece string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if stream == nil {
		return nil
	}
	return stream(piece)
}

// rank returns the candidates of all sources, best first.
func (e *Extractive) rank(ctx context.Context, question string, sources []string) ([]candidate, error) {
	var all []candidate
	for i, source := range sources {
		all = append(all, candidates(source, i+1)...)
	}
	if len(all) == 0 {
		return nil, nil
	}
	score(question, all)
	if e.Similarity != nil {
		texts := make([]string, len(all))
		for i, c := range all {
			texts[i] = c.text
		}
		similar, err := e.Similarity(ctx, question, texts)
		if err != nil {
			return nil, fmt.Errorf("comparing %d sentences with the question: %w", len(all), err)
		}
		if len(similar) != len(all) {
			return nil, fmt.Errorf("comparing %d sentences with the question: got %d similarities", len(all), len(similar))
		}
		for i := range all {
			all[i].similarity = similar[i]
			all[i].score += similarityShare * similar[i]
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	return all, nil
}

// pick chooses what to quote: the best candidate that answers, and further ones
// that are nearly as good and add something.
func (e *Extractive) pick(ranked []candidate) []candidate {
	limit := cmp.Or(e.MaxSentences, defaultSentences)
	var picked []candidate
	for _, c := range ranked {
		if len(picked) >= limit {
			break
		}
		if !e.answers(c) {
			continue
		}
		if len(picked) > 0 && !worthAdding(c, picked) {
			continue
		}
		picked = append(picked, c)
	}
	return picked
}

// answers reports whether there is enough in a candidate to think that it does.
func (e *Extractive) answers(c candidate) bool {
	if e.Similarity == nil {
		return c.coverage >= minCoverage
	}
	return c.coverage+c.similarity >= minEvidence
}

// worthAdding reports whether a candidate is nearly as good as the best of
// those picked and most of what it says about the question is in none of them.
func worthAdding(c candidate, picked []candidate) bool {
	best := picked[0]
	if c.score < nearlyAsGood*best.score || best.holds && !c.holds {
		return false
	}
	for _, p := range picked {
		known := 0
		for _, w := range c.says {
			if w.in(p.says) {
				known++
			}
		}
		if 3*known >= 2*len(c.says) {
			return false
		}
	}
	return true
}
