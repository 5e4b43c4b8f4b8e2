package ingest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/waymark-rag/waymark/chunker"
)

// composer writes the text of a document that stands in no bytes of its file:
// blocks apart by blank lines, list items and table rows a line each.
type composer struct {
	limit    int64 // bytes of text; what is above it is not kept
	full     bool
	text     strings.Builder
	last     blockKind
	headings []chunker.Heading
	tables   []chunker.Table
	places   []chunker.Placed
	place    chunker.Place // of what comes next
}

// blockKind tells what the text ends with.
type blockKind int

const (
	nothingYet blockKind = iota
	paragraphBlock
	itemBlock
	rowBlock // of a table that is still open
)

func newComposer(b *budget) *composer { return &composer{limit: b.opts.MaxBytes} }

// at says where in the file that stands which comes next.
func (c *composer) at(p chunker.Place) { c.place = p }

// paragraphPlace is that of the nth block of a file without pages.
func paragraphPlace(n int) chunker.Place {
	return chunker.Place{Kind: chunker.ParagraphPlace, First: strconv.Itoa(n), Last: strconv.Itoa(n)}
}

// paragraph writes a paragraph; its line breaks stay.
func (c *composer) paragraph(text string) { c.block(paragraphBlock, tidy(text)) }

// item writes a list item, with a marker such as "- " or "2. ".
func (c *composer) item(level int, marker, text string) {
	if text = tidy(text); text != "" {
		c.block(itemBlock, strings.Repeat("  ", min(level, 9))+marker+text)
	}
}

// heading writes a heading, in one line.
func (c *composer) heading(level int, text string) {
	text = oneLine(text)
	if r := c.block(paragraphBlock, text); r.Len() > 0 {
		c.headings = append(c.headings, chunker.Heading{Range: r, Level: min(max(level, 1), 6), Title: text})
	}
}

// include writes a document that another reader has made of a part of the file.
func (c *composer) include(doc chunker.Document) {
	r := c.block(paragraphBlock, doc.Text)
	if r.Len() == 0 {
		return
	}
	move := func(o chunker.Range) chunker.Range {
		return chunker.Range{Start: o.Start + r.Start, End: o.End + r.Start}
	}
	for _, h := range doc.Headings {
		h.Range = move(h.Range)
		c.headings = append(c.headings, h)
	}
	for _, t := range doc.Tables {
		t.Range, t.Header = move(t.Range), move(t.Header)
		c.tables = append(c.tables, t)
	}
}

// row writes a row of a table, which ends where anything else is written. With
// header set it names the columns, with the rows before it.
func (c *composer) row(cells []string, header bool) {
	end := len(cells)
	for end > 0 && cells[end-1] == "" {
		end--
	}
	if end == 0 {
		return
	}
	size := 0
	for _, cell := range cells[:end] {
		size += len(cell) + len(" | ")
	}
	if !c.fits(size) {
		return
	}
	first := c.last != rowBlock
	r := c.block(rowBlock, strings.Join(cells[:end], " | "))
	if first {
		c.tables = append(c.tables, chunker.Table{Range: chunker.Range{Start: r.Start}})
	}
	t := &c.tables[len(c.tables)-1]
	t.End = r.End
	switch {
	case header:
		t.Header = chunker.Range{Start: t.Start, End: r.End}
	case t.Header.End == r.Start-1: // the row after it: its line break is part of it
		t.Header.End = r.Start
	}
}

// endTable ends the open table, so that a row that follows starts another.
func (c *composer) endTable() {
	if c.last == rowBlock {
		c.last = paragraphBlock
	}
}

// fits tells whether so much more may be written; once it may not, nothing is.
func (c *composer) fits(size int) bool {
	c.full = c.full || int64(c.text.Len())+int64(size) > c.limit
	return !c.full
}

// block writes text after what separates it from the block before. Empty text is
// no block.
func (c *composer) block(k blockKind, text string) chunker.Range {
	const blankLine = "\n\n"
	if text == "" || !c.fits(len(text)+len(blankLine)) {
		return chunker.Range{}
	}
	switch {
	case c.last == nothingYet:
	case c.last == k && k != paragraphBlock:
		c.text.WriteString("\n")
	default:
		c.text.WriteString(blankLine)
	}
	c.last = k
	r := chunker.Range{Start: c.text.Len(), End: c.text.Len() + len(text)}
	c.text.WriteString(text)
	c.placed(r)
	return r
}

// placed notes where in the file a block stands.
func (c *composer) placed(r chunker.Range) {
	if c.place.IsZero() {
		return
	}
	if n := len(c.places); n > 0 && c.places[n-1].Place == c.place {
		c.places[n-1].End = r.End
		return
	}
	c.places = append(c.places, chunker.Placed{Range: r, Place: c.place})
}

// document is what was written.
func (c *composer) document() (chunker.Document, *Skip) {
	if c.full {
		return chunker.Document{}, tooMuchText(c.limit)
	}
	return chunker.Document{
		Text:     c.text.String(),
		Headings: c.headings,
		Tables:   c.tables,
		Places:   c.places,
		Source:   chunker.NoSource(),
	}, nil
}

func tooMuchText(limit int64) *Skip {
	return &Skip{Reason: TooLarge, Detail: fmt.Sprintf("its text is more than %d bytes; split it or raise the limit", limit)}
}

// tidy is text as it may stand in a document: UTF-8 without NUL and without what
// only guides the typesetting, and no white space at the ends of its lines.
func tidy(text string) string {
	text = strings.ToValidUTF8(text, replacement)
	text = strings.Map(func(r rune) rune {
		switch {
		case r == 0:
			return unicode.ReplacementChar
		case r == '\u00ad' || r == '\ufeff' || r == '\u2060': // soft hyphen, zero-width no-break space, word joiner
			return -1
		case r == '\u00a0' || r == '\u202f':
			return ' '
		case r == '\r' || r == '\v' || r == '\f' || r == '\u2028' || r == '\u2029':
			return '\n'
		case unicode.IsControl(r) && r != '\n' && r != '\t':
			return -1
		}
		return r
	}, text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t")
	}
	return strings.Trim(strings.Join(lines, "\n"), " \t\n")
}

// oneLine is text in a line, as a heading or a table cell has it.
func oneLine(text string) string { return strings.Join(strings.Fields(tidy(text)), " ") }
