package ingest

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// lineBlock is a run of lines that stand one below the other.
type lineBlock struct {
	pdfLine // the box around them
	lines   []pdfLine
}

// blocks cuts a page's lines into such runs.
func (p *pdfPage) blocks() []lineBlock {
	var out []lineBlock
	for i, l := range p.lines {
		if i > 0 && below(p.lines[i-1], l) {
			b := &out[len(out)-1]
			b.lines = append(b.lines, l)
			b.left, b.right = min(b.left, l.left), max(b.right, l.right)
			b.bottom, b.top = min(b.bottom, l.bottom), max(b.top, l.top)
			continue
		}
		out = append(out, lineBlock{l, []pdfLine{l}})
	}
	return out
}

// below tells whether a line follows another in a column.
func below(above, l pdfLine) bool {
	if !above.placed() || !l.placed() {
		return above.placed() == l.placed()
	}
	gap := above.bottom - l.top
	return l.middle() < above.middle() && gap < 3*max(above.height(), l.height()) && above.beside(l)
}

// sort brings the lines into the order in which they are read. That of the file is
// right as a rule, as programs write a column after the other; only where it goes up
// the page other than to a column on the right is it made anew from the places.
func (p *pdfPage) sort() {
	blocks := p.blocks()
	const tooMany = 500 // a drawing, or hostile
	if len(blocks) > tooMany || !outOfOrder(blocks) {
		return
	}
	p.lines = p.lines[:0]
	for _, b := range cut(blocks) {
		p.lines = append(p.lines, b.lines...)
	}
}

func outOfOrder(blocks []lineBlock) bool {
	wrong := false
	for i, b := range blocks {
		if !b.placed() {
			return false
		}
		if i > 0 && b.bottom >= blocks[i-1].top && b.left < blocks[i-1].right {
			wrong = true
		}
	}
	return wrong
}

// cut orders blocks by cutting the page along white gutters into columns, and where
// there is no gutter along white gaps into rows.
func cut(blocks []lineBlock) []lineBlock {
	const gutter = 6 // points
	slices.SortStableFunc(blocks, func(a, b lineBlock) int { return cmp.Compare(a.left, b.left) })
	edge := blocks[0].right
	for i, b := range blocks[1:] {
		if b.left > edge+gutter {
			return append(cut(slices.Clone(blocks[:i+1])), cut(slices.Clone(blocks[i+1:]))...)
		}
		edge = max(edge, b.right)
	}
	slices.SortStableFunc(blocks, func(a, b lineBlock) int { return cmp.Compare(b.top, a.top) })
	edge = blocks[0].bottom
	for i, b := range blocks[1:] {
		if b.top <= edge {
			return append(cut(slices.Clone(blocks[:i+1])), cut(slices.Clone(blocks[i+1:]))...)
		}
		edge = min(edge, b.bottom)
	}
	return blocks
}

// dropRepeated takes out the lines at the top and bottom of pages that most pages
// have, whatever numbers are in them.
func dropRepeated(pages []pdfPage) {
	const margin, fewest = 0.12, 4
	count, withText := map[string]int{}, 0
	key := func(p pdfPage, l pdfLine) string {
		where := "top "
		switch {
		case !l.placed() || p.height <= 0:
			return ""
		case l.top < margin*p.height:
			where = "bottom "
		case l.bottom < (1-margin)*p.height:
			return ""
		}
		return where + strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return '#'
			}
			return r
		}, l.text)
	}
	for _, p := range pages {
		if len(p.lines) > 0 {
			withText++
		}
		seen := map[string]bool{"": true}
		for _, l := range p.lines {
			if k := key(p, l); !seen[k] {
				seen[k] = true
				count[k]++
			}
		}
	}
	if withText < fewest {
		return
	}
	for i, p := range pages { // those of left and right pages may differ
		pages[i].lines = slices.DeleteFunc(p.lines, func(l pdfLine) bool {
			return count[key(p, l)] >= max(3, withText*2/5)
		})
	}
}
