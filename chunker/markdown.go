package chunker

import (
	"sort"
	"strings"
)

// markdown reads CommonMark with tables and front matter, as far as it takes to
// know where blocks start. It looks at each line once. Headings count only
// outside lists and quotes.
type markdown struct {
	out    *outline
	text   string
	native bool  // its own headings count
	items  []int // the column where the text of each open list item starts

	leaf     leaf
	fence    string // the run of characters that closes an open fence
	tag      string // what ends open markup; empty for a blank line
	previous line   // the line before, while a paragraph is open
	front    int    // where front matter ends
}

// leaf is the kind of block that the next line may continue.
type leaf uint8

const (
	noLeaf leaf = iota
	paragraphLeaf
	tableLeaf
	quoteLeaf      // after a quoted line with text
	quoteBreakLeaf // after a quoted line without
	indentedLeaf
	fenceLeaf
	markupLeaf
)

func newMarkdown(o *outline, text string, native bool) *markdown {
	m := &markdown{out: o, text: text, native: native, front: frontMatterEnd(text)}
	if m.front > 0 {
		o.start(0, frontMatter, 0)
	}
	return m
}

func (m *markdown) interrupt() {
	m.leaf, m.items = noLeaf, m.items[:0]
}

func (m *markdown) read(l line) {
	if l.Start < m.front {
		return
	}
	if l.blank() {
		m.readBlank()
		return
	}
	// How many of the open items hold the line, by its indentation.
	depth := sort.SearchInts(m.items, l.indent+1)
	inside := depth == len(m.items)
	indent := l.indent
	if depth > 0 {
		indent -= m.items[depth-1]
	}
	if inside && m.continues(l, indent) {
		return
	}
	if m.leaf == fenceLeaf || m.leaf == markupLeaf || m.leaf == indentedLeaf {
		m.leaf = noLeaf
	}
	if indent >= 4 {
		if m.leaf != paragraphLeaf {
			m.open(l, depth, fence, indentedLeaf)
		}
	} else if !m.opensBlock(l, depth, inside) {
		m.readText(l, depth, inside)
	}
	m.previous = l
}

// readBlank ends what a blank line ends.
func (m *markdown) readBlank() {
	switch {
	case m.leaf == fenceLeaf || m.leaf == indentedLeaf:
	case m.leaf == markupLeaf && m.tag != "":
	default:
		m.leaf = noLeaf
	}
}

// continues reports whether the line is one more of an open block whose lines
// are not looked at for other blocks.
func (m *markdown) continues(l line, indent int) bool {
	switch m.leaf {
	case fenceLeaf:
		if indent < 4 && closesFence(l.body, m.fence) {
			m.leaf = noLeaf
		}
		return true
	case markupLeaf:
		if m.tag != "" && containsFold(l.body, m.tag) {
			m.leaf = noLeaf
		}
		return true
	case indentedLeaf:
		return indent >= 4
	}
	return false
}

// opensBlock starts the block that the line opens, if it opens one.
func (m *markdown) opensBlock(l line, depth int, inside bool) bool {
	// Less may interrupt a paragraph than may follow other blocks.
	interrupts := inside && m.leaf == paragraphLeaf
	if interrupts && m.underlines(l, depth) {
		return true
	}
	if level := atxLevel(l.body); level > 0 {
		m.open(l, depth, paragraph, noLeaf)
		m.head(level, depth, l.Range)
		return true
	}
	if isDivider(l.body) {
		m.open(l, depth, divider, noLeaf)
		return true
	}
	if run := opensFence(l.body); run != "" {
		m.open(l, depth, fence, fenceLeaf)
		m.fence = run
		return true
	}
	if l.body[0] == '>' {
		m.readQuote(l, depth, inside)
		return true
	}
	if m.opensItem(l, depth, interrupts) {
		return true
	}
	if tag, ok := opensMarkup(l.body, !interrupts); ok {
		m.open(l, depth, markup, markupLeaf)
		m.tag = tag
		if tag != "" && containsFold(l.body[2:], tag) {
			m.leaf = noLeaf
		}
		return true
	}
	return false
}

// underlines handles a line that says what the open paragraph above it is: a
// heading or, from its last line on, a table.
func (m *markdown) underlines(l line, depth int) bool {
	b := m.out.last()
	if level := setextLevel(l.body); level > 0 {
		m.head(level, depth, Range{b.Start, m.previous.End})
		m.leaf = noLeaf
		return true
	}
	if !isDelimiterRow(l.body) || !strings.Contains(m.previous.body, "|") {
		return false
	}
	switch {
	case b.Start != m.previous.Start:
		m.open(m.previous, depth, table, tableLeaf)
	case b.kind == paragraph:
		b.kind = table
	}
	b = m.out.last()
	b.rows = true
	b.header = Range{m.previous.Start, l.End}
	m.leaf = tableLeaf
	return true
}

// head makes the last block a heading where headings count.
func (m *markdown) head(level, depth int, r Range) {
	if m.native && depth == 0 {
		m.out.head(Heading{Range: r, Level: level, Title: title(r.Of(m.text))})
	}
}

// readQuote reads a quoted line. After a quoted blank line, it starts a block
// inside the quote.
func (m *markdown) readQuote(l line, depth int, inside bool) {
	next := quoteLeaf
	if strings.Trim(l.body, "> \t") == "" {
		next = quoteBreakLeaf
	}
	switch {
	case !inside || m.leaf != quoteLeaf && m.leaf != quoteBreakLeaf:
		m.open(l, depth, quote, next)
	case m.leaf == quoteBreakLeaf && next == quoteLeaf:
		m.out.start(l.Start, quote, depth+1)
	}
	m.leaf = next
}

// opensItem starts the list item that the line opens, if it opens one.
func (m *markdown) opensItem(l line, depth int, interrupts bool) bool {
	width, number := listMarker(l.body)
	if width == 0 {
		return false
	}
	rest := strings.TrimLeft(l.body[width:], " \t")
	if interrupts && (rest == "" || number > 1) {
		return false
	}
	column := l.indent + width
	content := column
	for _, c := range []byte(l.body[width : len(l.body)-len(rest)]) {
		content = nextColumn(content, c)
	}
	if rest == "" || content > column+4 {
		content = column + 1
	}
	m.open(l, depth, listItem, paragraphLeaf)
	m.items = append(m.items, content)
	if rest == "" {
		m.leaf = noLeaf
	} else if m.fence = opensFence(rest); m.fence != "" {
		m.leaf = fenceLeaf
		m.out.last().rows = true
	}
	return true
}

// readText reads a line that opens no block: it goes on with the paragraph, even
// where it is indented too little for the list item, or starts one.
func (m *markdown) readText(l line, depth int, inside bool) {
	lazy := m.leaf == paragraphLeaf || m.leaf == quoteLeaf
	if !lazy && !(inside && m.leaf == tableLeaf) {
		m.open(l, depth, paragraph, paragraphLeaf)
	}
}

// open starts a block inside the first depth open items.
func (m *markdown) open(l line, depth int, k kind, then leaf) {
	m.items = m.items[:depth]
	m.out.start(l.Start, k, depth)
	m.leaf = then
}
