package ingest

import (
	"fmt"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/waymark-rag/waymark/chunker"
)

// blocks are the elements that stand apart from what is before and after them.
// Lists, their items, rows and cells have rules of their own.
var blocks = map[atom.Atom]gap{
	atom.Address: blankGap, atom.Article: blankGap, atom.Aside: blankGap,
	atom.Blockquote: blankGap, atom.Body: blankGap, atom.Center: blankGap,
	atom.Details: blankGap, atom.Dialog: blankGap, atom.Div: blankGap,
	atom.Dl: blankGap, atom.Fieldset: blankGap, atom.Figure: blankGap,
	atom.Footer: blankGap, atom.Form: blankGap, atom.Header: blankGap,
	atom.H1: blankGap, atom.H2: blankGap, atom.H3: blankGap,
	atom.H4: blankGap, atom.H5: blankGap, atom.H6: blankGap,
	atom.Hgroup: blankGap, atom.Hr: blankGap, atom.Main: blankGap,
	atom.Nav: blankGap, atom.P: blankGap, atom.Pre: blankGap,
	atom.Section: blankGap, atom.Table: blankGap, atom.Textarea: blankGap,

	atom.Caption: lineGap, atom.Dd: lineGap, atom.Dt: lineGap,
	atom.Figcaption: lineGap, atom.Legend: lineGap, atom.Li: lineGap,
	atom.Option: lineGap, atom.Summary: lineGap, atom.Tr: lineGap,
}

var headingLevels = map[atom.Atom]int{
	atom.H1: 1, atom.H2: 2, atom.H3: 3, atom.H4: 4, atom.H5: 5, atom.H6: 6,
}

// hiddenTags are the elements whose content is left out. The value says that it is
// even when no end tag follows: a browser takes the rest of the page for a
// script, but shows what is in a <nav>.
var hiddenTags = map[atom.Atom]bool{
	atom.Iframe: true, atom.Noembed: true, atom.Noframes: true,
	atom.Noscript: true, atom.Script: true, atom.Style: true,
	atom.Nav: false, atom.Svg: false, atom.Template: false,
}

// hide passes over the content of an element that starts at from.
func (p *page) hide(tag atom.Atom, from int) {
	toEnd, ok := hiddenTags[tag]
	if !ok {
		return
	}
	end := -1
	if !p.unclosed[tag] {
		end = indexEndTag(p.text, from, tag.String())
	}
	switch {
	case end >= 0:
		p.hidden = end
	case toEnd:
		p.hidden = len(p.text)
	default:
		p.unclosed[tag] = true // so that it is not searched for again
	}
}

// indexEndTag is the position of the first end tag of that name, or -1.
func indexEndTag(text string, from int, name string) int {
	for i := from; ; i += len("</") {
		next := strings.Index(text[i:], "</")
		if next < 0 {
			return -1
		}
		i += next
		rest := text[i+len("</"):]
		if len(rest) > len(name) && strings.EqualFold(rest[:len(name)], name) && strings.IndexByte(" \t\r\n\f/>", rest[len(name)]) >= 0 {
			return i
		}
	}
}

func (p *page) startTag(z *html.Tokenizer, at chunker.Range) atom.Atom {
	name, hasAttr := z.TagName()
	tag := atom.Lookup(name)
	w := p.w
	switch tag {
	case atom.Tr, atom.Li, atom.Table: // these start apart even in a cell or item without text
		w.started = true
	}
	if g, ok := blocks[tag]; ok {
		w.breakBlock(g, at.Start)
	}
	if level := headingLevels[tag]; level > 0 {
		w.openHeading(level)
	}
	switch tag {
	case atom.Title:
		p.inTitle = true
	case atom.Img:
		if hasAttr {
			p.image(z, at)
		}
	case atom.Br:
		p.lineBreak(at)
	case atom.Pre:
		p.pre++
		p.preStart = at.End
	case atom.Ul, atom.Ol:
		w.breakBlock(p.listGap(), at.Start)
		p.lists = append(p.lists, list{ordered: tag == atom.Ol})
	case atom.Li:
		p.item(at.Start)
	case atom.Table:
		w.cells = 0
		p.tables = append(p.tables, table{})
	case atom.Tr:
		p.row(at.Start)
	case atom.Td, atom.Th:
		p.cell(at.Start)
	}
	return tag
}

func (p *page) endTag(tag atom.Atom, at chunker.Range) {
	w := p.w
	switch tag {
	case atom.Title:
		p.inTitle = false
	case atom.Pre:
		p.pre = max(0, p.pre-1)
	case atom.Ul, atom.Ol:
		p.lists = p.lists[:max(0, len(p.lists)-1)]
		w.marker, w.started = "", true
		w.breakBlock(p.listGap(), at.End)
	case atom.Li:
		w.marker, w.started = "", true
	case atom.Table:
		p.tables = p.tables[:max(0, len(p.tables)-1)]
		w.cells, w.started = 0, true
	case atom.Tr:
		w.cells, w.started = 0, true
	}
	if headingLevels[tag] > 0 {
		w.closeHeading()
	}
	if g, ok := blocks[tag]; ok {
		w.breakBlock(g, at.End)
	}
}

// listGap separates a list from what is around it.
func (p *page) listGap() gap {
	if len(p.lists) > 0 {
		return lineGap // a list in an item
	}
	return blankGap
}

// item starts a list item, on the next line whatever ended the last one.
func (p *page) item(at int) {
	w := p.w
	w.marker = "- "
	if n := len(p.lists); n > 0 {
		l := &p.lists[n-1]
		l.items++
		if l.items > 1 {
			w.setGap(lineGap, at)
		}
		if l.ordered {
			w.marker = fmt.Sprintf("%d. ", l.items)
		}
		const maxIndent = 8 // lists that are never closed must not add up
		w.marker = strings.Repeat("  ", min(n-1, maxIndent)) + w.marker
	}
	w.started = false
}

// row starts a table row, on the next line whatever ended the last one.
func (p *page) row(at int) {
	p.w.cells = 0
	if n := len(p.tables); n > 0 {
		t := &p.tables[n-1]
		t.rows++
		t.cells = 0
		if t.rows > 1 {
			p.w.setGap(lineGap, at)
		}
	}
}

// cell starts a table cell, on the line of the one before it.
func (p *page) cell(at int) {
	w := p.w
	n := len(p.tables)
	if n == 0 {
		w.breakBlock(lineGap, at)
		return
	}
	t := &p.tables[n-1]
	t.cells++
	if t.cells > 1 {
		if w.started {
			w.setGap(noGap, at)
		}
		w.cells++
	}
	w.started = false
}

// lineBreak is <br>: one ends a line, two a paragraph.
func (p *page) lineBreak(at chunker.Range) {
	switch {
	case p.pre > 0:
		p.w.instead("\n", at)
	case p.w.gap == lineGap:
		p.w.setGap(blankGap, at.End)
	case p.w.gap < lineGap && p.w.started:
		p.w.setGap(lineGap, at.End)
	}
}

// image writes the text that stands for an image.
func (p *page) image(z *html.Tokenizer, at chunker.Range) {
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		if string(key) != "alt" {
			continue
		}
		if alt := strings.Join(strings.Fields(string(value)), " "); alt != "" {
			p.w.space(chunker.Range{Start: at.Start, End: at.Start})
			p.w.instead(alt, at)
			p.w.space(chunker.Range{Start: at.End, End: at.End})
		}
	}
}
