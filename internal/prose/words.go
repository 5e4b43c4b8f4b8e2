package prose

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Word is a word of a text, or in scripts written without spaces a pair of
// characters.
type Word struct {
	Span
	// Folded is the form to compare words by: lower case, without common
	// endings; numbers in plain digits.
	Folded string
	Stop   bool // carries no meaning of its own, such as "the"
	Number bool
	Upper  bool // starts with a capital letter
}

// Words returns the words of text in order.
func Words(text string) []Word {
	var out []Word
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRuneInString(text[at:])
		switch {
		case spaceless(r):
			end := runEnd(text, at, spaceless)
			out = appendPairs(out, text, at, end)
			at = end
		case inWord(r):
			end := wordEnd(text, at)
			out = append(out, newWord(text, at, end))
			at = end
		default:
			at += n
		}
	}
	return out
}

// Content returns the words of text that are no stop words.
func Content(text string) []Word {
	all := Words(text)
	out := all[:0]
	for _, w := range all {
		if !w.Stop {
			out = append(out, w)
		}
	}
	return out
}

func newWord(text string, start, end int) Word {
	w := Word{Span: Span{start, end}}
	t := w.Of(text)
	first, _ := utf8.DecodeRuneInString(t)
	w.Upper = unicode.IsUpper(first)
	lower := strings.ReplaceAll(strings.ToLower(t), "’", "'")
	if number, ok := foldNumber(lower); ok {
		w.Folded, w.Number = number, true
		return w
	}
	w.Stop = stopWords[lower]
	w.Folded = Fold(lower)
	return w
}

func inWord(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !spaceless(r)
}

// spaceless reports whether r is of a script that does not separate words.
func spaceless(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func runEnd(text string, at int, in func(rune) bool) int {
	for at < len(text) {
		r, n := utf8.DecodeRuneInString(text[at:])
		if !in(r) {
			break
		}
		at += n
	}
	return at
}

// wordEnd finds the end of the word at the given place: letters and digits,
// with an apostrophe between letters and a comma or point between digits.
func wordEnd(text string, at int) int {
	var last rune
	for at < len(text) {
		r, n := utf8.DecodeRuneInString(text[at:])
		if inWord(r) {
			last = r
			at += n
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[at+n:])
		apostrophe := (r == '\'' || r == '’') && unicode.IsLetter(last) && unicode.IsLetter(next)
		separator := (r == ',' || r == '.') && unicode.IsDigit(last) && unicode.IsDigit(next)
		if !apostrophe && !separator {
			break
		}
		last = r
		at += n
	}
	return at
}

// appendPairs appends every pair of neighbouring characters, or the only
// character.
func appendPairs(out []Word, text string, start, end int) []Word {
	_, n := utf8.DecodeRuneInString(text[start:end])
	if start+n == end {
		return append(out, newPair(text, Span{start, end}))
	}
	for at := start; at+n < end; {
		_, next := utf8.DecodeRuneInString(text[at+n : end])
		out = append(out, newPair(text, Span{at, at + n + next}))
		at, n = at+n, next
	}
	return out
}

// newPair makes a word of one or two characters. Those with a character that
// serves grammar in Chinese, and Japanese syllables, say nothing by themselves.
func newPair(text string, p Span) Word {
	w := Word{Span: p, Folded: p.Of(text)}
	w.Stop = strings.ContainsAny(w.Folded, "的了是在和与或也都被把从对为以及哪谁吗呢么何几怎什多") ||
		strings.IndexFunc(w.Folded, func(r rune) bool { return !unicode.Is(unicode.Hiragana, r) }) < 0
	return w
}

var stopWords = set(`a about above after again all also am an and any are as at be because been before being
below between both but by can could did do does doing done down during each few for from further get had has have
having he her here hers herself him himself his how i if in into is it its itself just me more most my myself
no nor not now of off on once one only or other our ours ourselves out over own same she should so some such
than that the their theirs them themselves then there these they this those through to too under until up upon
us very was we were what when where which while who whom whose why will with would you your yours yourself
it's that's what's who's isn't aren't wasn't weren't don't doesn't didn't can't couldn't won't wouldn't
may might must shall there's let's according please tell`)
