package eval

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/pipeline"
)

func TestAnswerValues(t *testing.T) {
	span := func(start, end int) chunker.Range { return chunker.Range{Start: start, End: end} }
	q := &Query{
		Answers: []string{"the Nine Tonnes!", "9 t"},
		Spans:   map[string][]chunker.Range{"crane": {span(0, 32), span(100, 120)}},
	}
	cite := func(document string, r chunker.Range) pipeline.Citation {
		return pipeline.Citation{Document: document, Range: r}
	}
	nan := math.NaN()
	for _, test := range []struct {
		name   string
		answer pipeline.Answer
		query  *Query
		want   []float64 // as in AnswerMetrics
	}{
		{"the same but for case, articles, marks and markers", pipeline.Answer{Text: "nine[1] tonnes.", Markers: []pipeline.Marker{{Number: 1, Range: span(4, 7)}},
			Citations: []pipeline.Citation{cite("crane", span(10, 50))}}, q, []float64{1, 1, 0.5, 1, 1, 1}},
		{"a sentence", pipeline.Answer{Text: "It lifts nine tonnes.", Citations: []pipeline.Citation{cite("crane", span(40, 90)), cite("ferry", span(0, 32)), cite("crane", span(110, 130)), cite("crane", span(0, 5))}},
			q, []float64{1, 0.5, 1, 0, 2 * 2.0 / (4 + 2), 1}},
		{"other words", pipeline.Answer{Text: "tonnes of nine"}, q, []float64{1, nan, 0, 0, 2 * 2.0 / (3 + 2), 0}},
		{"none", pipeline.Answer{Text: "The documents do not answer this.", NotAnswered: true}, q, []float64{0, nan, 0, 0, 0, 0}},
		{"nothing is known", pipeline.Answer{Text: "x"}, &Query{}, []float64{1, nan, nan, nan, nan, nan}},
	} {
		if d := cmp.Diff(test.want, AnswerValues(test.query, test.answer), cmpopts.EquateNaNs(), cmpopts.EquateApprox(0, 1e-12)); d != "" {
			t.Errorf("%s: want -, got +:\n%s", test.name, d)
		}
	}
}

func TestEvaluateAnswers(t *testing.T) {
	s := read(t, harbour, ReadOptions{})
	p := newPipeline(t)
	if _, err := NewIndex(t.Context(), s, p, nil); err != nil {
		t.Fatal(err)
	}
	r, err := EvaluateAnswers(t.Context(), s, func(ctx context.Context, question string) (pipeline.Answer, error) {
		return p.Ask(ctx, question, nil, pipeline.SearchOptions{}, nil)
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, least := range []float64{1, 0.3, 1, 0, 0.1, 1} {
		if m := MeanOf(r.Column(k)); !(m.Value >= least) {
			t.Errorf("%s: %v, want %v or more: %v", AnswerMetrics[k], m.Value, least, r.Values)
		}
	}
	if r.Model != "extractive" {
		t.Errorf("answers by %q", r.Model)
	}
}
