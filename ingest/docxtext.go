package ingest

import (
	"encoding/xml"
	"slices"
	"strconv"
	"strings"
)

// wordParagraph is a paragraph as it is read.
type wordParagraph struct {
	text    strings.Builder
	style   string
	outline int // level from 0, or -1
	list    wordListLevel
	page    int  // page breaks before its text
	hidden  bool // the run at hand
	joined  bool // with the next one
}

// inline reads what a paragraph holds, or anything in it. Only a few elements have
// text of their own, so that all others may be gone into.
func (w *wordReader) inline(p *wordParagraph) error {
	return w.x.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "pPr":
			return w.paragraphProperties(p)
		case "r":
			p.hidden = false
			err := w.inline(p)
			p.hidden = false
			return err
		case "rPr":
			return w.x.children(func(e xml.StartElement) error {
				if e.Name.Local == "vanish" && isOn(e) {
					p.hidden = true
				}
				return nil
			})
		case "del", "moveFrom", "delText", "instrText", "delInstrText", "rt", "Fallback", "sdtPr":
			return nil
		case "t":
			text, err := w.x.text()
			if err != nil {
				return err
			}
			return w.write(p, text)
		case "tab", "ptab":
			return w.write(p, "\t")
		case "br", "cr":
			return w.write(p, "\n")
		case "noBreakHyphen":
			return w.write(p, "-")
		case "sym":
			return w.write(p, wordSymbol(attribute(e, "char")))
		case "den": // of a fraction in a formula
			if err := w.write(p, "/"); err != nil {
				return err
			}
		case "sup":
			if err := w.write(p, "^"); err != nil {
				return err
			}
		case "footnoteReference", "endnoteReference":
			if w.shown(p) {
				return w.write(p, w.refer(strings.TrimSuffix(e.Name.Local, "Reference"), attribute(e, "id")))
			}
			return nil
		case "fldChar":
			w.field(attribute(e, "fldCharType"))
			return nil
		case "lastRenderedPageBreak":
			if w.page++; p.text.Len() == 0 {
				p.page = w.page
			}
			return nil
		case "docPr": // of a picture, what it shows
			if text := oneLine(attribute(e, "descr")); text != "" {
				return w.write(p, " "+text+" ")
			}
			return nil
		case "txbxContent":
			box := wordPieces{w: w}
			fields := w.fields
			w.fields = nil
			err := w.blocks(&box)
			w.fields = fields
			if len(box.pieces) > 0 {
				w.boxes = append(w.boxes, strings.Join(box.pieces, "\n"))
			}
			return err
		}
		return w.inline(p)
	})
}

// shown tells whether the text at hand is seen: not that of a field's instruction.
func (w *wordReader) shown(p *wordParagraph) bool {
	return !p.hidden && !slices.Contains(w.fields, false)
}

func (w *wordReader) write(p *wordParagraph, text string) error {
	if !w.shown(p) {
		return nil
	}
	p.text.WriteString(text)
	return w.grow(len(text))
}

// field follows the marks of a field: begin, instruction, separate, result, end.
func (w *wordReader) field(mark string) {
	switch last := len(w.fields) - 1; {
	case mark == "begin":
		w.fields = append(w.fields, false)
	case last < 0:
	case mark == "separate":
		w.fields[last] = true
	case mark == "end":
		w.fields = w.fields[:last]
	}
}

// wordSymbol is the character of a symbol font; those that only the font knows are
// nothing.
func wordSymbol(hex string) string {
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || n >= 0xe000 && n <= 0xf8ff || n > 0x10ffff {
		return ""
	}
	return string(rune(n))
}

func (w *wordReader) paragraphProperties(p *wordParagraph) error {
	return w.x.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "pStyle":
			p.style = attribute(e, "val")
		case "outlineLvl":
			p.outline = number(attribute(e, "val"), -1)
		case "numPr":
			p.list = wordListLevel{set: true}
			return w.x.children(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "numId":
					p.list.id = attribute(e, "val")
				case "ilvl":
					p.list.level = number(attribute(e, "val"), 0)
				}
				return nil
			})
		case "rPr":
			return w.x.children(func(e xml.StartElement) error {
				if e.Name.Local == "del" || e.Name.Local == "moveFrom" {
					p.joined = true
				}
				return nil
			})
		}
		return nil
	})
}

// number is a number of the file, or the default where it is none.
func number(s string, otherwise int) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 || n > 1<<30 {
		return otherwise
	}
	return n
}

// isOn is the value of a property that is on where it has no value.
func isOn(e xml.StartElement) bool {
	switch attribute(e, "val") {
	case "0", "false", "off":
		return false
	}
	return true
}
