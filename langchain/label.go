package langchain

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

// labelLine is a line that label has made: its number and its place.
var labelLine = regexp.MustCompile(`(?m)^Passage \[(\d+)\] (.*)$`)

// label numbers a passage and says where it stands, in one line.
func label(number int, h retriever.Hit) string {
	path, document, lines := pipeline.Place(h)
	return fmt.Sprintf("Passage [%d] %s", number, strings.TrimSpace(path+" ("+document+lines+")"))
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
