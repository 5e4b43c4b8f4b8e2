package chunker

import (
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// wordEnd is the last place after start and not after end where a line could
// be broken (UAX #14: after a space or hyphen, between ideographs, never before
// closing punctuation). Where there is none, or only one that would leave a
// small piece, it is the last place between two grapheme clusters, and start if
// there is none either.
func wordEnd(text string, start, end int) int {
	from := start + (end-start)/4
	for !utf8.RuneStart(text[from]) {
		from++
	}
	_, next := utf8.DecodeRuneInString(text[end:])
	rest, state := text[from:end+next], -1
	last := start
	for at := from; len(rest) > 0; {
		var segment string
		segment, rest, _, state = uniseg.FirstLineSegmentInString(rest, state)
		at += len(segment)
		if at > end {
			break
		}
		last = at
	}
	if last > start && wholeClusters(text, start, last) == last {
		return last
	}
	return wholeClusters(text, start, end)
}

// wholeClusters is the last place after start and not after end that lies
// between two grapheme clusters. Start is taken for such a place; it is start
// when the first cluster ends after end.
func wholeClusters(text string, start, end int) int {
	from := end
	for from > start && !surelyBetween(text, from) {
		_, n := utf8.DecodeLastRuneInString(text[:from])
		from -= n
	}
	// The next rune decides whether a cluster ends at end; none after it does.
	_, next := utf8.DecodeRuneInString(text[end:])
	rest, state := text[from:end+next], -1
	last := from
	for len(rest) > 0 {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if last+len(cluster) > end {
			break
		}
		last += len(cluster)
	}
	return last
}

// surelyBetween reports whether at lies between two grapheme clusters whatever
// stands before the rune in front of it. For the few pairs that depend on more,
// flags and joined emoji, it says no.
func surelyBetween(text string, at int) bool {
	if at <= 0 || at >= len(text) {
		return true
	}
	if text[at-1] < utf8.RuneSelf && text[at] < utf8.RuneSelf {
		return text[at-1] != '\r' || text[at] != '\n'
	}
	const joiner = '\u200d'
	before, n := utf8.DecodeLastRuneInString(text[:at])
	_, next := utf8.DecodeRuneInString(text[at:])
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(text[at-n:at+next], -1)
	return before != joiner && len(cluster) == n
}
