package pipeline

import (
	"regexp"
	"slices"
	"strings"

	"github.com/waymark-rag/waymark/internal/prose"
	"github.com/waymark-rag/waymark/llm"
)

// dependence says how a question hangs on what was said before.
type dependence int

const (
	standsAlone dependence = iota
	elliptic               // leaves something out: "and in winter?"
	refers                 // names it by a pronoun: "when do they wake?"
)

var (
	// opening is how a question begins that changes one part of the last.
	opening = regexp.MustCompile(`(?i)^\W*(?:and|but|or|what (?:about|if|else)|how about|same (?:for|with)|(?:why|how) not)\b`)
	pronoun = regexp.MustCompile(`(?i)\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|there|ones?|former|latter|others|(?:the )?same)\b`)
	// noPronoun is what looks like one and refers to nothing: "is there a lift",
	// "is it allowed to", "one of".
	noPronoun = regexp.MustCompile(`(?i)\b(?:(?:is|are|was|were|be|been) there|there (?:is|are|was|were|be|been|will|exists?)|` +
		`(?:is|was|be) it (?:allowed|possible|true|necessary|legal|safe|okay|ok|worth|usual|common|better)|it (?:rains?|snows?)|one (?:of|day|time))\b`)
	hanPronoun = regexp.MustCompile(`[它他她这那其]`)
	// adjunct is a preposition with what may stand behind it.
	adjunct = regexp.MustCompile(`(?i)\b(in|on|at|for|to|from|by|with|without|under|over|during|before|after|near)((?: +(?:the|a|an|my|our))? +[\p{L}\p{N}-]+)`)
	// definition asks what the one content word in it is.
	definition = regexp.MustCompile(`(?i)^\W*(?:what|who) (?:is|are|was|were)\b|^\W*define\b`)
)

// generic are content words that say nothing about what a question is about, in
// folded form.
var generic = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields("tell explain describe show give say mean work happen detail example " +
		"reason kind sort type way thing case please else different many much long often old big far exactly really long know need") {
		m[prose.Fold(w)] = true
	}
	return m
}()

// enoughContent is how many content words make a question stand alone, and how
// many before a pronoun are taken for what it stands for.
const enoughContent = 2

func dependenceOf(question string) dependence {
	words := contentOf(question)
	text := noPronoun.ReplaceAllStringFunc(question, func(s string) string { return strings.Repeat(" ", len(s)) })
	if m := pronoun.FindStringIndex(text); m != nil {
		before, needed := 0, enoughContent
		for _, w := range words {
			if w.End <= m[0] {
				before++
			}
		}
		switch last := strings.Trim(text[m[1]:], " ?!.") == ""; strings.ToLower(text[m[0]:m[1]]) {
		case "there":
			return refers
		case "it", "them", "him", "her":
			if last { // "is it safe to end it?"
				return refers
			}
		case "that", "this": // not in "the key that opens the door"
			needed = 1
		}
		if before < needed {
			return refers
		}
	}
	if hanPronoun.MatchString(question) {
		return refers
	}
	named := slices.ContainsFunc(words, func(w prose.Word) bool { return w.Number || w.Upper && w.Start > 0 })
	switch {
	case opening.MatchString(question):
		return elliptic
	case len(words) >= enoughContent, len(words) > 0 && (named || definition.MatchString(question)):
		return standsAlone
	}
	return elliptic
}

// contentOf returns the content words of a text that say what it is about.
func contentOf(text string) []prose.Word {
	return slices.DeleteFunc(prose.Content(text), func(w prose.Word) bool { return generic[w.Folded] })
}

const (
	maxTurnsBack = 3  // questions that words are taken from
	maxCarried   = 12 // words and names
	maxNames     = 3  // of them from the answer
)

// condenseByRule puts in front of a question that does not stand alone what the
// turns before it are about.
func condenseByRule(question string, history []llm.Message) string {
	kind := dependenceOf(question)
	if kind == standsAlone {
		return question
	}
	c := carrier{known: map[string]bool{}}
	for _, w := range contentOf(question) {
		c.known[w.Folded] = true
	}
	if kind == refers {
		c.addNames(lastAnswer(history))
	}
	turns := 0
	for _, m := range slices.Backward(history) {
		if m.Role != llm.User {
			continue
		}
		before := dependenceOf(m.Text)
		switch {
		case kind == refers:
			c.addWords(m.Text)
		case before != elliptic: // of "and in winter?" "and in summer?" the second replaces the first
			c.addWords(withoutReplaced(m.Text, question))
		}
		if turns++; before == standsAlone || turns == maxTurnsBack {
			break
		}
	}
	if len(c.parts) == 0 {
		return question
	}
	return strings.Join(c.parts[:min(len(c.parts), maxCarried)], " ") + " " + question
}

// withoutReplaced takes out of a question what an elliptic one behind it puts
// something else in place of: "in summer" if that asks "and in winter?".
func withoutReplaced(question, elliptic string) string {
	replaced := map[string]bool{}
	for _, m := range adjunct.FindAllStringSubmatch(elliptic, -1) {
		replaced[strings.ToLower(m[1])] = true
	}
	return adjunct.ReplaceAllStringFunc(question, func(s string) string {
		preposition, _, _ := strings.Cut(s, " ")
		if replaced[strings.ToLower(preposition)] {
			return ""
		}
		return s
	})
}

func lastAnswer(history []llm.Message) string {
	for _, m := range slices.Backward(history) {
		if m.Role == llm.Assistant && !saysNotAnswered(m.Text) {
			return m.Text
		}
	}
	return ""
}

// carrier collects words, each once.
type carrier struct {
	known map[string]bool // folded
	parts []string
}

// addWords adds the content words of a question as they stand there. In scripts
// without spaces, where words are overlapping pairs, these are put together.
func (c *carrier) addWords(question string) {
	var last prose.Span
	for _, w := range contentOf(question) {
		if c.known[w.Folded] {
			continue
		}
		c.known[w.Folded] = true
		if n := len(c.parts); n > 0 && w.Start < last.End {
			last.End = w.End
			c.parts[n-1] = last.Of(question)
			continue
		}
		last = w.Span
		c.parts = append(c.parts, w.Of(question))
	}
}

// addNames adds the first names in an answer.
func (c *carrier) addNames(answer string) {
	for _, name := range namesIn(answer) {
		fresh := false
		words := prose.Words(name)
		for _, w := range words {
			fresh = fresh || !c.known[w.Folded]
		}
		if !fresh {
			continue
		}
		for _, w := range words {
			c.known[w.Folded] = true
		}
		if c.parts = append(c.parts, name); len(c.parts) == maxNames {
			return
		}
	}
}

// namesIn returns the runs of capitalised words in a text. A single one at the
// start of a sentence is no name, but that of the first is what an answer is
// about more often than not.
func namesIn(text string) []string {
	var names []string
	for n, s := range prose.Sentences(text) {
		if s.Kind != prose.Paragraph && s.Kind != prose.Item {
			continue
		}
		sentence := s.Of(text)
		words := prose.Words(sentence)
		for i := 0; i < len(words); i++ {
			if !words[i].Upper || words[i].Stop {
				continue
			}
			run := i
			for run+1 < len(words) && words[run+1].Upper && sentence[words[run].End:words[run+1].Start] == " " {
				run++
			}
			if n == 0 || i > 0 || run > 0 {
				names = append(names, sentence[words[i].Start:words[run].End])
			}
			i = run
		}
	}
	return names
}
