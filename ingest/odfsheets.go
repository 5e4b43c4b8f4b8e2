package ingest

import (
	"encoding/xml"
	"fmt"
	"strconv"

	"github.com/waymark-rag/waymark/chunker"
)

// sheets reads the sheets of a spreadsheet.
func (o *odf) sheets() error {
	return o.x.children(func(e xml.StartElement) error {
		if e.Name.Local != "table" {
			return nil
		}
		name := oneLine(attribute(e, "name"))
		if o.styles[attribute(e, "style-name")].hidden {
			o.b.leaveOut(&Skip{Path: fmt.Sprintf("sheet %q", name), Reason: Hidden, Detail: "show it to have it read"})
			return nil
		}
		s := odfSheet{o: o, g: &grid{}}
		if err := s.rows(); err != nil {
			return err
		}
		s.g.fill(s.merged)
		s.g.write(o.c, name)
		return nil
	})
}

// odfSheet is a sheet as it is read.
type odfSheet struct {
	o      *odf
	g      *grid
	row    int // the last one
	size   int64
	merged []gridRange
}

func (s *odfSheet) rows() error {
	return s.o.x.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "table-row":
			cells, err := s.cells()
			if err != nil {
				return err
			}
			again := max(number(attribute(e, "number-rows-repeated"), 1), 1)
			for i := 0; i < again && len(cells) > 0 && s.row+i < maxSheetRow; i++ {
				s.g.rows = append(s.g.rows, gridRow{s.row + i + 1, cells})
				for _, c := range cells {
					s.size += int64(c.end-c.start) + int64(len(" | "))
				}
				if s.size > s.o.c.limit {
					return tooMuchText(s.o.c.limit)
				}
			}
			s.row = min(s.row+again, maxSheetRow)
			return nil
		case "table-column", "table-columns", "shapes", "forms":
			return nil
		}
		return s.rows() // what groups rows
	})
}

func (s *odfSheet) cells() ([]gridCell, error) {
	var cells []gridCell
	column := 0
	err := s.o.x.children(func(e xml.StartElement) error {
		if e.Name.Local != "table-cell" && e.Name.Local != "covered-table-cell" {
			return nil
		}
		var cell odfCell
		if err := s.o.cell(e, &cell); err != nil {
			return err
		}
		if cell.text != "" && e.Name.Local == "table-cell" {
			start := int32(len(s.g.text))
			s.g.text = append(s.g.text, cell.text...)
			if cell.down > 1 {
				s.merged = append(s.merged, gridRange{column, s.row + 1, s.row + cell.down})
			}
			for i := column; i < min(column+cell.columns, maxSheetColumn); i++ {
				cells = append(cells, gridCell{int32(i), start, int32(len(s.g.text)), cell.words})
			}
		}
		column = min(column+cell.columns, maxSheetColumn)
		return nil
	})
	return cells, err
}

// slides reads the slides of a presentation.
func (o *odf) slides() error {
	n := 0
	return o.x.children(func(e xml.StartElement) error {
		if e.Name.Local != "page" {
			return nil
		}
		n++
		place := chunker.Place{Kind: chunker.SlidePlace, First: strconv.Itoa(n), Last: strconv.Itoa(n)}
		if o.styles[attribute(e, "style-name")].hidden {
			o.b.leaveOut(&Skip{Path: place.String(), Reason: Hidden, Detail: "show it to have it read"})
			return nil
		}
		s := &slide{}
		if err := o.shapes(s, &s.shapes); err != nil {
			return err
		}
		o.pending = nil
		o.c.at(place)
		if !s.write(o.c, "Slide "+place.First) && s.pictures {
			o.b.leaveOut(&Skip{Path: place.String(), Reason: NoText, Detail: "describe its pictures in their alternative text"})
		}
		return nil
	})
}

// shapes reads the shapes of a slide, or of a group of them.
func (o *odf) shapes(s *slide, to *[]shape) error {
	return o.x.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "notes":
			return o.shapes(s, &s.notes)
		case "frame", "custom-shape", "rect", "ellipse", "connector", "line", "polygon", "path":
			return o.slideShape(s, e, to)
		case "g":
			return o.shapes(s, to)
		}
		return nil
	})
}

func (o *odf) slideShape(s *slide, e xml.StartElement, to *[]shape) error {
	sh := shape{}
	switch attribute(e, "class") {
	case "title":
		sh.kind = titleShape
	case "outline", "notes":
		sh.kind = bodyShape
	case "footer", "date-time", "page-number", "header", "page":
		sh.kind = repeatedShape
	}
	add := func(b odfBlock) {
		if b.table != nil {
			*to = append(*to, shape{table: b.table})
		} else if text := tidy(b.text); text != "" {
			sh.paragraphs = append(sh.paragraphs, shapeParagraph{text: text, level: b.level, marker: b.marker})
		}
	}
	err := o.x.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "image":
			s.pictures = true
			return nil
		case "desc":
			text, err := o.x.text()
			add(odfBlock{text: text})
			return err
		}
		return o.block(e, 0, add)
	})
	if len(sh.paragraphs) > 0 {
		*to = append(*to, sh)
	}
	return err
}
