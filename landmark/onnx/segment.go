//go:build cgo && onnx

package onnx

import (
	"strings"
	"unicode/utf8"

	"github.com/waymark-rag/waymark/chunker"
)

// maxSegment is how much text goes to the tokenizer at once: it takes some
// hundred bytes of memory for each byte of text.
const maxSegment = 64 << 10

// sanitise puts a space in the place of each NUL, which would end the text in C,
// and of each byte that is not UTF-8, which would be replaced by three. So no
// byte moves.
func sanitise(text string) string {
	if utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == 0 || r == utf8.RuneError && n == 1 {
			b.WriteByte(' ')
		} else {
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}

// cut returns how long the first segment of text is, at most size bytes: to a
// line's end, else to a blank, which goes to the next segment because in most
// vocabularies a token begins with its blank, else to where a rune ends, which
// is the one case that may split a token.
func cut(text string, size int) int {
	if len(text) <= size {
		return len(text)
	}
	for i := size; i > size/2; i-- {
		if text[i-1] == '\n' && !isBlank(text[i]) {
			return i
		}
	}
	for i := size - 1; i > size/2; i-- {
		if text[i] == ' ' && !isBlank(text[i-1]) && !isBlank(text[i+1]) {
			return i
		}
	}
	for !utf8.RuneStart(text[size]) {
		size--
	}
	return size
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// toRunes moves the ends of r apart to where runes end, inside limits: tokens of
// byte-level vocabularies may hold a part of a rune.
func toRunes(text string, r, limits chunker.Range) chunker.Range {
	r.Start = min(max(r.Start, limits.Start), limits.End)
	r.End = min(max(r.End, r.Start), limits.End)
	for r.Start > limits.Start && r.Start < len(text) && !utf8.RuneStart(text[r.Start]) {
		r.Start--
	}
	for r.End < limits.End && !utf8.RuneStart(text[r.End]) {
		r.End++
	}
	return r
}

// trimBlanks takes leading blanks out of r, unless there is nothing else in it:
// many vocabularies count the blank in front of a word to the word's token, and
// a chunk that ends between the two must not lose the word.
func trimBlanks(text string, r chunker.Range) chunker.Range {
	for start := r.Start; start < r.End; start++ {
		if !isBlank(text[start]) {
			return chunker.Range{Start: start, End: r.End}
		}
	}
	return r
}
