package pipeline

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// citedText builds the text of an answer: it trims it, closes up the gap that a
// marker leaves when it is taken out, and keeps that from making a new marker
// of what stood around it.
type citedText struct {
	ready  strings.Builder // not taken yet
	length int             // of the text so far

	before  string // white space to come before what follows
	removed bool   // a marker was taken out behind before
	after   string // white space behind that marker

	last  rune             // of the text
	index bool             // last closes an index, such as args[0]
	open  bool             // a square bracket is open on this line
	paren *strings.Builder // what stands behind an open parenthesis on this line
	run   []int            // numbers of the markers directly before
}

// take returns the text that was added since the last call.
func (t *citedText) take() string {
	s := t.ready.String()
	t.ready.Reset()
	return s
}

// space adds white space, of which what ends the text is never written.
func (t *citedText) space(s string) {
	if t.removed {
		t.after += s
	} else {
		t.before += s
	}
	if s == "\n" {
		t.run = nil
	}
}

// gap is the white space to write before s.
func (t *citedText) gap(s string) string {
	switch {
	case t.length == 0:
		return ""
	case t.removed && t.after == "" && strings.ContainsAny(s[:1], ".,;:!?)]}") && !strings.Contains(t.before, "\n"):
		return ""
	}
	return t.around()
}

// around is what is left of the white space around a marker taken out: that
// with more line breaks.
func (t *citedText) around() string {
	if t.before == "" || strings.Count(t.after, "\n") > strings.Count(t.before, "\n") {
		return t.after
	}
	return t.before
}

func (t *citedText) add(s string) {
	s = strings.ToValidUTF8(s, "\uFFFD") // JSON could not hold it otherwise
	gap := t.gap(s)
	t.ready.WriteString(gap)
	t.ready.WriteString(s)
	t.length += len(gap) + len(s)
	if strings.Contains(gap, "\n") || strings.ContainsAny(s, closers) {
		t.open = false
	}
	switch {
	case t.paren == nil:
	case strings.Contains(gap, "\n"), strings.ContainsAny(s, parenClosers), t.paren.Len() > maxMarker:
		t.paren = nil
	default:
		t.paren.WriteString(gap + s)
	}
	t.before, t.removed, t.after, t.index = "", false, "", false
	t.last, _ = utf8.DecodeLastRuneInString(s)
}

// put adds text that is no marker.
func (t *citedText) put(s string) {
	t.add(s)
	t.run = nil
}

// verbatim adds code.
func (t *citedText) verbatim(s string) {
	core := strings.TrimSpace(s)
	if core == "" {
		t.space(s)
		return
	}
	start := strings.Index(s, core)
	t.space(s[:start])
	t.put(core)
	t.space(s[start+len(core):])
}

// mark adds a marker and returns where it stands. ok is false if the markers
// directly before have the same number.
func (t *citedText) mark(number int) (start, end int, ok bool) {
	if slices.Contains(t.run, number) {
		return 0, 0, false
	}
	s := "[" + strconv.Itoa(number) + "]"
	t.add(s)
	t.run = append(t.run, number)
	return t.length - len(s), t.length, true
}

// remove takes out a marker. Where the text around it would become another
// marker, or a code fence, an ellipsis takes its place.
func (t *citedText) remove() {
	t.before, t.after = t.around(), ""
	joins := t.open || t.paren != nil && labelStart.MatchString(t.paren.String()) || t.before == "" && (t.last == '`' || t.last == '~')
	if joins && !strings.Contains(t.before, "\n") {
		t.removed = false
		t.put("…")
		return
	}
	t.removed = true
}

// behindWord reports whether what follows stands directly behind a word or
// another index.
func (t *citedText) behindWord() bool {
	if t.before != "" || t.removed || t.length == 0 {
		return false
	}
	return t.index || t.last == '_' || unicode.IsLetter(t.last) || unicode.IsDigit(t.last)
}
