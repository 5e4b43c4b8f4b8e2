package chunker

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// lowestLevel is the level that all lower ones count as. It bounds the
	// length of a heading path.
	lowestLevel = 9
	// longestTitle is the most bytes of a heading that are read for its title.
	longestTitle = 300
)

// headingPaths returns, for each heading, the titles it stands under and its
// own, outermost first. Headings without a title are left out.
func headingPaths(headings []Heading) [][]string {
	paths := make([][]string, len(headings))
	var above []Heading
	for i, h := range headings {
		for len(above) > 0 && above[len(above)-1].Level >= h.Level {
			above = above[:len(above)-1]
		}
		above = append(above, h)
		for _, a := range above {
			if a.Title != "" {
				paths[i] = append(paths[i], a.Title)
			}
		}
		paths[i] = slices.Clip(paths[i])
	}
	return paths
}

// title is the text of a Markdown heading without its markup.
func title(heading string) string {
	s := strings.TrimSpace(heading)
	long := len(s) > longestTitle
	if long {
		s = s[:wholeClusters(s, 0, runeStart(s, longestTitle))]
	}
	if atxLevel(s) > 0 {
		s = strings.TrimLeft(s, "#")
		if open := strings.TrimRight(s, "#"); open == "" || strings.HasSuffix(open, " ") || strings.HasSuffix(open, "\t") {
			s = open
		}
	}
	s = strings.Join(strings.Fields(withoutMarkup(s)), " ")
	if long {
		s += "…"
	}
	return s
}

// runeStart is the last rune start of s that is not after at.
func runeStart(s string, at int) int {
	for !utf8.RuneStart(s[at]) {
		at--
	}
	return at
}

// withoutMarkup reduces inline Markdown to its text: links and images to their
// labels, code and emphasis to what they enclose.
func withoutMarkup(s string) string {
	var out strings.Builder
	links := linkMarkup(s)
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case links[i] > 0:
			i += links[i]
		case c == '\\' && i+1 < len(s) && strings.IndexByte("\\`*_{}[]()#+-.!~<>|", s[i+1]) >= 0:
			out.WriteByte(s[i+1])
			i += 2
		case c == '`':
			mark := runAt(s, i)
			i += len(mark)
			if n := strings.Index(s[i:], mark); n >= 0 {
				out.WriteString(s[i : i+n])
				i += n + len(mark)
			}
		case c == '*' || c == '_' || c == '~':
			mark := runAt(s, i)
			if !emphasises(s, i, i+len(mark)) {
				out.WriteString(mark)
			}
			i += len(mark)
		default:
			out.WriteByte(c)
			i++
		}
	}
	return out.String()
}

// runAt is the run of equal bytes at the place i of s.
func runAt(s string, i int) string {
	return s[i : len(s)-len(strings.TrimLeft(s[i:], s[i:i+1]))]
}

// linkMarkup finds what surrounds the labels of links and images in s: the
// length of each piece by its place.
func linkMarkup(s string) map[int]int {
	found := make(map[int]int)
	var open []int
	for i := range len(s) {
		if s[i] == '[' {
			open = append(open, i)
		}
		if s[i] != ']' || len(open) == 0 {
			continue
		}
		from := open[len(open)-1]
		open = open[:len(open)-1]
		before, _ := utf8.DecodeLastRuneInString(s[:from])
		target := s[i+1:]
		n := -1
		switch {
		case strings.HasPrefix(target, "("):
			n = strings.IndexByte(target, ')')
		case strings.HasPrefix(target, "[") && !inWord(before): // not a[i][j]
			n = strings.IndexByte(target, ']')
		}
		if n < 0 {
			continue
		}
		found[i] = n + 2
		found[from] = 1
		if before == '!' {
			found[from-1] = 2
		}
	}
	return found
}

// emphasises reports whether the run s[from:to] of asterisks, underscores or
// tildes is markup: not a lone tilde, not between spaces, and underscores not
// inside a word.
func emphasises(s string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	after, _ := utf8.DecodeRuneInString(s[to:])
	spaceBefore := from == 0 || unicode.IsSpace(before)
	spaceAfter := to == len(s) || unicode.IsSpace(after)
	switch s[from] {
	case '~':
		return to-from >= 2 && !(spaceBefore && spaceAfter)
	case '_':
		return !(inWord(before) && inWord(after)) && !(spaceBefore && spaceAfter)
	}
	return !(spaceBefore && spaceAfter)
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
