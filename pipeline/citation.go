package pipeline

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mark is a citation marker in the text of an answer.
type mark struct {
	start, end int // byte range in the text
	number     int // as renumbered
}

// citationParser reads an answer as it is written and puts its citations in
// order. Markers in any of the usual forms, such as [1], [1, 2], [1-3], [^1],
// 【1】, [Source 1] or (source 1), become [1][2]...: numbered in order of first use. Numbers
// of passages that were not given are taken out and counted. What only looks
// like a marker stays as it is: in code, [1](link), and an index such as
// args[0], which is an out-of-range number right behind a word.
//
// The text returned does not depend on how the input was split, so streamed and
// blocking answers are equal, and it holds no marker that is out of range.
type citationParser struct {
	passages int    // numbers from 1 to this are valid
	used     []int  // passages in order of first use
	marks    []mark // in order of position
	dropped  int

	in        string // not decided yet
	lineStart bool   // in begins a line
	fence     string // that opened the code block in begins in
	out       citedText
}

func newCitationParser(passages int) *citationParser {
	return &citationParser{passages: passages, lineStart: true}
}

// write takes the next piece of the answer and returns the text that is certain.
func (p *citationParser) write(piece string) string {
	p.in += piece
	return p.advance(false)
}

// close returns the rest of the text.
func (p *citationParser) close() string { return p.advance(true) }

func (p *citationParser) advance(final bool) string {
	for p.in != "" && p.step(final) {
	}
	return p.out.take()
}

// step moves the start of p.in on. It returns false if that needs more input,
// which it never does when final.
func (p *citationParser) step(final bool) bool {
	if p.fence != "" {
		return p.fenceLine(final)
	}
	if p.lineStart {
		m := fenceOpening.FindStringSubmatch(p.in)
		if m != nil && (final || strings.HasSuffix(m[0], "\n")) {
			p.fence = m[1]
			p.line(len(strings.TrimSuffix(m[0], "\n")))
			return true
		}
		if !final && fenceMaybe.MatchString(p.in) {
			return false
		}
	}
	if !final && !utf8.FullRuneInString(p.in) {
		return false
	}
	r, n := utf8.DecodeRuneInString(p.in)
	p.lineStart = r == '\n'
	switch {
	case unicode.IsSpace(r):
		p.out.space(p.in[:n])
	case r == '`':
		return p.code(final)
	case strings.ContainsRune(openers, r):
		return p.bracket(n, final, markerBody, openers+closers+"\n", closers)
	case strings.ContainsRune(parenOpeners, r):
		return p.bracket(n, final, parenBody, openers+closers+parenOpeners+parenClosers+"\n", parenClosers)
	default:
		p.out.put(p.in[:n])
	}
	p.in = p.in[n:]
	return true
}

var (
	fenceOpening = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})[^`\n]*(?:\n|$)")
	// fenceMaybe matches what may still become the opening of a fence.
	fenceMaybe = regexp.MustCompile("^ {0,3}(`{0,2}|~{0,2}|`{3,}[^`\n]*|~{3,}[^`\n]*)$")
)

// fenceLine passes on a line of a code block.
func (p *citationParser) fenceLine(final bool) bool {
	end := strings.IndexByte(p.in, '\n')
	if end < 0 {
		if !final {
			return false
		}
		end = len(p.in)
	}
	t := strings.TrimSpace(p.in[:end])
	if strings.HasPrefix(t, p.fence) && strings.Trim(t, p.fence[:1]) == "" {
		p.fence = ""
	}
	p.line(end)
	return true
}

// line passes on a line of end bytes as it is, with its line break.
func (p *citationParser) line(end int) {
	p.out.verbatim(p.in[:end])
	if p.in = p.in[end:]; p.in != "" {
		p.out.space("\n")
		p.in = p.in[1:]
	}
	p.lineStart = true
}

// maxCode bounds in bytes a code span, so that a stray backtick does not hold
// up the rest of a long line.
const maxCode = 1000

// code passes on a code span, or the backticks alone if nothing closes them on
// their line.
func (p *citationParser) code(final bool) bool {
	opening := runLength(p.in)
	if opening == len(p.in) && !final {
		return false
	}
	for at := opening; ; {
		switch {
		case at == len(p.in) && at <= maxCode && !final:
			return false
		case at == len(p.in) || at > maxCode || p.in[at] == '\n':
			p.out.put(p.in[:opening])
			p.in = p.in[opening:]
			return true
		case p.in[at] != '`':
			at++
			continue
		}
		closing := runLength(p.in[at:])
		at += closing
		if at == len(p.in) && !final {
			return false
		}
		if closing == opening {
			p.out.verbatim(p.in[:at])
			p.in = p.in[at:]
			return true
		}
	}
}

// runLength is the number of backticks that s starts with.
func runLength(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }

// bracket handles what may be a marker of a form. Its opening bracket is n bytes
// long; the next of stops must be one of closing.
func (p *citationParser) bracket(n int, final bool, form *regexp.Regexp, stops, closing string) bool {
	end := strings.IndexAny(p.in[n:], stops)
	if end < 0 && len(p.in)-n < maxMarker+utf8.UTFMax && !final {
		return false
	}
	if end < 0 || end > maxMarker {
		return p.plain(n)
	}
	closer, size := utf8.DecodeRuneInString(p.in[n+end:])
	if !strings.ContainsRune(closing, closer) {
		return p.plain(n)
	}
	body, next := p.in[n:n+end], n+end+size
	numbers, beyond, ok := parseMarker(form, body, p.passages)
	if !ok {
		return p.plain(n)
	}
	if next == len(p.in) && !final {
		return false // a link or a marker?
	}
	link := strings.HasPrefix(p.in[next:], "(")
	index := beyond > 0 && p.out.behindWord()
	if link || index {
		p.out.put(p.in[:next])
		p.out.index = index
		p.in = p.in[next:]
		return !link || p.plain(1)
	}
	p.dropped += beyond
	p.cite(numbers)
	p.in = p.in[next:]
	return true
}

// plain passes on a bracket that begins no marker.
func (p *citationParser) plain(n int) bool {
	p.out.put(p.in[:n])
	if strings.Contains(parenOpeners, p.in[:n]) {
		p.out.paren = &strings.Builder{}
	} else {
		p.out.open = true
	}
	p.in = p.in[n:]
	return true
}

// cite writes the markers of passages that those directly before do not name.
func (p *citationParser) cite(passages []int) {
	written := false
	for _, passage := range passages {
		i := slices.Index(p.used, passage)
		if i < 0 {
			i = len(p.used)
			p.used = append(p.used, passage)
		}
		if start, end, ok := p.out.mark(i + 1); ok {
			p.marks = append(p.marks, mark{start, end, i + 1})
			written = true
		}
	}
	if !written {
		p.out.remove()
	}
}
