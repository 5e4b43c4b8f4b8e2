package ingest

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// grid is the cells of a sheet that have something in them, in order, and nothing of
// those that have not.
type grid struct {
	rows []gridRow
	text []byte
}

type gridRow struct {
	number int
	cells  []gridCell
}

type gridCell struct {
	column     int32
	start, end int32 // in the grid's text
	words      bool  // it is no number or date
}

const (
	maxSheetRow    = 1 << 20
	maxSheetColumn = 1 << 14
)

func (w *workbook) readSheet(name string) (*grid, *Skip) {
	if name == "" {
		return nil, &Skip{Reason: Damaged, Detail: "the file does not say where it is"}
	}
	g := &grid{}
	size, row := int64(0), 0
	var merged []gridRange
	skip := w.p.walk(name, func(x *elements) error {
		return x.find("worksheet", func(xml.StartElement) error {
			return x.children(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "sheetData":
					return x.find("row", func(e xml.StartElement) error {
						row = number(attribute(e, "r"), row+1)
						if row < 1 || row > maxSheetRow || len(g.rows) > 0 && row <= g.rows[len(g.rows)-1].number {
							return nil
						}
						cells, err := w.readRow(x, g, &size)
						if len(cells) > 0 {
							g.rows = append(g.rows, gridRow{row, cells})
						}
						return err
					})
				case "mergeCells":
					return x.find("mergeCell", func(e xml.StartElement) error {
						if r, ok := parseRange(attribute(e, "ref")); ok && r.last > r.first {
							merged = append(merged, r)
						}
						return nil
					})
				}
				return nil
			})
		})
	})
	if skip != nil {
		return nil, skip
	}
	g.fill(merged)
	return g, nil
}

func (w *workbook) readRow(x *elements, g *grid, size *int64) ([]gridCell, error) {
	var cells []gridCell
	column := -1
	err := x.children(func(e xml.StartElement) error {
		if e.Name.Local != "c" {
			return nil
		}
		last := column
		column++
		if c, _, ok := parseCell(attribute(e, "r")); ok {
			column = c
		}
		if column <= last || column >= maxSheetColumn {
			column = last
			return nil
		}
		text, words, err := w.readCell(x, e)
		if text = oneLine(text); text == "" || err != nil {
			return err
		}
		if *size += int64(len(text) + len(" | ")); *size > w.c.limit {
			return tooMuchText(w.c.limit)
		}
		start := int32(len(g.text))
		g.text = append(g.text, text...)
		cells = append(cells, gridCell{int32(column), start, int32(len(g.text)), words})
		return nil
	})
	return cells, err
}

// readCell gives what a cell shows. A formula without a stored result shows itself.
func (w *workbook) readCell(x *elements, e xml.StartElement) (text string, words bool, err error) {
	value, formula := "", ""
	err = x.children(func(e xml.StartElement) error {
		var err error
		switch e.Name.Local {
		case "v":
			value, err = x.text()
		case "f":
			formula, err = x.text()
		case "is":
			value, err = richText(x)
		}
		return err
	})
	if value == "" && formula != "" {
		return "=" + formula, false, err
	}
	switch attribute(e, "t") {
	case "s":
		if i := number(value, -1); i >= 0 && i < len(w.strings) {
			return w.strings[i], true, err
		}
		return "", true, err
	case "b":
		if strings.TrimSpace(value) == "1" {
			return "TRUE", false, err
		}
		return "FALSE", false, err
	case "str", "inlineStr":
		return value, true, err
	case "d":
		return strings.TrimSuffix(strings.TrimSuffix(value, "T00:00:00"), "T00:00:00.000"), false, err
	case "e":
		return value, false, err
	}
	v, parseErr := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if parseErr != nil {
		return value, true, err
	}
	format := generalFormat
	if i := number(attribute(e, "s"), 0); i < len(w.formats) {
		format = w.formats[i]
	}
	return format.format(v, w.from1904), false, err
}

// gridRange is the first column of some merged cells, and their rows.
type gridRange struct{ column, first, last int }

func parseRange(ref string) (r gridRange, ok bool) {
	from, to, _ := strings.Cut(ref, ":")
	column, first, ok1 := parseCell(from)
	_, last, ok2 := parseCell(to)
	return gridRange{column, first, last}, ok1 && ok2
}

// parseCell reads a name such as BC12: column 54, row 12.
func parseCell(name string) (column, row int, ok bool) {
	i := 0
	for ; i < len(name) && i < 4; i++ {
		c := name[i] &^ 0x20
		if c < 'A' || c > 'Z' {
			break
		}
		column = column*26 + int(c-'A') + 1
	}
	row = number(name[i:], 0)
	return column - 1, row, column > 0 && row > 0
}
