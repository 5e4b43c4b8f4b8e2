package prose

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Sentence is a sentence of a block. A heading, a table row and a fence are one
// sentence each.
type Sentence struct {
	Span      // without white space around it
	Kind Kind // of the block
}

// longSentence is the length in bytes from which a "sentence" that spans lines
// is taken for text without punctuation, such as a log, and cut at line ends.
const longSentence = 600

// Sentences returns the sentences of text in order, by the rules of UAX #29,
// except that a line break inside a paragraph ends none, and neither does a
// full stop after an abbreviation or an initial.
func Sentences(text string) []Sentence {
	var out []Sentence
	for _, b := range Blocks(text) {
		switch b.Kind {
		case Rule:
		case Paragraph, Item:
			out = appendSentences(out, text, b)
		default:
			out = append(out, Sentence(b))
		}
	}
	return out
}

// sameLength replaces line breaks by spaces, byte for byte.
var sameLength = strings.NewReplacer("\n", " ", "\r", " ")

func appendSentences(out []Sentence, text string, b Block) []Sentence {
	flat := blankMarks(sameLength.Replace(b.Of(text)))
	start, at := 0, 0
	for rest, state := flat, -1; rest != ""; {
		var s string
		s, rest, state = uniseg.FirstSentenceInString(rest, state)
		at += len(s)
		if rest != "" && continues(flat[start:at], rest) {
			continue
		}
		out = appendLines(out, text, Sentence{Span{b.Start + start, b.Start + at}, b.Kind})
		start = at
	}
	return out
}

// appendLines appends s, cut at line ends if it is too long for a sentence.
func appendLines(out []Sentence, text string, s Sentence) []Sentence {
	if s.End-s.Start <= longSentence {
		return appendTrimmed(out, text, s)
	}
	start := s.Start
	for line := range strings.Lines(s.Of(text)) {
		out = appendTrimmed(out, text, Sentence{Span{start, start + len(line)}, s.Kind})
		start += len(line)
	}
	return out
}

func appendTrimmed(out []Sentence, text string, s Sentence) []Sentence {
	if s.Span = trim(text, s.Span); s.Start < s.End {
		out = append(out, s)
	}
	return out
}

// abbreviations are those after which a capital letter is usual.
var abbreviations = set("mr mrs ms dr prof st mt gen col capt lt sgt rev hon sen rep gov pres jr sr vs e.g i.e cf fig figs eq vol ch sec approx ca u.s u.k u.n d.c a.m p.m ph.d v")

// continues reports whether the full stop at the end of sentence is that of an
// abbreviation, so that rest belongs to the same sentence.
func continues(sentence, rest string) bool {
	s := strings.TrimRight(sentence, " \t")
	if !strings.HasSuffix(s, ".") {
		return false
	}
	word := strings.TrimLeft(s[strings.LastIndexAny(s, " \t")+1:len(s)-1], "([\"'“‘")
	next, _ := utf8.DecodeRuneInString(rest)
	if strings.EqualFold(word, "no") || strings.EqualFold(word, "nos") {
		return unicode.IsDigit(next)
	}
	if r, n := utf8.DecodeRuneInString(word); n == len(word) && n > 0 {
		return unicode.IsUpper(r) && r != 'I' // an initial
	}
	return abbreviations[strings.ToLower(word)]
}

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}
