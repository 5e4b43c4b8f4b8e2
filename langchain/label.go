package langchain

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/waymark-rag/waymark/retriever"
)

// labelLine is a line that label has made: its number and its place.
var labelLine = regexp.MustCompile(`(?m)^Passage \[(\d+)\] (.*)$`)

// label numbers a passage and says where it stands, in one line.
func label(number int, h retriever.Hit) string {
	return fmt.Sprintf("Passage [%d] %s", number, placeName(h))
}

// maxName bounds in bytes each part of a label.
const maxName = 200

// placeName names a passage by title, headings, document and lines.
func placeName(h retriever.Hit) string {
	var path []string
	for _, part := range append([]string{h.Title}, h.Headings...) {
		if part = oneLine(part); part != "" && (len(path) == 0 || path[len(path)-1] != part) {
			path = append(path, part)
		}
	}
	document := oneLine(h.Document)
	switch l := h.Lines; {
	case l.First == 0:
	case l.First == l.Last:
		document += fmt.Sprintf(", line %d", l.First)
	default:
		document += fmt.Sprintf(", lines %d-%d", l.First, l.Last)
	}
	return strings.TrimSpace(strings.Join(path, " > ") + " (" + document + ")")
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxName {
		s = strings.ToValidUTF8(s[:maxName], "") + "..."
	}
	return s
}

// labelled splits a text at its labels, which must be numbered from 1 on. Each part
// has its label in front as a Markdown heading. A text that does not start with a
// label has none.
func labelled(text string) []string {
	var starts [][]int
	for _, m := range labelLine.FindAllStringSubmatchIndex(text, -1) {
		if text[m[2]:m[3]] == strconv.Itoa(len(starts)+1) {
			starts = append(starts, m)
		}
	}
	if len(starts) == 0 || strings.TrimSpace(text[:starts[0][0]]) != "" {
		return nil
	}
	parts := make([]string, len(starts))
	for i, m := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		parts[i] = "# " + text[m[4]:m[5]] + "\n\n" + strings.TrimSpace(text[m[1]:end])
	}
	return parts
}
