package ingest

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/waymark-rag/waymark/chunker"
)

// xlsxReader reads the sheets of an Excel workbook as people see them: numbers and
// dates in their formats, the stored results of formulas. Left out are hidden sheets,
// which is reported, comments and charts.
type xlsxReader struct{}

// workbook is what of its parts is needed to read the sheets.
type workbook struct {
	p        *parts
	c        *composer
	strings  []string
	formats  []numberFormat // of cells, by their style
	from1904 bool
}

func (xlsxReader) read(b *budget, data []byte) (chunker.Document, *Skip) {
	p, skip := openOffice(b, data, "xl/workbook.xml")
	if skip != nil {
		return chunker.Document{}, skip
	}
	var book struct {
		Properties struct {
			From1904 string `xml:"date1904,attr"`
		} `xml:"workbookPr"`
		Sheets []struct {
			Name  string `xml:"name,attr"`
			State string `xml:"state,attr"`
			ID    string `xml:"id,attr"`
		} `xml:"sheets>sheet"`
	}
	if skip := p.decode(p.main, &book); skip != nil {
		return chunker.Document{}, skip
	}
	w := &workbook{p: p.parts, c: newComposer(b), from1904: book.Properties.From1904 == "1" || book.Properties.From1904 == "true"}
	if skip := w.readStrings(related(p.of, "sharedStrings", "xl/sharedstrings.xml")); skip != nil {
		return chunker.Document{}, skip
	}
	if skip := w.readFormats(related(p.of, "styles", "xl/styles.xml")); skip != nil {
		return chunker.Document{}, skip
	}
	for _, sheet := range book.Sheets {
		name := oneLine(sheet.Name)
		part := fmt.Sprintf("sheet %q", name)
		if sheet.State == "hidden" || sheet.State == "veryHidden" {
			b.leaveOut(&Skip{Path: part, Reason: Hidden, Detail: "show it to have it read"})
			continue
		}
		g, skip := w.readSheet(p.of[sheet.ID].target)
		switch {
		case skip == nil:
			g.write(w.c, name)
		case skip.Reason == TooLarge || skip.Reason == TooSlow:
			return chunker.Document{}, skip
		default:
			skip.Path = part
			b.leaveOut(skip)
		}
	}
	doc, skip := w.c.document()
	if skip != nil {
		return doc, skip
	}
	props := p.properties(p.root)
	describe(&doc, props.Title, props.Creator, props.Modified)
	return doc, nil
}

// readStrings reads the texts that cells name by number.
func (w *workbook) readStrings(name string) *Skip {
	if !w.p.has(name) {
		return nil
	}
	limit := w.p.b.opts.MaxUnpacked / 4
	return w.p.walk(name, func(x *elements) error {
		return x.find("si", func(xml.StartElement) error {
			text, err := richText(x)
			if err != nil {
				return err
			}
			const overhead = 16
			if limit -= int64(len(text)) + overhead; limit < 0 {
				return &Skip{Reason: TooLarge, Detail: "it has too many texts; split it or raise the limit of what it may unpack to"}
			}
			w.strings = append(w.strings, text)
			return nil
		})
	})
}

// richText is the text of a cell, whose parts may look different. How it is
// pronounced is left out.
func richText(x *elements) (string, error) {
	var out strings.Builder
	err := x.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "r":
			text, err := richText(x)
			out.WriteString(text)
			return err
		case "t":
			text, err := x.text()
			out.WriteString(text)
			return err
		}
		return nil
	})
	return out.String(), err
}

func (w *workbook) readFormats(name string) *Skip {
	var part struct {
		Formats []struct {
			ID   int    `xml:"numFmtId,attr"`
			Code string `xml:"formatCode,attr"`
		} `xml:"numFmts>numFmt"`
		Cells []struct {
			ID int `xml:"numFmtId,attr"`
		} `xml:"cellXfs>xf"`
	}
	if skip := w.p.decode(name, &part); skip != nil {
		return skip
	}
	defined := map[int]numberFormat{}
	for _, f := range part.Formats {
		defined[f.ID] = parseNumberFormat(f.Code)
	}
	for _, cell := range part.Cells {
		f, ok := defined[cell.ID]
		if !ok {
			f = builtinFormat(cell.ID)
			defined[cell.ID] = f
		}
		w.formats = append(w.formats, f)
	}
	return nil
}
