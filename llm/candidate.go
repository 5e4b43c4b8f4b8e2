package llm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waymark-rag/waymark/internal/prose"
)

// candidate is a sentence that may be quoted.
type candidate struct {
	source   int    // number, from 1
	text     string // as quoted
	words    []word
	headings []word // of the headings it stands under
	before   []word // of the sentence before

	// What score fills in.
	coverage float64 // how much of the question it mentions, 0 to 1
	says     []word  // words that are not in the question
	holds    bool    // what the question asks for, such as a date
	score    float64

	similarity float64
}

// word is a content word in folded form.
type word struct {
	folded string
	root   string // its first runes, empty if it has no more
	number bool
	name   bool // has a capital letter and does not start the text
}

func (w word) same(o word) bool     { return w.folded == o.folded }
func (w word) in(words []word) bool { return slices.ContainsFunc(words, w.same) }
func (w word) isNumber() bool       { return w.number }
func (w word) isName() bool         { return w.name }

// quoted is the candidate with a citation marker after each sentence: a table
// row may hold several.
func (c candidate) quoted() string {
	var b strings.Builder
	for _, s := range prose.Sentences(c.text) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s [%d]", s.Of(c.text), c.source)
	}
	return b.String()
}

// The lengths in bytes between which a sentence is worth quoting.
const (
	minQuote = 8
	maxQuote = 1200
)

// candidates returns what may be quoted from a source.
func candidates(source string, number int) []candidate {
	var (
		out      []candidate
		headings []word
		header   []string // cells of the current table's first row
		before   []word
	)
	blocks := prose.Sentences(source)
	for i, s := range blocks {
		if s.Kind != prose.Row {
			header = nil
		}
		text := ""
		switch s.Kind {
		case prose.Heading:
			headings = contentWords(s.Of(source))
			before = nil
			continue
		case prose.Fence:
			continue
		case prose.Row:
			cells := splitRow(s.Of(source))
			if header == nil {
				header = cells
				continue
			}
			text = labelCells(header, cells)
		default:
			text = prose.Clean(s.Of(source))
			if strings.HasSuffix(text, ":") && i+1 < len(blocks) && blocks[i+1].Kind == prose.Fence {
				text = withCommand(text, blocks[i+1].Of(source))
			}
		}
		c := candidate{source: number, text: text, words: contentWords(text), headings: headings, before: before}
		before = c.words
		if quotable(c) {
			out = append(out, c)
		}
	}
	return out
}

// quotable reports whether the text is of a length to quote, asks nothing, and
// stays running text when it stands by itself.
func quotable(c candidate) bool {
	if len(c.text) < minQuote || len(c.text) > maxQuote || len(c.words) == 0 {
		return false
	}
	if strings.HasSuffix(c.text, "?") || strings.HasSuffix(c.text, "？") {
		return false
	}
	for _, b := range prose.Blocks(c.text) {
		if b.Kind != prose.Paragraph || b.Start != 0 {
			return false
		}
	}
	return true
}

// splitRow returns the cells of a table row.
func splitRow(row string) []string {
	cells := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|")
	for i, c := range cells {
		cells[i] = prose.Clean(c)
	}
	return cells
}

// labelCells makes "Port: 8080; Protocol: TCP" of a row below its header.
func labelCells(header, cells []string) string {
	var parts []string
	for i, cell := range cells {
		if cell == "" {
			continue
		}
		if i < len(header) && header[i] != "" && header[i] != cell {
			cell = header[i] + ": " + cell
		}
		parts = append(parts, cell)
	}
	return strings.Join(parts, "; ")
}

// withCommand puts the only line of a fenced block behind the sentence that
// announces it. Longer code is not quoted: half of it would mislead.
func withCommand(text, fence string) string {
	lines := strings.Split(fence, "\n")
	if len(lines) != 3 {
		return text
	}
	command := strings.TrimSpace(lines[1])
	if command == "" || strings.Contains(command, "`") {
		return text
	}
	return text + " `" + command + "`"
}

func contentWords(text string) []word {
	content := prose.Content(text)
	out := make([]word, len(content))
	for i, w := range content {
		out[i] = word{w.Folded, root(w), w.Number, w.Upper && w.Start > 0}
	}
	return out
}

// rootRunes is how many runes two words must share to count as related, such as
// "invention" and "inventor".
const rootRunes = 5

func root(w prose.Word) string {
	if w.Number {
		return ""
	}
	n := 0
	for i := range w.Folded {
		if n == rootRunes {
			return w.Folded[:i]
		}
		n++
	}
	return ""
}
