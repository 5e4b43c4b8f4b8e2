package pipeline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/internal/prose"
)

// minOverlap is the share of a sentence's content words that the passages it
// cites must hold. It is low because answers put things in other words; what
// must not be put in other words, numbers, names and quotations, is checked one
// by one.
const minOverlap = 0.5

// fewWords begins the objection that a judge may overrule: a sentence can say
// the same in other words.
const fewWords = "only "

// checkSupport splits an answer into sentences and checks each against the
// passages it cites. passages are the texts by number, from 1.
func checkSupport(text string, marks []mark, passages []string) []Sentence {
	sentences := citedSentences(text, marks)
	plain := masked(text, marks)
	known := make(map[int]*evidence)
	for i := range sentences {
		s := &sentences[i]
		if len(s.Citations) == 0 {
			s.Reasons = []string{"no citation"}
			continue
		}
		var cited []*evidence
		for _, n := range s.Citations {
			if known[n] == nil {
				known[n] = newEvidence(passages[n-1])
			}
			cited = append(cited, known[n])
		}
		s.Reasons = objections(s.Range.Of(plain), cited)
		s.Supported = len(s.Reasons) == 0
	}
	return sentences
}

// masked returns text with spaces in place of its markers.
func masked(text string, marks []mark) string {
	b := []byte(text)
	for _, m := range marks {
		for i := m.start; i < m.end; i++ {
			b[i] = ' '
		}
	}
	return string(b)
}

// citedSentences returns the sentences of an answer with the markers in and
// behind them. Code and headings without a marker are left out.
func citedSentences(text string, marks []mark) []Sentence {
	split := prose.Sentences(masked(text, marks))
	out := make([]Sentence, len(split))
	for i, s := range split {
		out[i].Range = chunker.Range{Start: s.Start, End: s.End}
	}
	for _, m := range marks {
		i := owner(text, split, m)
		if i < 0 {
			continue
		}
		out[i].Range.Start = min(out[i].Range.Start, m.start)
		out[i].Range.End = max(out[i].Range.End, m.end)
		if !slices.Contains(out[i].Citations, m.number) {
			out[i].Citations = append(out[i].Citations, m.number)
		}
	}
	kept := out[:0]
	for i, s := range out {
		if k := split[i].Kind; len(s.Citations) > 0 || k != prose.Fence && k != prose.Heading {
			kept = append(kept, s)
		}
	}
	return kept
}

// owner is the index of the sentence a marker belongs to: the one around or
// before it, unless the marker begins a line that another one continues.
func owner(text string, split []prose.Sentence, m mark) int {
	next := slices.IndexFunc(split, func(s prose.Sentence) bool { return s.Start > m.start })
	if next < 0 {
		return len(split) - 1
	}
	begins := next == 0 || split[next-1].End <= m.start && strings.Contains(text[split[next-1].End:m.start], "\n")
	if begins && !strings.Contains(text[m.end:split[next].Start], "\n") {
		return next
	}
	return max(next-1, 0)
}

// evidence is a passage in the form sentences are compared with.
type evidence struct {
	words    map[string]bool // folded
	sequence string          // of folded words, for quotations
}

func newEvidence(passage string) *evidence {
	e := &evidence{words: make(map[string]bool), sequence: sequence(prose.Clean(passage))}
	for _, w := range prose.Words(passage) {
		e.words[w.Folded] = true
	}
	return e
}

func sequence(text string) string {
	var b strings.Builder
	b.WriteByte(' ')
	for _, w := range prose.Words(text) {
		b.WriteString(w.Folded)
		b.WriteByte(' ')
	}
	return b.String()
}

// has reports whether a passage holds a word or, unless it is a number, one
// that begins like it, such as "Japanese" for "Japan".
func (e *evidence) has(w prose.Word) bool {
	if e.words[w.Folded] {
		return true
	}
	if w.Number {
		return e.words[monthNames[w.Folded]]
	}
	if n := monthNumbers[w.Folded]; n != "" && e.words[n] {
		return true
	}
	const enough = 4 // bytes
	if len(w.Folded) < enough {
		return false
	}
	for o := range e.words {
		if len(o) >= enough && (strings.HasPrefix(o, w.Folded) || strings.HasPrefix(w.Folded, o)) {
			return true
		}
	}
	return false
}

var quotation = regexp.MustCompile(`"([^"\n]+)"|“([^”\n]+)”|„([^“\n]+)“|«([^»\n]+)»`)

// objections says what in a sentence its passages do not bear out.
func objections(sentence string, cited []*evidence) []string {
	held := func(w prose.Word) bool {
		return slices.ContainsFunc(cited, func(e *evidence) bool { return e.has(w) })
	}
	var reasons []string
	words := prose.Words(sentence)
	content, found := 0, 0
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w.Stop {
			continue
		}
		content++
		if held(w) {
			found++
			continue
		}
		switch {
		case w.Number && strings.ContainsAny(w.Of(sentence), "0123456789"):
			reasons = append(reasons, fmt.Sprintf("the number %q is in no passage cited", w.Of(sentence)))
		case w.Upper && i > 0:
			reasons = append(reasons, fmt.Sprintf("the name %q is in no passage cited", w.Of(sentence)))
		}
	}
	for _, m := range quotation.FindAllStringSubmatch(sentence, -1) {
		quote := strings.Join(m[1:], "")
		words := sequence(quote)
		if strings.Count(words, " ") < 3 { // a single word
			continue
		}
		if !slices.ContainsFunc(cited, func(e *evidence) bool { return strings.Contains(e.sequence, words) }) {
			reasons = append(reasons, fmt.Sprintf("the quotation %q is in no passage cited", quote))
		}
	}
	if content > 0 && float64(found) < minOverlap*float64(content) {
		reasons = append(reasons, fmt.Sprintf(fewWords+"%d of its %d words are in the passages cited", found, content))
	}
	return reasons
}

// monthNumbers and monthNames relate the two ways of writing a date.
var monthNumbers, monthNames = months("january february march april may june july august september october november december")

func months(names string) (numbers, byNumber map[string]string) {
	numbers, byNumber = make(map[string]string), make(map[string]string)
	for i, name := range strings.Fields(names) {
		n := fmt.Sprint(i + 1)
		numbers[prose.Fold(name)], byNumber[n] = n, prose.Fold(name)
	}
	return numbers, byNumber
}
