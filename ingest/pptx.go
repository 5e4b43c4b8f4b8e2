package ingest

import (
	"encoding/xml"
	"strconv"

	"github.com/waymark-rag/waymark/chunker"
)

// pptxReader reads the slides of a PowerPoint presentation, each under its title,
// with the speaker's notes after it. Left out are hidden slides, which is reported,
// comments, charts, and what each slide shows: date, footer, number.
type pptxReader struct{}

func (pptxReader) read(b *budget, data []byte) (chunker.Document, *Skip) {
	p, skip := openOffice(b, data, "ppt/presentation.xml")
	if skip != nil {
		return chunker.Document{}, skip
	}
	var show struct {
		Slides []struct {
			Attrs []xml.Attr `xml:",any,attr"`
		} `xml:"sldIdLst>sldId"`
	}
	if skip := p.decode(p.main, &show); skip != nil {
		return chunker.Document{}, skip
	}
	c := newComposer(b)
	for i, s := range show.Slides {
		id := ""
		for _, a := range s.Attrs { // the slide has an id of another kind too
			if a.Name.Local == "id" && a.Name.Space != "" {
				id = a.Value
			}
		}
		n := strconv.Itoa(i + 1)
		c.at(chunker.Place{Kind: chunker.SlidePlace, First: n, Last: n})
		s, skip := readSlide(p.parts, p.of[id].target)
		switch {
		case skip == nil && s.hidden:
			skip = &Skip{Reason: Hidden, Detail: "show it to have it read"}
		case skip == nil && !s.write(c, "Slide "+n) && s.pictures:
			skip = &Skip{Reason: NoText, Detail: "describe its pictures in their alternative text"}
		}
		switch {
		case skip == nil:
		case skip.Reason == TooLarge || skip.Reason == TooSlow:
			return chunker.Document{}, skip
		default:
			skip.Path = "slide " + n
			b.leaveOut(skip)
		}
	}
	doc, skip := c.document()
	if skip != nil {
		return doc, skip
	}
	props := p.properties(p.root)
	describe(&doc, props.Title, props.Creator, props.Modified)
	return doc, nil
}

// slide is what a slide shows, and what its speaker says.
type slide struct {
	hidden, pictures bool
	shapes, notes    []shape
}

// readSlide reads a slide, its diagrams and its notes.
func readSlide(p *parts, name string) (*slide, *Skip) {
	if name == "" {
		return nil, &Skip{Reason: Damaged, Detail: "the file does not say where it is"}
	}
	of, skip := p.relations(name)
	if skip != nil {
		return nil, skip
	}
	s := &slide{}
	var diagrams []string
	skip = p.walk(name, func(x *elements) error {
		return x.find("sld", func(e xml.StartElement) error {
			s.hidden = attribute(e, "show") == "0" || attribute(e, "show") == "false"
			r := shapeReader{x: x, limit: p.b.opts.MaxBytes}
			err := r.shapes()
			s.shapes, s.pictures, diagrams = r.out, r.pictures, r.diagrams
			return err
		})
	})
	for _, id := range diagrams {
		if part := of[id].target; skip == nil && p.has(part) {
			var found []shape
			found, skip = readShapes(p, part)
			s.shapes = append(s.shapes, found...)
		}
	}
	if notes := related(of, "notesSlide", ""); skip == nil && p.has(notes) {
		s.notes, skip = readShapes(p, notes)
	}
	return s, skip
}

func readShapes(p *parts, name string) ([]shape, *Skip) {
	r := shapeReader{limit: p.b.opts.MaxBytes}
	skip := p.walk(name, func(x *elements) error {
		r.x = x
		return r.shapes()
	})
	return r.out, skip
}

// write writes a slide. One without a title is headed by its number, so that it does
// not stand under that of the slide before. It reports whether there was any text.
func (s *slide) write(c *composer, number string) bool {
	title, any := "", false
	for _, shape := range append(s.shapes, s.notes...) {
		text := oneLine(shape.text())
		any = any || text != "" && shape.kind != repeatedShape
		if shape.kind == titleShape && title == "" {
			title = text
		}
	}
	if !any {
		return false
	}
	told := title != ""
	if !told {
		title = number
	}
	c.heading(1, title)
	for _, shape := range s.shapes {
		switch {
		case shape.kind == titleShape && told:
			told = false // that was the title
		case shape.kind != repeatedShape:
			shape.write(c)
		}
	}
	for _, shape := range s.notes {
		if shape.kind == bodyShape && oneLine(shape.text()) != "" {
			c.heading(2, "Notes")
			shape.kind = otherShape // its paragraphs are no list
			shape.write(c)
		}
	}
	return true
}
