package chunker

import (
	"fmt"
	"sort"
	"unicode/utf8"
)

// limits measures ranges of one text against the hard limits.
type limits struct {
	text      string
	tokens    []Range
	maxTokens int
	maxBytes  int
}

// newLimits asks the tokenizer, once, where the tokens of text lie.
func newLimits(tok Tokenizer, opt Options, text string) (*limits, error) {
	tokens, err := tok.Offsets(text)
	if err != nil {
		return nil, fmt.Errorf("chunker: tokenizer: %w", err)
	}
	last := 0
	for i, t := range tokens {
		if t.Start < last || t.End < t.Start || t.End > len(text) || t.Start < len(text) && !utf8.RuneStart(text[t.Start]) {
			return nil, fmt.Errorf("chunker: the tokenizer puts token %d at bytes %s of a text of %d bytes: want ranges in order, inside the text and between runes", i, t, len(text))
		}
		last = t.Start
	}
	return &limits{text: text, tokens: tokens, maxTokens: opt.MaxTokens, maxBytes: opt.MaxBytes}, nil
}

// tokensBefore is the number of tokens that start before at.
func (l *limits) tokensBefore(at int) int {
	return sort.Search(len(l.tokens), func(i int) bool { return l.tokens[i].Start >= at })
}

// count is the number of tokens that start inside r.
func (l *limits) count(r Range) int { return l.tokensBefore(r.End) - l.tokensBefore(r.Start) }

func (l *limits) fits(r Range) bool {
	return r.Len() <= l.maxBytes && l.count(r) <= l.maxTokens
}

// fill is the size of r as a share of the limit that it is nearest to.
func (l *limits) fill(r Range) float64 {
	return max(float64(l.count(r))/float64(l.maxTokens), float64(r.Len())/float64(l.maxBytes))
}

// reach is the furthest end, between runes, of a range that starts at start and
// fits. It is at least one rune away, even if that rune alone does not fit.
func (l *limits) reach(start int) int {
	end := min(start+l.maxBytes, len(l.text))
	for end < len(l.text) && !utf8.RuneStart(l.text[end]) {
		end--
	}
	if next := l.tokensBefore(start) + l.maxTokens; next < len(l.tokens) {
		end = min(end, l.tokens[next].Start)
	}
	_, first := utf8.DecodeRuneInString(l.text[start:])
	return max(end, start+first)
}

// fixed cuts before every maxTokens-th token.
func (l *limits) fixed() []Range {
	var out []Range
	for at := 0; at < len(l.text); {
		end := l.reach(at)
		if whole := wholeClusters(l.text, at, end); whole > at {
			end = whole
		}
		out = append(out, Range{at, end})
		at = end
	}
	return out
}

// hard cuts a range that nothing better can cut into pieces that fit: between
// words, or else grapheme clusters, or else runes. The last two pieces are
// about even, so that no tiny one is left over. It reports whether yield wants
// more.
func (l *limits) hard(r Range, yield func(Range) bool) bool {
	for !l.fits(r) {
		end := l.reach(r.Start)
		if end >= r.End {
			break // a single rune that does not fit
		}
		cut := wordEnd(l.text, r.Start, end)
		if l.reach(end) >= r.End {
			half := runeStart(l.text, min(r.Start+r.Len()/2, end))
			if even := wordEnd(l.text, r.Start, half); l.fits(Range{even, r.End}) {
				cut = even
			}
		}
		if cut == r.Start {
			cut = end
		}
		if !yield(Range{r.Start, cut}) {
			return false
		}
		r.Start = cut
	}
	return yield(r)
}
