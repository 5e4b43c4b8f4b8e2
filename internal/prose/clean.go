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
	for _, m := range referenceMark.FindAllStringIndex(s, -1) {
		if !hasDigit.MatchString(s[m[0]:m[1]]) {
			continue
		}
		b.WriteString(strings.TrimRight(s[at:m[0]], " \t"))
		if startsWord(s[m[1]:]) {
			b.WriteByte(' ')
		}
		at = m[1]
	}
	b.WriteString(s[at:])
	return b.String()
}

func startsWord(s string) bool {
	for _, r := range s {
		return inWord(r) || spaceless(r)
	}
	return false
}
