package eval

import (
	"context"
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/pipeline"
)

// AnswerMetrics name the columns of AnswerValues, in order.
var AnswerMetrics = []string{"answered", "citation precision", "citation recall", "exact match", "F1", "holds the answer"}

// AnswerValues are what an answer to a query is worth, one for each of AnswerMetrics:
// whether there was an answer at all; the share of its citations that overlap a gold
// span, not a number if it cites nothing; the share of the gold spans that a citation
// overlaps; and, against the best of the right answers, whether it is the same, how
// many words they share, as F1, and whether it has the right one's words in a row.
//
// Texts are compared as SQuAD has it: in lower case, without punctuation and
// articles. Markers of citations do not count.
func AnswerValues(q *Query, a pipeline.Answer) []float64 {
	out := make([]float64, len(AnswerMetrics))
	if !a.NotAnswered {
		out[0] = 1
	}
	out[1], out[2] = citations(q, a)
	out[3], out[4], out[5] = texts(q, plain(a))
	return out
}

func citations(q *Query, a pipeline.Answer) (precision, recall float64) {
	if len(q.Spans) == 0 {
		return math.NaN(), math.NaN()
	}
	right := 0
	for _, c := range a.Citations {
		for _, gold := range q.Spans[c.Document] {
			if c.Range.Overlaps(gold) {
				right++
				break
			}
		}
	}
	precision = math.NaN()
	if len(a.Citations) > 0 {
		precision = float64(right) / float64(len(a.Citations))
	}
	spans, cited := 0, 0
	for document, ranges := range q.Spans {
		for _, gold := range ranges {
			spans++
			for _, c := range a.Citations {
				if c.Document == document && c.Range.Overlaps(gold) {
					cited++
					break
				}
			}
		}
	}
	return precision, float64(cited) / float64(spans)
}

func texts(q *Query, answer string) (exact, f1, holds float64) {
	if len(q.Answers) == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	got := squadWords(answer)
	for _, right := range q.Answers {
		want := squadWords(right)
		joined := " " + strings.Join(want, " ") + " "
		if joined == " "+strings.Join(got, " ")+" " {
			exact = 1
		}
		if len(want) > 0 && strings.Contains(" "+strings.Join(got, " ")+" ", joined) {
			holds = 1
		}
		f1 = max(f1, wordF1(got, want))
	}
	return exact, f1, holds
}

// wordF1 is the harmonic mean of precision and recall of words, each counted as
// often as it is there.
func wordF1(got, want []string) float64 {
	if len(got) == 0 || len(want) == 0 {
		if len(got) == len(want) {
			return 1
		}
		return 0
	}
	left := map[string]int{}
	for _, w := range want {
		left[w]++
	}
	common := 0
	for _, w := range got {
		if left[w] > 0 {
			left[w]--
			common++
		}
	}
	return 2 * float64(common) / float64(len(got)+len(want))
}

func squadWords(text string) []string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) || unicode.IsSymbol(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
	var out []string
	for _, w := range strings.Fields(text) {
		if w != "a" && w != "an" && w != "the" {
			out = append(out, w)
		}
	}
	return out
}

// plain is the text of an answer without its markers.
func plain(a pipeline.Answer) string {
	var b strings.Builder
	at := 0
	for _, m := range a.Markers {
		b.WriteString(chunker.Range{Start: at, End: m.Range.Start}.Of(a.Text))
		at = m.Range.End
	}
	return b.String() + a.Text[at:]
}

// AnswerResult is how the questions of a set were answered.
type AnswerResult struct {
	Set    *Set
	Model  string
	Values [][]float64 // a row for each question, a column for each of AnswerMetrics
}

// EvaluateAnswers asks every question of a set.
func EvaluateAnswers(ctx context.Context, set *Set, ask func(ctx context.Context, question string) (pipeline.Answer, error), progress func(done, all int)) (*AnswerResult, error) {
	r := &AnswerResult{Set: set}
	for i := range set.Queries {
		q := &set.Queries[i]
		a, err := ask(ctx, q.Text)
		if err != nil {
			return nil, fmt.Errorf("question %q: %w", q.ID, err)
		}
		r.Model = a.Model
		if r.Values = append(r.Values, AnswerValues(q, a)); progress != nil {
			progress(i+1, len(set.Queries))
		}
	}
	return r, nil
}

// Column is a metric's value for each question.
func (r *AnswerResult) Column(metric int) []float64 { return column(r.Values, metric) }
