package eval

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Markdown writes a report's settings and tables.
func (r *Report) Markdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, s := range r.Settings {
		fmt.Fprintf(b, "- %s: %s\n", s.Name, s.Value)
	}
	for _, t := range r.tables() {
		fmt.Fprintf(b, "\n### %s\n\n", t.Title)
		if t.Note != "" {
			fmt.Fprintf(b, "%s\n\n", t.Note)
		}
		writeRow(b, t.Head)
		b.WriteString(strings.Repeat("|---", len(t.Head)) + "|\n")
		for _, row := range t.Rows {
			writeRow(b, row)
		}
	}
	return b.Flush()
}

func writeRow(w io.Writer, cells []string) {
	escaped := make([]string, len(cells))
	for i, c := range cells {
		escaped[i] = strings.ReplaceAll(c, "|", `\|`)
	}
	fmt.Fprintf(w, "| %s |\n", strings.Join(escaped, " | "))
}
