package eval

import (
	"context"
	"slices"

	"github.com/waymark-rag/waymark/retriever"
)

// Trial is a set of weights and what it gave.
type Trial struct {
	Weights retriever.Weights
	Lexical float64 // below 0: words take no part
	Value   float64
}

// The weights that Tune tries: shares of the landmark in the dense score, and what
// the words' score counts beside it.
var (
	landmarkShares = []float64{0.5, 0.6, 0.7, 0.8, 0.9, 1}
	lexicalWeights = []float64{-1, 0.4, 0.6, 0.8, 1, 1.5}
)

// Tuning is what came of trying weights on a set.
type Tuning struct {
	Set, Metric string
	Trials      []Trial // best first; of equals the one tried first
}

// Tune tries the weights of the two levels and of words on a set. What is best there
// must be measured on others: on this one it has seen the answers. The mean of hit@1
// decides or, in a set without spans, that of nDCG@10.
func Tune(ctx context.Context, set *Set, x *Index, progress func(done, all int)) (*Tuning, error) {
	t := &Tuning{Set: set.Name, Metric: "nDCG@10"}
	if set.HasSpans() {
		t.Metric = "hit@1"
	}
	all := len(landmarkShares) * len(lexicalWeights)
	for _, lexical := range lexicalWeights {
		for _, landmark := range landmarkShares {
			trial := Trial{Weights: retriever.Weights{Landmark: landmark, Document: 1 - landmark}, Lexical: lexical}
			r, err := Evaluate(ctx, set, x.Tuned(trial), nil)
			if err != nil {
				return nil, err
			}
			trial.Value = mean(numbers(r.Column(metricNamed(t.Metric))))
			if t.Trials = append(t.Trials, trial); progress != nil {
				progress(len(t.Trials), all)
			}
		}
	}
	slices.SortStableFunc(t.Trials, func(a, b Trial) int {
		switch {
		case a.Value > b.Value:
			return -1
		case a.Value < b.Value:
			return 1
		}
		return 0
	})
	return t, nil
}

// Tuned is the system "tuned", which ranks with the weights of a trial.
func (x *Index) Tuned(t Trial) System {
	return x.named("tuned", Spec{Level: retriever.Both, Words: t.Lexical > 0}, t.Weights, t.Lexical)
}
