package ingest

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// table reads a table. A cell merged with the one above has its text again, so that
// each row says all that is said of it.
func (w *wordReader) table(t *cellTable) error {
	return w.x.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "tblPr":
			return w.x.find("tblLook", func(e xml.StartElement) error {
				flags, _ := strconv.ParseUint(attribute(e, "val"), 16, 32)
				t.first = flags&0x20 != 0 || attribute(e, "firstRow") == "1"
				return nil
			})
		case "tr":
			return w.row(t)
		case "del", "moveFrom", "Fallback":
			return nil
		}
		return w.table(t) // what wraps rows
	})
}

func (w *wordReader) row(t *cellTable) error {
	var row cellRow
	deleted := false
	if err := w.cells(t, &row, &deleted); err != nil || deleted {
		return err
	}
	t.columns = max(t.columns, len(row.cells))
	t.rows = append(t.rows, row)
	return nil
}

func (w *wordReader) cells(t *cellTable, row *cellRow, deleted *bool) error {
	return w.x.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "trPr":
			return w.x.children(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "tblHeader":
					row.header = isOn(e)
				case "del":
					*deleted = true
				case "gridBefore":
					row.cells = append(row.cells, make([]string, min(number(attribute(e, "val"), 0), maxColumns))...)
				}
				return nil
			})
		case "tc":
			return w.cell(t, row)
		case "del", "moveFrom", "Fallback":
			return nil
		}
		return w.cells(t, row, deleted)
	})
}

func (w *wordReader) cell(t *cellTable, row *cellRow) error {
	span, above := 1, false
	s := wordPieces{w: w}
	var open *wordParagraph
	err := w.x.children(func(e xml.StartElement) error {
		if e.Name.Local != "tcPr" {
			return w.block(e, &s, &open)
		}
		return w.x.children(func(e xml.StartElement) error {
			switch e.Name.Local {
			case "gridSpan":
				span = min(max(number(attribute(e, "val"), 1), 1), maxColumns)
			case "vMerge":
				above = attribute(e, "val") != "restart"
			}
			return nil
		})
	})
	if open != nil {
		s.paragraph(open)
	}
	at := len(row.cells)
	if err != nil || at+span > maxColumns {
		return err
	}
	text := oneLine(strings.Join(s.pieces, " "))
	if above && text == "" && len(t.rows) > 0 {
		if last := t.rows[len(t.rows)-1].cells; at < len(last) {
			text = last[at]
		}
	}
	row.cells = append(append(row.cells, text), make([]string, span-1)...)
	return nil
}
