package local

import (
	"strings"
	"unicode"
)

// maxTerms is how many different words of a query take part.
const maxTerms = 64

// unspaced are the scripts that are written without spaces between words.
// FTS5 would take a whole sentence of one for a single word, so each of its
// characters is made a word and pairs of them are searched for.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

func isUnspaced(r rune) bool { return r > unicode.MaxLatin1 && unicode.In(r, unspaced...) }

// isWord agrees with the categories in the schema.
func isWord(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.Co) }

// indexText is text as it is given to FTS5: characters of unspaced scripts
// stand alone.
func indexText(text string) string {
	if strings.IndexFunc(text, isUnspaced) < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(2 * len(text))
	for _, r := range text {
		if isUnspaced(r) {
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// terms returns the words of plain text in the form of FTS5 queries, each once.
// Every one is quoted, so nothing in it is an operator.
func terms(text string) []string {
	var out []string
	seen := make(map[string]bool)
	add := func(term string) {
		if key := strings.ToLower(term); !seen[key] && len(out) < maxTerms {
			seen[key] = true
			out = append(out, `"`+term+`"`)
		}
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !isWord(r) }) {
		for word != "" {
			end := strings.IndexFunc(word, isUnspaced)
			if end != 0 { // up to the first unspaced character
				if end < 0 {
					end = len(word)
				}
				add(word[:end])
			} else {
				if end = strings.IndexFunc(word, func(r rune) bool { return !isUnspaced(r) }); end < 0 {
					end = len(word)
				}
				addPairs([]rune(word[:end]), add)
			}
			word = word[end:]
		}
	}
	return out
}

// addPairs adds each pair of neighbouring characters as a phrase.
func addPairs(run []rune, add func(string)) {
	if len(run) == 1 {
		add(string(run))
	}
	for i := 1; i < len(run); i++ {
		add(string(run[i-1]) + " " + string(run[i]))
	}
}
