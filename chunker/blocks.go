package chunker

// kind says what a block is.
type kind uint8

const (
	paragraph kind = iota
	heading        // level is its own, 1 the highest
	listItem       // its own text; the blocks it holds follow, one level deeper
	fence          // fenced or indented code
	table
	quote
	markup  // HTML
	divider // a thematic break
	frontMatter
	source // code in a document of its own
)

// block is a stretch of text that a reader sees as one thing. It reaches up to
// the start of the next block, so white space belongs to the block before it.
type block struct {
	Range
	kind   kind
	level  int   // of a heading; of others, how deep they are nested
	rows   bool  // where it is too large, it is cut at line ends, not sentences
	header Range // of a table
}

// outline is what a scan of a text finds.
type outline struct {
	blocks   []block
	headings []Heading
}

// start opens a block at a line start.
func (o *outline) start(at int, k kind, level int) {
	rows := k == fence || k == table || k == markup || k == frontMatter || k == source
	o.blocks = append(o.blocks, block{Range: Range{at, at}, kind: k, level: level, rows: rows})
}

// last is the block that was opened last.
func (o *outline) last() *block { return &o.blocks[len(o.blocks)-1] }

// head records a heading and makes the last block one.
func (o *outline) head(h Heading) {
	h.Level = min(max(h.Level, 1), lowestLevel)
	o.headings = append(o.headings, h)
	if b := o.last(); b.kind != heading {
		b.kind, b.level = heading, h.Level
	}
}

// finish gives the blocks their ends, so that they tile a text of size bytes.
func (o *outline) finish(size int) {
	if len(o.blocks) == 0 {
		o.start(0, paragraph, 0)
	}
	o.blocks[0].Start = 0
	end := size
	for i := len(o.blocks) - 1; i >= 0; i-- {
		o.blocks[i].End = end
		end = o.blocks[i].Start
	}
}

// A reader finds the blocks of one syntax, given its lines in order.
type reader interface {
	read(line)
	// interrupt ends the open block: the next line is not read but starts a
	// block of its own.
	interrupt()
}

// scan finds the blocks of a text. Headings and tables, if there are any, stand for
// those that the syntax would show; each takes the whole of its lines.
func scan(text string, syntax Syntax, headings []Heading, tables []Table) *outline {
	o := new(outline)
	var r reader
	switch syntax {
	case Markdown:
		r = newMarkdown(o, text, len(headings) == 0)
	case Code:
		r = newCode(o)
	default:
		r = &plain{out: o}
	}
	headingEnd, tableEnd := 0, 0
	for l := range linesOf(text, Range{0, len(text)}) {
		for len(tables) > 0 && tables[0].End <= l.Start {
			tables = tables[1:]
		}
		if len(headings) > 0 && headings[0].Start < l.End {
			r.interrupt()
			o.start(l.Start, paragraph, 0)
			for ; len(headings) > 0 && headings[0].Start < l.End; headings = headings[1:] {
				o.head(headings[0])
				headingEnd = max(headingEnd, headings[0].End)
			}
		} else if len(tables) > 0 && tables[0].Start < l.End {
			r.interrupt()
			o.start(l.Start, table, 0)
			o.last().header = tables[0].Header
			tableEnd, tables = tables[0].End, tables[1:]
		} else if l.Start >= max(headingEnd, tableEnd) {
			r.read(l)
		}
	}
	o.finish(len(text))
	return o
}

// plain reads text in which blank lines separate paragraphs.
type plain struct {
	out  *outline
	open bool // the line before was not blank
}

func (p *plain) interrupt() { p.open = false }

func (p *plain) read(l line) {
	if !p.open && !l.blank() {
		p.out.start(l.Start, paragraph, 0)
	}
	p.open = !l.blank()
}
