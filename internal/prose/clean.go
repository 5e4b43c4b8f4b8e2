package prose

import (
	"regexp"
	"strings"
)

var (
	quotePrefix   = regexp.MustCompile(`\n[ \t]*>[ \t]?`)
	emphasis      = regexp.MustCompile(`(^|[\s("'])\*\*([^\s*]|[^\s*][^*\n]*[^\s*])\*\*($|[\s.,;:!?)"'])`)
	referenceMark = regexp.MustCompile(`[\[［【][^\[\]［］【】\n]{0,64}[\]］】]`)
	hasDigit      = regexp.MustCompile(`\p{Nd}`)
)

// Clean takes out of a sentence what is not its words: bold markers, the
// markers of a quotation's further lines, runs of white space, and reference
// marks such as "[3]", which would be taken for citations of something else.
// Words stay as they are and apart.
func Clean(sentence string) string {
	s := quotePrefix.ReplaceAllString(sentence, " ")
	s = emphasis.ReplaceAllString(s, "$1$2$3")
	return strings.Join(strings.Fields(withoutMarks(s)), " ")
}

func withoutMarks(s string) string {
	var b strings.Builder
	at := 0
	for _, m := range marks(s) {
		b.WriteString(strings.TrimRight(s[at:m.Start], " \t"))
		if startsWord(s[m.End:]) {
			b.WriteByte(' ')
		}
		at = m.End
	}
	b.WriteString(s[at:])
	return b.String()
}

// blankMarks puts spaces in place of reference marks, byte for byte: the rules
// for sentences take their brackets for those of a remark.
func blankMarks(s string) string {
	b := []byte(s)
	for _, m := range marks(s) {
		for i := m.Start; i < m.End; i++ {
			b[i] = ' '
		}
	}
	return string(b)
}

// marks returns the reference marks of s: brackets that hold a digit.
func marks(s string) []Span {
	var out []Span
	for _, m := range referenceMark.FindAllStringIndex(s, -1) {
		if p := (Span{m[0], m[1]}); hasDigit.MatchString(p.Of(s)) {
			out = append(out, p)
		}
	}
	return out
}

func startsWord(s string) bool {
	for _, r := range s {
		return inWord(r) || spaceless(r)
	}
	return false
}
