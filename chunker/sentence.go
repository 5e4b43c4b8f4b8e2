package chunker

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// sentenceUnits are the sentences of the text, those too large cut further. No
// sentence runs across a blank line.
func (l *limits) sentenceUnits() []unit {
	var out []unit
	for _, paragraph := range scan(l.text, Plain, nil, nil).blocks {
		for u := range l.pieces(paragraph.Range, false) {
			out = append(out, u)
		}
	}
	return out
}

var lineBreakToSpace = strings.NewReplacer("\n", " ", "\r", " ")

// sentenceRanges yields the sentences (UAX #29) of r, each with the white space
// that follows it. A single line break is taken for a space, since most text
// breaks lines to fit a page.
func sentenceRanges(text string, r Range) iter.Seq[Range] {
	return func(yield func(Range) bool) {
		body := lineBreakToSpace.Replace(r.Of(text))
		current := Range{r.Start, r.Start}
		for len(body) > 0 {
			n := separable(body)
			part, state := body[:n], -1
			body = body[n:]
			for len(part) > 0 {
				var s string
				s, part, state = uniseg.FirstSentenceInString(part, state)
				current.End += len(s)
				seam := part == "" && !unicode.IsSpace(lastRune(s)) // of two parts, or the end
				if seam || wholeClusters(text, current.Start, current.End) != current.End {
					continue
				}
				if !yield(current) {
					return
				}
				current.Start = current.End
			}
		}
		if current.Len() > 0 {
			yield(current)
		}
	}
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// separable is the length of the start of s that is to be segmented by itself. The
// rules look ahead for a letter after each full stop, bracket and space, which
// takes quadratic time in a long run without letters; so such a run is split.
func separable(s string) int {
	const longest = 64
	run := 0
	for i, c := range s {
		if unicode.IsLetter(c) && !unicode.Is(unicode.Lm, c) {
			run = 0
		} else if run++; run > longest {
			return i
		}
	}
	return len(s)
}
