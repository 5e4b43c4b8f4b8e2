package ingest

import (
	"strconv"
	"strings"

	"github.com/waymark-rag/waymark/chunker"
)

// csvReader takes a file of rows as it is. What it finds out is which row names the
// columns, and where rows start, as a cell in quotes may have line breaks.
type csvReader struct{}

func (csvReader) read(b *budget, data []byte) (chunker.Document, *Skip) {
	src, skip := decode(data)
	if skip != nil {
		return chunker.Document{}, skip
	}
	doc := src.document(0)
	d := guessDialect(doc.Text)
	header := d.header(doc.Text)
	doc.Tables = []chunker.Table{{Range: chunker.Range{End: len(doc.Text)}, Header: header}}
	var rows rowPlaces
	var cells []chunker.Range
	for start, at := 0, d.start; at < len(doc.Text); {
		var end int
		cells, end = d.row(doc.Text, at, cells[:0])
		rows.add(chunker.Range{Start: start, End: end})
		start, at = end, end
		if rows.n%4096 == 0 {
			if s := b.over(); s != nil {
				return chunker.Document{}, s
			}
		}
	}
	doc.Places = rows.places()
	return doc, nil
}

// dialect is how a file writes its rows.
type dialect struct {
	delimiter byte
	start     int // of the first row, after a line that only names the delimiter
}

// maxQuoted bounds a cell in quotes, so that a quote that is never closed does not
// make one cell of a long file.
const maxQuoted = 1 << 20

// row appends the cells of the row at a position to cells, with their quotes but
// without the line break, and tells where the next row starts.
func (d dialect) row(text string, at int, cells []chunker.Range) (_ []chunker.Range, end int) {
	for start := at; ; {
		if start < len(text) && text[start] == '"' {
			at = quotedEnd(text, start)
		}
		for at < len(text) && text[at] != d.delimiter && text[at] != '\n' && text[at] != '\r' {
			at++
		}
		cells = append(cells, chunker.Range{Start: start, End: at})
		if at == len(text) || text[at] != d.delimiter {
			return cells, at + len(anyLineBreak(text[at:]))
		}
		at++
		start = at
	}
}

// anyLineBreak is the line break that s starts with.
func anyLineBreak(s string) string {
	if strings.HasPrefix(s, "\r") && !strings.HasPrefix(s, "\r\n") {
		return s[:1]
	}
	return lineBreak(s)
}

// quotedEnd is where the quotes end that open at a position, or that position when
// they do not.
func quotedEnd(text string, at int) int {
	s := text[:min(len(text), at+maxQuoted)]
	for i := at + 1; ; {
		n := strings.IndexByte(s[i:], '"')
		if n < 0 {
			return at
		}
		i += n + 1
		if !strings.HasPrefix(s[i:], `"`) {
			return i
		}
		i++ // "" stands for a quote
	}
}

// cell is what a cell holds.
func cell(text string, r chunker.Range) string {
	s := strings.TrimSpace(r.Of(text))
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return strings.TrimSpace(strings.ReplaceAll(s[1:len(s)-1], `""`, `"`))
	}
	return s
}

// rowPlaces numbers rows from 1. A file of very many has a place for a group of them.
type rowPlaces struct {
	n      int // rows
	size   int // of a group
	groups []chunker.Range
}

// maxRowPlaces is above what people scroll through and below what memory notices.
const maxRowPlaces = 1 << 14

func (p *rowPlaces) add(r chunker.Range) {
	p.size = max(p.size, 1)
	if p.n%p.size == 0 && len(p.groups) == maxRowPlaces {
		p.halve()
	}
	if p.n%p.size == 0 {
		p.groups = append(p.groups, r)
	}
	p.groups[len(p.groups)-1].End = r.End
	p.n++
}

// halve joins groups two by two.
func (p *rowPlaces) halve() {
	for i := range len(p.groups) / 2 {
		p.groups[i] = chunker.Range{Start: p.groups[2*i].Start, End: p.groups[2*i+1].End}
	}
	p.groups = p.groups[:len(p.groups)/2]
	p.size *= 2
}

func (p *rowPlaces) places() []chunker.Placed {
	out := make([]chunker.Placed, len(p.groups))
	for i, r := range p.groups {
		first, last := i*p.size+1, min((i+1)*p.size, p.n)
		out[i] = chunker.Placed{Range: r, Place: chunker.Place{Kind: chunker.RowPlace, First: strconv.Itoa(first), Last: strconv.Itoa(last)}}
	}
	return out
}
