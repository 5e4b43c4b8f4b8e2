package pipeline

import (
	"regexp"
	"strconv"
	"strings"
)

// maxMarker bounds in bytes what stands between the brackets of a marker.
const maxMarker = 64

const (
	openers = "[［【"
	closers = "]］】"
	// Between these a number is a citation only with a label: (source 1).
	parenOpeners = "(（"
	parenClosers = ")）"
)

// digits replaces full-width digits and commas by plain ones.
var digits = strings.NewReplacer("０", "0", "１", "1", "２", "2", "３", "3", "４", "4",
	"５", "5", "６", "6", "７", "7", "８", "8", "９", "9", "，", ",", "、", ",", "　", " ")

const (
	labelWord  = `(?:sources?|passages?|docs?|documents?|citations?|cites?|refs?|references?|ids?|chunks?|excerpts?|snippets?|quellen?|fuentes?|来源|资料|文档|段落|出典|資料)[ .:#_-]*`
	labelPart  = `(?:` + labelWord + `|#)?`
	numberPart = `\^?(\d{1,3})\^?`
	morePart   = `(?: *(?:[,;&–—-]|and|to) *` + labelPart + numberPart + `)*`
)

var (
	// Numbers have at most three digits: [2024] is a year.
	markerBody  = regexp.MustCompile(`(?i)^ *` + labelPart + numberPart + morePart + ` *(?:†.*)?$`)
	parenBody   = regexp.MustCompile(`(?i)^ *` + labelWord + numberPart + morePart + ` *$`)
	markerRange = regexp.MustCompile(`(\d{1,3})\^?(?: *(?:[–—-]|to) *\^?(\d{1,3}))?`)
	// labelStart matches what may become a labelled marker if something is
	// taken out behind it.
	labelStart = regexp.MustCompile(`(?i)^ *(?:` + labelWord + `|$)`)
)

// parseMarker reads what stands between two brackets, whose form is markerBody or
// parenBody. It returns the passages named, those in range once each, and how
// many numbers or ranges go beyond. ok is false if it is no marker.
func parseMarker(form *regexp.Regexp, body string, passages int) (valid []int, beyond int, ok bool) {
	body = digits.Replace(body)
	if !form.MatchString(body) {
		return nil, 0, false
	}
	body, _, _ = strings.Cut(body, "†")
	add := func(from, to int) {
		if from < 1 || to > passages {
			beyond++
		}
		for n := max(from, 1); n <= min(to, passages); n++ {
			valid = append(valid, n)
		}
	}
	for _, m := range markerRange.FindAllStringSubmatch(body, -1) {
		from, _ := strconv.Atoi(m[1]) // up to three digits
		to, err := strconv.Atoi(m[2])
		switch {
		case err != nil: // a single number
			add(from, from)
		case from <= to:
			add(from, to)
		default: // backwards, hence no range
			add(from, from)
			add(to, to)
		}
	}
	return valid, beyond, true
}
