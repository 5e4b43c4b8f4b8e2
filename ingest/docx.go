package ingest

import (
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/waymark-rag/waymark/chunker"
)

// docxReader reads Word documents as a reader of the page would: with what was
// inserted, without what was deleted or hidden, the numbers of headings and lists
// written out, a note after the block that refers to it. Left out are comments, page
// headers and footers, and the table of contents, which repeats the headings.
type docxReader struct{}

func (docxReader) read(b *budget, data []byte) (chunker.Document, *Skip) {
	p, skip := openOffice(b, data, "word/document.xml")
	if skip != nil {
		return chunker.Document{}, skip
	}
	w := &wordReader{b: b, c: newComposer(b), notes: map[string]string{}}
	if w.styles, skip = readWordStyles(p.parts, related(p.of, "styles", "word/styles.xml")); skip != nil {
		return chunker.Document{}, skip
	}
	if w.lists, skip = readWordLists(p.parts, related(p.of, "numbering", "word/numbering.xml")); skip != nil {
		return chunker.Document{}, skip
	}
	for _, kind := range []string{"footnote", "endnote"} {
		name := related(p.of, kind+"s", "word/"+kind+"s.xml")
		if !p.has(name) {
			continue
		}
		if skip := p.walk(name, func(x *elements) error { return w.readNotes(x, kind) }); skip != nil {
			return chunker.Document{}, skip
		}
	}
	skip = p.walk(p.main, func(x *elements) error {
		w.x = x
		return x.find("body", func(xml.StartElement) error { return w.blocks(wordPage{w}) })
	})
	if skip != nil {
		return chunker.Document{}, skip
	}
	doc, skip := w.c.document()
	if skip != nil {
		return doc, skip
	}
	doc.Places = w.number(doc.Places, p.parts, p.root)
	props := p.properties(p.root)
	describe(&doc, props.Title, props.Creator, props.Modified)
	return doc, nil
}

// wordReader is one pass over a document.
type wordReader struct {
	b       *budget
	x       *elements
	c       *composer
	styles  wordStyles
	lists   *wordLists
	notes   map[string]string // by kind and id
	noted   map[string]int    // how many of a kind were referred to
	size    int64             // of all text so far
	page    int               // page breaks so far, as Word last laid them out
	pages   [][2]int          // of each block on the page: the breaks before its start and its end
	fields  []bool            // open fields, true where the result is being read
	boxes   []string          // text boxes to write after the block at hand
	pending []string          // notes to write after it
}

// number tells where the blocks are: on pages if the breaks in the text are as many as
// the file says that it has pages, so that both come from a program that laid it out;
// else by counting blocks.
func (w *wordReader) number(blocks []chunker.Placed, p *parts, root map[string]relation) []chunker.Placed {
	var app struct {
		Pages int `xml:"Pages"`
	}
	if p.decode(related(root, "extended-properties", "docprops/app.xml"), &app) != nil || app.Pages < 2 || app.Pages != w.page+1 {
		return blocks
	}
	c := composer{}
	for _, block := range blocks {
		n, _ := strconv.Atoi(block.Place.First)
		on := w.pages[n-1]
		c.at(chunker.Place{Kind: chunker.PagePlace, First: strconv.Itoa(on[0] + 1), Last: strconv.Itoa(on[1] + 1)})
		c.placed(block.Range)
	}
	return c.places
}

// wordSink takes the blocks of the page, of a table cell, of a note or text box.
type wordSink interface {
	paragraph(p *wordParagraph)
	table(t *cellTable)
}

// blocks reads paragraphs and tables up to the end of the element that holds them.
func (w *wordReader) blocks(to wordSink) error {
	var open *wordParagraph // whose end mark was deleted, so that the next goes on with it
	err := w.x.children(func(e xml.StartElement) error { return w.block(e, to, &open) })
	if open != nil {
		to.paragraph(open)
	}
	return err
}

func (w *wordReader) block(e xml.StartElement, to wordSink, open **wordParagraph) error {
	switch e.Name.Local {
	case "p":
		p := *open
		if p == nil {
			p = &wordParagraph{page: w.page, outline: -1}
		}
		p.joined = false
		if err := w.inline(p); err != nil {
			return err
		}
		for i := range w.fields { // an instruction ends with its paragraph, should the mark be lost
			w.fields[i] = true
		}
		if *open = nil; p.joined {
			*open = p
		} else {
			to.paragraph(p)
		}
		return nil
	case "tbl":
		t := &cellTable{page: w.page}
		if err := w.table(t); err != nil {
			return err
		}
		to.table(t)
		return nil
	case "altChunk":
		w.b.leaveOut(&Skip{Path: "embedded file", Reason: Unsupported, Detail: "open the document in Word and save it again"})
		return nil
	case "del", "moveFrom", "Fallback", "sectPr":
		return nil
	}
	return w.x.children(func(e xml.StartElement) error { return w.block(e, to, open) })
}

// wordPage takes the blocks of the page itself.
type wordPage struct{ w *wordReader }

func (s wordPage) paragraph(p *wordParagraph) {
	w := s.w
	w.begin(p.page)
	style := w.styles.resolve(p.style)
	text, level := p.text.String(), style.outline
	if p.outline >= 0 {
		level = p.outline
	}
	marker, depth := "", 0
	if strings.TrimSpace(text) != "" {
		marker, depth = w.lists.next(p.list.or(style.list))
	}
	switch {
	case style.contents:
	case level >= 0 && level < 9:
		if marker == bullet {
			marker = ""
		}
		w.c.heading(level+1, marker+text)
	case marker != "":
		w.c.item(depth, marker, text)
	default:
		w.c.paragraph(text)
	}
	w.finish()
}

func (s wordPage) table(t *cellTable) {
	w := s.w
	w.begin(t.page)
	w.c.endTable()
	t.write(w.c)
	w.c.endTable()
	w.finish()
}

// begin counts a block.
func (w *wordReader) begin(page int) {
	w.pages = append(w.pages, [2]int{page, w.page})
	w.c.at(paragraphPlace(len(w.pages)))
}

// finish writes what hangs on a block.
func (w *wordReader) finish() {
	for _, text := range append(w.boxes, w.pending...) {
		w.c.paragraph(text)
	}
	w.boxes, w.pending = nil, nil
}

// wordPieces takes the blocks of what stands in one piece elsewhere: a cell, a note, a
// text box.
type wordPieces struct {
	w      *wordReader
	pieces []string
}

func (s *wordPieces) paragraph(p *wordParagraph) {
	text := tidy(p.text.String())
	if text == "" {
		return
	}
	if marker, _ := s.w.lists.next(p.list.or(s.w.styles.resolve(p.style).list)); marker != "" {
		text = marker + text
	}
	s.pieces = append(s.pieces, text)
}

func (s *wordPieces) table(t *cellTable) {
	for _, row := range t.rows {
		if line := oneLine(strings.Join(row.cells, " ")); line != "" {
			s.pieces = append(s.pieces, line)
		}
	}
}

// grow counts text, all of which is held until its block is written.
func (w *wordReader) grow(size int) error {
	if w.size += int64(size); w.size > w.c.limit {
		return tooMuchText(w.c.limit)
	}
	return nil
}
