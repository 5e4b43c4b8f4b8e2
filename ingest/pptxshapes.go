package ingest

import (
	"encoding/xml"
	"strings"
)

// shapeKind tells what a shape is for.
type shapeKind int

const (
	otherShape shapeKind = iota
	titleShape
	bodyShape     // a list, unless its paragraphs say that they have no bullets
	repeatedShape // date, footer, number: what each slide has
)

// shape is a shape of a slide that has text: paragraphs or a table.
type shape struct {
	kind       shapeKind
	paragraphs []shapeParagraph
	table      *cellTable
}

type shapeParagraph struct {
	text   string
	level  int
	marker string // empty for what the kind of shape has
	plain  bool   // it has none
}

func (s *shape) text() string {
	var out []string
	for _, p := range s.paragraphs {
		out = append(out, p.text)
	}
	if s.table != nil {
		for _, row := range s.table.rows {
			out = append(out, row.cells...)
		}
	}
	return strings.Join(out, "\n")
}

func (s *shape) write(c *composer) {
	if s.table != nil {
		c.endTable()
		s.table.write(c)
		c.endTable()
		return
	}
	for _, p := range s.paragraphs {
		marker := p.marker
		if marker == "" && s.kind == bodyShape && len(s.paragraphs) > 1 && !p.plain {
			marker = bullet
		}
		if marker != "" {
			c.item(p.level, marker, p.text)
		} else {
			c.paragraph(p.text)
		}
	}
}

// shapeReader reads the shapes of a slide, of its notes or of a diagram.
type shapeReader struct {
	x        *elements
	limit    int64 // bytes of text
	out      []shape
	pictures bool
	diagrams []string // relations to them
}

// shapes reads those in the element that was started last.
func (r *shapeReader) shapes() error {
	return r.x.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "sp", "cxnSp":
			s := shape{}
			if err := r.shape(&s); err != nil {
				return err
			}
			r.add(s)
			return nil
		case "pt": // of a diagram; those of a type are lines and places
			if t := attribute(e, "type"); t != "" && t != "node" && t != "doc" && t != "asst" {
				return nil
			}
			s := shape{}
			err := r.shape(&s)
			r.add(s)
			return err
		case "tbl":
			s := shape{table: &cellTable{}}
			err := r.table(s.table)
			r.out = append(r.out, s)
			return err
		case "relIds":
			r.diagrams = append(r.diagrams, attribute(e, "dm"))
			return nil
		case "pic":
			r.pictures = true
			return r.x.find("cNvPr", func(e xml.StartElement) error {
				r.add(shape{paragraphs: []shapeParagraph{{text: oneLine(attribute(e, "descr"))}}})
				return nil
			})
		case "Fallback":
			return nil
		}
		return r.shapes()
	})
}

// add keeps a shape that has text.
func (r *shapeReader) add(s shape) {
	if oneLine(s.text()) != "" {
		r.out = append(r.out, s)
	}
}

// shape reads a shape, or anything in it.
func (r *shapeReader) shape(s *shape) error {
	return r.x.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "ph":
			switch attribute(e, "type") {
			case "title", "ctrTitle":
				s.kind = titleShape
			case "", "body", "obj":
				s.kind = bodyShape
			case "dt", "ftr", "sldNum", "hdr", "sldImg":
				s.kind = repeatedShape
			}
			return nil
		case "txBody", "txbxContent", "t":
			return r.body(s)
		case "Fallback":
			return nil
		}
		return r.shape(s)
	})
}

// body reads the paragraphs of a shape and numbers them.
func (r *shapeReader) body(s *shape) error {
	var counts [9]int
	return r.x.find("p", func(xml.StartElement) error {
		p := shapeParagraph{}
		numbers, start := "", 1
		var text strings.Builder
		err := r.x.children(func(e xml.StartElement) error {
			if e.Name.Local != "pPr" {
				return r.inline(e, &text)
			}
			p.level = min(number(attribute(e, "lvl"), 0), len(counts)-1)
			return r.x.children(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "buNone":
					p.plain = true
				case "buChar", "buBlip":
					p.marker = bullet
				case "buAutoNum":
					numbers, start = attribute(e, "type"), number(attribute(e, "startAt"), 1)
				}
				return nil
			})
		})
		if p.text = tidy(text.String()); err != nil || p.text == "" {
			return err
		}
		if clear(counts[p.level+1:]); numbers == "" {
			counts[p.level] = 0
		} else {
			if counts[p.level]++; counts[p.level] == 1 {
				counts[p.level] = start
			}
			p.marker = autoNumber(numbers, counts[p.level])
		}
		if r.limit -= int64(len(p.text)); r.limit < 0 {
			return &Skip{Reason: TooLarge, Detail: "a slide has too much text; split it or raise the limit"}
		}
		s.paragraphs = append(s.paragraphs, p)
		return nil
	})
}

// autoNumber writes a number of a kind such as "alphaLcParenR".
func autoNumber(kind string, n int) string {
	formats := map[string]string{"alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman", "romanUc": "upperRoman"}
	format := ""
	for prefix, f := range formats {
		if strings.HasPrefix(kind, prefix) {
			format = f
		}
	}
	text := numeral(format, n)
	switch {
	case strings.HasSuffix(kind, "ParenBoth"):
		return "(" + text + ") "
	case strings.HasSuffix(kind, "ParenR"):
		return text + ") "
	case strings.HasSuffix(kind, "Plain"):
		return text + " "
	}
	return text + ". "
}

// inline reads a part of a paragraph.
func (r *shapeReader) inline(e xml.StartElement, out *strings.Builder) error {
	switch e.Name.Local {
	case "t":
		text, err := r.x.text()
		out.WriteString(text)
		return err
	case "br":
		out.WriteString("\n")
		return nil
	case "fld":
		if kind := attribute(e, "type"); kind == "slidenum" || strings.HasPrefix(kind, "datetime") {
			return nil
		}
	case "Fallback":
		return nil
	}
	return r.x.children(func(e xml.StartElement) error { return r.inline(e, out) })
}

func (r *shapeReader) table(t *cellTable) error {
	return r.x.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "tblPr":
			t.first = attribute(e, "firstRow") == "1" || attribute(e, "firstRow") == "true"
		case "tr":
			var row cellRow
			err := r.x.children(func(e xml.StartElement) error {
				if e.Name.Local != "tc" || len(row.cells) >= maxColumns {
					return nil
				}
				s, at := shape{}, len(row.cells)
				err := r.body(&s)
				text := oneLine(s.text())
				if attribute(e, "vMerge") == "1" && len(t.rows) > 0 && at < len(t.rows[len(t.rows)-1].cells) {
					text = t.rows[len(t.rows)-1].cells[at]
				}
				row.cells = append(row.cells, text)
				return err
			})
			t.rows = append(t.rows, row)
			t.columns = max(t.columns, len(row.cells))
			return err
		}
		return nil
	})
}
