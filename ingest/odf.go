package ingest

import (
	"encoding/xml"
	"strings"

	"github.com/waymark-rag/waymark/chunker"
)

// odfReader reads what LibreOffice writes: texts, spreadsheets and presentations, in
// the way in which those of Word, Excel and PowerPoint are read.
type odfReader struct{}

func (odfReader) read(b *budget, data []byte) (chunker.Document, *Skip) {
	p, skip := openParts(b, data)
	if skip != nil {
		return chunker.Document{}, skip
	}
	var manifest struct {
		Entries []struct {
			Path   string    `xml:"full-path,attr"`
			Locked *struct{} `xml:"encryption-data"`
		} `xml:"file-entry"`
	}
	if skip := p.decode("meta-inf/manifest.xml", &manifest); skip != nil {
		return chunker.Document{}, skip
	}
	for _, e := range manifest.Entries {
		if e.Path == "content.xml" && e.Locked != nil {
			return chunker.Document{}, &Skip{Reason: Encrypted, Detail: "save it without a password"}
		}
	}
	o := &odf{b: b, c: newComposer(b), styles: map[string]odfStyle{}}
	if skip := p.walk("content.xml", o.document); skip != nil {
		return chunker.Document{}, skip
	}
	doc, skip := o.c.document()
	if skip != nil {
		return doc, skip
	}
	var meta struct {
		Title   string `xml:"meta>title"`
		Creator string `xml:"meta>creator"`
		First   string `xml:"meta>initial-creator"`
		Date    string `xml:"meta>date"`
	}
	if p.decode("meta.xml", &meta) != nil {
		meta.Title = ""
	}
	if meta.Creator == "" {
		meta.Creator = meta.First
	}
	date, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(meta.Date), "Z"), ".")
	describe(&doc, meta.Title, meta.Creator, date+"Z")
	return doc, nil
}

// odf is one pass over a document.
type odf struct {
	b       *budget
	x       *elements
	c       *composer
	styles  map[string]odfStyle
	size    int64
	written int      // blocks of the text
	notes   int      // so far
	pending []string // boxes and notes to write after the block at hand
}

// odfStyle is what a style made for this document tells.
type odfStyle struct {
	parent  string
	hidden  bool         // of a sheet or slide
	numbers map[int]bool // levels of a list that have numbers
}

func (o *odf) document(x *elements) error {
	o.x = x
	return x.find("document-content", func(xml.StartElement) error {
		return x.children(func(e xml.StartElement) error {
			switch e.Name.Local {
			case "automatic-styles":
				return o.readStyles()
			case "body":
				return x.children(func(e xml.StartElement) error {
					switch e.Name.Local {
					case "text":
						return o.blocks(0, o.writeBlock)
					case "spreadsheet":
						return o.sheets()
					case "presentation":
						return o.slides()
					}
					return nil
				})
			}
			return nil
		})
	})
}

func (o *odf) readStyles() error {
	return o.x.children(func(e xml.StartElement) error {
		name, style := attribute(e, "name"), odfStyle{parent: attribute(e, "parent-style-name")}
		err := o.x.children(func(e xml.StartElement) error {
			switch e.Name.Local {
			case "table-properties":
				style.hidden = attribute(e, "display") == "false"
			case "drawing-page-properties":
				style.hidden = attribute(e, "visibility") == "hidden"
			case "list-level-style-number":
				if style.numbers == nil {
					style.numbers = map[int]bool{}
				}
				style.numbers[number(attribute(e, "level"), 1)] = attribute(e, "num-format") != ""
			}
			return nil
		})
		o.styles[name] = style
		return err
	})
}

// is tells whether a paragraph has a style or one made from it.
func (o *odf) is(style, name string) bool { return style == name || o.styles[style].parent == name }

// writeBlock writes a block of a text.
func (o *odf) writeBlock(b odfBlock) {
	o.written++
	o.c.at(paragraphPlace(o.written))
	switch {
	case b.table != nil:
		o.c.endTable()
		b.table.write(o.c)
		o.c.endTable()
	case b.heading > 0:
		o.c.heading(b.heading, b.text)
	case b.marker != "":
		o.c.item(b.level, b.marker, b.text)
	default:
		o.c.paragraph(b.text)
	}
	for _, text := range o.pending {
		o.c.paragraph(text)
	}
	o.pending = nil
}
