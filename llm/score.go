package llm

import (
	"math"
	"strings"
)

// What makes up a candidate's score. The first addend, coverage, lies between 0
// and 1.
const (
	headingShare    = 0.9  // of a word found in the headings
	beforeShare     = 0.5  // of a word found in the sentence before
	sourceShare     = 0.3  // of a word found only elsewhere in the source
	rankPrior       = 0.06 // for the first source, half of it for the second, ...
	preference      = 0.15 // for holding what the question asks for
	similarityShare = 0.8
	longPenalty     = 0.1 // for a sentence of wordy content words or more
	wordy           = 60

	nameWeight   = 1.5 // of a name, where another word counts 1
	numberWeight = 1.5
)

// score fills in what candidates have of the question, each of its words
// counting more the fewer candidates have it, and what that is worth.
func score(question string, all []candidate) {
	asked := unique(contentWords(question))
	holds := expected(question)
	sources := make(map[int][]word)
	for _, c := range all {
		sources[c.source] = append(sources[c.source], c.words...)
	}
	covered := make([]float64, len(all))
	total := 0.0
	for _, w := range asked {
		elsewhere := make(map[int]float64, len(sources))
		for number, words := range sources {
			elsewhere[number] = sourceShare * find(w, words)
		}
		found := make([]float64, len(all))
		with := 0
		for i, c := range all {
			own := max(find(w, c.words), headingShare*find(w, c.headings))
			if own > 0 {
				with++
			}
			found[i] = max(own, beforeShare*find(w, c.before), elsewhere[c.source])
		}
		weight := w.weight() * math.Log(1+float64(len(all)+1)/float64(with+1))
		total += weight
		for i := range all {
			covered[i] += weight * found[i]
		}
	}
	for i := range all {
		c := &all[i]
		for _, w := range c.words {
			if !w.in(asked) {
				c.says = append(c.says, w)
			}
		}
		if total > 0 {
			c.coverage = covered[i] / total
		}
		c.score = c.coverage + rankPrior/float64(c.source) - longPenalty*min(1, float64(len(c.words))/wordy)
		if c.holds = holds != nil && holds(*c); c.holds {
			c.score += preference
		}
	}
}

func (w word) weight() float64 {
	switch {
	case w.number:
		return numberWeight
	case w.name:
		return nameWeight
	}
	return 1
}

func unique(words []word) []word {
	seen := make(map[string]bool)
	out := words[:0]
	for _, w := range words {
		if !seen[w.folded] {
			seen[w.folded] = true
			out = append(out, w)
		}
	}
	return out
}

// relatedShare is what finding a related word is worth.
const relatedShare = 0.7

// find says how well w is found among words: 1 for the word itself.
func find(w word, words []word) float64 {
	best := 0.0
	for _, o := range words {
		if w.same(o) {
			return 1
		}
		if w.root != "" && strings.HasPrefix(o.folded, w.root) {
			best = relatedShare
		}
	}
	return best
}
