package ingest

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// odfBlock is a paragraph, heading, list item or table.
type odfBlock struct {
	heading, level int
	marker, text   string
	table          *cellTable
}

// blocks calls emit with each block in the element that was started last.
func (o *odf) blocks(level int, emit func(odfBlock)) error {
	return o.x.children(func(e xml.StartElement) error { return o.block(e, level, emit) })
}

func (o *odf) block(e xml.StartElement, level int, emit func(odfBlock)) error {
	switch e.Name.Local {
	case "p", "h":
		var text strings.Builder
		if err := o.inline(&text); err != nil {
			return err
		}
		b := odfBlock{level: level, text: text.String()}
		switch style := attribute(e, "style-name"); {
		case e.Name.Local == "h":
			b.heading = number(attribute(e, "outline-level"), 1)
		case o.is(style, "Title"):
			b.heading = 1
		}
		emit(b)
		return nil
	case "list":
		return o.list(o.styles[attribute(e, "style-name")].numbers, level, emit)
	case "table":
		t := &cellTable{first: attribute(e, "use-first-row-styles") == "true"}
		err := o.table(t, false)
		emit(odfBlock{table: t})
		return err
	case "tracked-changes", "table-of-content", "forms", "annotation", "sequence-decls":
		return nil
	}
	return o.blocks(level, emit)
}

// list reads a list. The first paragraph of an item has its marker. Lists in it take
// their style from it.
func (o *odf) list(numbers map[int]bool, level int, emit func(odfBlock)) error {
	n := 0
	return o.x.children(func(item xml.StartElement) error {
		marker := ""
		if item.Name.Local == "list-item" {
			n = number(attribute(item, "start-value"), n+1)
			if marker = bullet; numbers[level+1] {
				marker = strconv.Itoa(n) + ". "
			}
		}
		return o.x.children(func(e xml.StartElement) error {
			if e.Name.Local == "list" {
				inner := numbers
				if style := o.styles[attribute(e, "style-name")].numbers; style != nil {
					inner = style
				}
				return o.list(inner, level+1, emit)
			}
			return o.block(e, level, func(b odfBlock) {
				b.marker, marker = marker, ""
				emit(b)
			})
		})
	})
}

// inline reads the text of a paragraph.
func (o *odf) inline(out *strings.Builder) error {
	inside := o.x.depth
	for {
		token, err := o.x.next()
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.CharData:
			if o.size += int64(len(token)); o.size > o.c.limit {
				return tooMuchText(o.c.limit)
			}
			out.WriteString(strings.Map(func(r rune) rune {
				if r == '\n' || r == '\r' || r == '\t' {
					return ' '
				}
				return r
			}, string(token)))
		case xml.StartElement:
			here := o.x.depth
			if err := o.inlineElement(token, out); err != nil {
				return err
			}
			for o.x.depth >= here {
				if _, err := o.x.next(); err != nil {
					return err
				}
			}
		case xml.EndElement:
			if o.x.depth < inside {
				return nil
			}
		}
	}
}

func (o *odf) inlineElement(e xml.StartElement, out *strings.Builder) error {
	switch e.Name.Local {
	case "s":
		out.WriteString(strings.Repeat(" ", min(max(number(attribute(e, "c"), 1), 1), 80)))
	case "tab":
		out.WriteString("\t")
	case "line-break":
		out.WriteString("\n")
	case "note":
		return o.note(out)
	case "annotation", "ruby-text", "tracked-changes", "hidden-text", "hidden-paragraph", "page-number":
	case "frame", "custom-shape":
		var pieces []string
		if err := o.frame(&pieces, out); err != nil {
			return err
		}
		if len(pieces) > 0 {
			o.pending = append(o.pending, strings.Join(pieces, "\n"))
		}
	default:
		return o.inline(out)
	}
	return nil
}

// frame reads a box in a text, or what a picture shows.
func (o *odf) frame(pieces *[]string, out *strings.Builder) error {
	return o.x.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "desc":
			text, err := o.x.text()
			out.WriteString(" " + text + " ")
			return err
		case "text-box":
			return o.blocks(0, func(b odfBlock) { *pieces = append(*pieces, b.piece()) })
		case "p":
			var text strings.Builder
			err := o.inline(&text)
			*pieces = append(*pieces, tidy(text.String()))
			return err
		}
		return nil
	})
}

// piece is a block as a part of something else.
func (b odfBlock) piece() string {
	if b.table == nil {
		return b.marker + tidy(b.text)
	}
	var rows []string
	for _, row := range b.table.rows {
		rows = append(rows, strings.Join(row.cells, " "))
	}
	return strings.Join(rows, "\n")
}

// note reads a footnote or endnote.
func (o *odf) note(out *strings.Builder) error {
	var pieces []string
	err := o.x.find("note-body", func(xml.StartElement) error {
		return o.blocks(0, func(b odfBlock) { pieces = append(pieces, b.piece()) })
	})
	if text := oneLine(strings.Join(pieces, " ")); text != "" {
		o.notes++
		mark := "[^" + strconv.Itoa(o.notes) + "]"
		out.WriteString(mark)
		o.pending = append(o.pending, mark+": "+text)
	}
	return err
}

// table reads the rows of a table of a text or slide.
func (o *odf) table(t *cellTable, header bool) error {
	return o.x.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "table-header-rows":
			return o.table(t, true)
		case "table-row":
			row := cellRow{header: header}
			err := o.x.children(func(e xml.StartElement) error {
				if e.Name.Local != "table-cell" && e.Name.Local != "covered-table-cell" {
					return nil
				}
				cell, at := odfCell{}, len(row.cells)
				if err := o.cell(e, &cell); err != nil {
					return err
				}
				if e.Name.Local == "covered-table-cell" && len(t.rows) > 0 && at < len(t.rows[len(t.rows)-1].cells) {
					cell.text = t.rows[len(t.rows)-1].cells[at]
				}
				for range min(cell.columns, maxColumns-at) {
					row.cells = append(row.cells, cell.text)
				}
				return nil
			})
			t.columns = max(t.columns, len(row.cells))
			t.rows = append(t.rows, row)
			return err
		case "table-columns", "table-column", "shapes":
			return nil
		}
		return o.table(t, header)
	})
}

// odfCell is a cell, or some that are the same.
type odfCell struct {
	text    string
	words   bool // it is no number or date
	columns int  // how many they are
	down    int  // rows that it reaches over
}

func (o *odf) cell(e xml.StartElement, cell *odfCell) error {
	var pieces []string
	if err := o.blocks(0, func(b odfBlock) { pieces = append(pieces, b.piece()) }); err != nil {
		return err
	}
	cell.text = oneLine(strings.Join(pieces, " "))
	cell.columns = max(number(attribute(e, "number-columns-repeated"), 1), 1)
	cell.down = max(number(attribute(e, "number-rows-spanned"), 1), 1)
	switch attribute(e, "value-type") {
	case "", "string":
		cell.words = true
	case "date":
		if date := attribute(e, "date-value"); date != "" && cell.text != "" {
			cell.text = oneLine(strings.Replace(strings.TrimSuffix(date, "T00:00:00"), "T", " ", 1))
		}
	}
	return nil
}
