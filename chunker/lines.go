package chunker

import (
	"iter"
	"strings"
	"unicode"
)

// line is one line of a text. A line ends with "\n", "\r\n" or a lone "\r".
type line struct {
	Range         // with its line break
	indent int    // columns of white space in front of body; tabs stop every 4
	body   string // without indentation and trailing white space
}

func (l line) blank() bool { return l.body == "" }

// linesOf yields the lines of the part of text that r covers.
func linesOf(text string, r Range) iter.Seq[line] {
	return func(yield func(line) bool) {
		for at := r.Start; at < r.End; {
			end := lineEnd(text[:r.End], at)
			raw := text[at:end]
			skip, indent := 0, 0
			for skip < len(raw) && (raw[skip] == ' ' || raw[skip] == '\t') {
				indent = nextColumn(indent, raw[skip])
				skip++
			}
			if !yield(line{Range{at, end}, indent, strings.TrimRightFunc(raw[skip:], unicode.IsSpace)}) {
				return
			}
			at = end
		}
	}
}

// lineEnd is where the line that holds at ends, after its line break.
func lineEnd(text string, at int) int {
	n := strings.IndexAny(text[at:], "\r\n")
	if n < 0 {
		return len(text)
	}
	at += n
	if strings.HasPrefix(text[at:], "\r\n") {
		return at + 2
	}
	return at + 1
}

// nextColumn is the column after white space c at column.
func nextColumn(column int, c byte) int {
	if c == '\t' {
		return column + 4 - column%4
	}
	return column + 1
}

// lineRanges yields ranges that tile r and end at line ends; blank lines go
// with the line before them.
func lineRanges(text string, r Range) iter.Seq[Range] {
	return func(yield func(Range) bool) {
		current := Range{r.Start, r.Start}
		visible := false
		for l := range linesOf(text, r) {
			if !l.blank() && visible {
				if !yield(current) {
					return
				}
				current.Start = l.Start
			}
			visible = visible || !l.blank()
			current.End = l.End
		}
		if current.Len() > 0 {
			yield(current)
		}
	}
}

// firstVisible is the place of the first byte of r that is not white space, or
// the start of r when there is none.
func firstVisible(text string, r Range) int {
	s := r.Of(text)
	if n := strings.IndexFunc(s, func(c rune) bool { return !unicode.IsSpace(c) }); n >= 0 {
		return r.Start + n
	}
	return r.Start
}
