package chunker

import (
	"unicode"
	"unicode/utf8"
)

// WordTokenizer is a Tokenizer for tests, examples and callers without a model.
// A token is a run of letters and digits, a single Chinese or Japanese
// character, or any other visible character, so that its counts are close to a
// model's. White space is in no token.
type WordTokenizer struct{}

// Offsets returns the tokens of text. It never fails.
func (WordTokenizer) Offsets(text string) ([]Range, error) {
	var tokens []Range
	inToken, inWord := false, false
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		letter := (unicode.IsLetter(r) || unicode.IsNumber(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
		mark := unicode.IsMark(r) || unicode.Is(unicode.Cf, r)
		switch {
		case unicode.IsSpace(r):
			inToken = false
		case inToken && (mark || inWord && letter):
			tokens[len(tokens)-1].End = at + size
		default:
			tokens = append(tokens, Range{at, at + size})
			inToken, inWord = true, letter
		}
		at += size
	}
	return tokens, nil
}
