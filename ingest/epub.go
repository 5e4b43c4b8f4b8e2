package ingest

import (
	"path"
	"strings"

	"github.com/waymark-rag/waymark/chunker"
)

// epubReader reads a book, chapter by chapter in the order of its spine, each as the
// page of HTML that it is. A chapter that has no heading gets the title that the
// table of contents has for it; that table itself is left out.
type epubReader struct{}

// bookPackage is the part of a book that says what else there is.
type bookPackage struct {
	Title    []string `xml:"metadata>title"`
	Creator  []string `xml:"metadata>creator"`
	Language []string `xml:"metadata>language"`
	Meta     []struct {
		Property string `xml:"property,attr"`
		Text     string `xml:",chardata"`
	} `xml:"metadata>meta"`
	Items []bookItem `xml:"manifest>item"`
	Spine struct {
		Contents string `xml:"toc,attr"`
		Items    []struct {
			ID string `xml:"idref,attr"`
		} `xml:"itemref"`
	} `xml:"spine"`
}

type bookItem struct {
	ID         string `xml:"id,attr"`
	Href       string `xml:"href,attr"`
	Type       string `xml:"media-type,attr"`
	Properties string `xml:"properties,attr"`

	part string
}

func (i bookItem) is(property string) bool {
	for _, p := range strings.Fields(i.Properties) {
		if p == property {
			return true
		}
	}
	return false
}

func (epubReader) read(b *budget, data []byte) (chunker.Document, *Skip) {
	p, skip := openParts(b, data)
	if skip != nil {
		return chunker.Document{}, skip
	}
	book, items, skip := openBook(p)
	if skip != nil {
		return chunker.Document{}, skip
	}
	locked, skip := lockedParts(p)
	if skip != nil {
		return chunker.Document{}, skip
	}
	c := newComposer(b)
	titles := contentsOf(p, book, items)
	read := map[string]bool{} // a spine that names a chapter again and again has it once
	for _, entry := range book.Spine.Items {
		item, ok := items[entry.ID]
		switch {
		case ok && read[item.part], item.is("nav"):
			continue
		case !ok:
			skip = &Skip{Reason: Damaged, Detail: "the book does not say where it is"}
		case locked[item.part]:
			return chunker.Document{}, &Skip{Reason: Encrypted, Detail: "it is protected against copying"}
		default:
			read[item.part] = true
			skip = readChapter(c, p, item, titles[item.part])
		}
		switch {
		case skip == nil:
		case skip.Reason == TooLarge || skip.Reason == TooSlow:
			return chunker.Document{}, skip
		default:
			skip.Path = "chapter " + oneLine(entry.ID)
			b.leaveOut(skip)
		}
	}
	doc, skip := c.document()
	if skip != nil {
		return doc, skip
	}
	book.describe(&doc)
	return doc, nil
}

// openBook reads what the book says of itself, and its parts by their ids.
func openBook(p *parts) (*bookPackage, map[string]bookItem, *Skip) {
	var roots struct {
		Files []struct {
			Path string `xml:"full-path,attr"`
		} `xml:"rootfiles>rootfile"`
	}
	if skip := p.decode("meta-inf/container.xml", &roots); skip != nil {
		return nil, nil, skip
	}
	if len(roots.Files) == 0 {
		return nil, nil, &Skip{Reason: Damaged, Detail: "it does not say where its contents are"}
	}
	main := partName("", roots.Files[0].Path)
	book := &bookPackage{}
	if !p.has(main) {
		return nil, nil, &Skip{Reason: Damaged, Detail: "it lacks its part " + main}
	}
	if skip := p.decode(main, book); skip != nil {
		return nil, nil, skip
	}
	items := map[string]bookItem{}
	for _, item := range book.Items {
		item.part = linkedPart(path.Dir(main), item.Href)
		items[item.ID] = item
	}
	return book, items, nil
}

// readChapter writes a chapter.
func readChapter(c *composer, p *parts, item bookItem, title string) *Skip {
	if strings.HasPrefix(item.Type, "image/") {
		return &Skip{Reason: NoText}
	}
	data, skip := p.bytes(item.part)
	if skip != nil {
		return skip
	}
	src, skip := decodeHTML(data)
	if skip != nil {
		return skip
	}
	page := utf8BOM + noSoftHyphens.Replace(src.text) // whatever it says of its character set
	doc, skip := htmlReader{}.read(p.b, []byte(page))
	if skip != nil {
		return skip
	}
	if strings.TrimSpace(doc.Text) == "" {
		return nil // a picture
	}
	if len(doc.Headings) == 0 {
		c.heading(1, title)
	}
	c.include(doc)
	return nil
}

var noSoftHyphens = strings.NewReplacer("\u00ad", "", "&shy;", "", "&#173;", "", "&#xad;", "", "&#xAD;", "")

func (book *bookPackage) describe(doc *chunker.Document) {
	modified, title := "", ""
	for _, m := range book.Meta {
		if m.Property == "dcterms:modified" {
			modified = m.Text
		}
	}
	if len(book.Title) > 0 {
		title = book.Title[0]
	}
	describe(doc, title, strings.Join(book.Creator, ", "), modified)
	if len(book.Language) > 0 {
		if language := oneLine(book.Language[0]); language != "" {
			doc.Metadata[MetaTextLanguage] = language
		}
	}
}
