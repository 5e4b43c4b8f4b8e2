package ingest

import (
	"encoding/xml"
	"net/url"
	"path"
	"slices"
	"strings"
)

// linkedPart is the part that a link in a part of the folder dir leads to.
func linkedPart(dir, href string) string {
	href, _, _ = strings.Cut(href, "#")
	if plain, err := url.PathUnescape(href); err == nil {
		href = plain
	}
	return partName(dir, href)
}

// lockedParts are those that only a reader with a licence can open. Fonts that are
// made unreadable are not meant.
func lockedParts(p *parts) (map[string]bool, *Skip) {
	var list struct {
		Data []struct {
			Method struct {
				Algorithm string `xml:"Algorithm,attr"`
			} `xml:"EncryptionMethod"`
			Reference struct {
				URI string `xml:"URI,attr"`
			} `xml:"CipherData>CipherReference"`
		} `xml:"EncryptedData"`
	}
	if skip := p.decode("meta-inf/encryption.xml", &list); skip != nil {
		return nil, skip
	}
	out := map[string]bool{}
	for _, d := range list.Data {
		if !slices.Contains([]string{"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"}, d.Method.Algorithm) {
			out[linkedPart("", d.Reference.URI)] = true
		}
	}
	return out, nil
}

// contentsOf is the table of contents: for each part, its first title. Without any,
// or with one that cannot be read, chapters have the headings of their own.
func contentsOf(p *parts, book *bookPackage, items map[string]bookItem) map[string]string {
	titles := map[string]string{}
	add := func(name, href, title string) {
		part := linkedPart(path.Dir(name), href)
		if title = oneLine(title); title != "" && titles[part] == "" {
			titles[part] = title
		}
	}
	for _, item := range items {
		if item.is("nav") && p.has(item.part) {
			p.walk(item.part, func(x *elements) error { return readNav(x, func(href, title string) { add(item.part, href, title) }) })
		}
	}
	if old := items[book.Spine.Contents]; len(titles) == 0 && p.has(old.part) {
		p.walk(old.part, func(x *elements) error { return readNCX(x, func(href, title string) { add(old.part, href, title) }) })
	}
	return titles
}

// readNav reads the table of contents of EPUB 3, a page of HTML with lists of links.
func readNav(x *elements, add func(href, title string)) error {
	x.d.Entity = xml.HTMLEntity
	return x.find("nav", func(e xml.StartElement) error {
		if !slices.Contains(strings.Fields(attribute(e, "type")), "toc") {
			return nil // pages, or what kinds of parts there are
		}
		return x.find("a", func(e xml.StartElement) error {
			title, err := x.allText()
			add(attribute(e, "href"), title)
			return err
		})
	})
}

// readNCX reads the table of contents of EPUB 2: points with a label and a link, and
// points in them.
func readNCX(x *elements, add func(href, title string)) error {
	x.d.Entity = xml.HTMLEntity
	label := ""
	var point func(e xml.StartElement) error
	point = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "navLabel":
			var err error
			label, err = x.allText()
			return err
		case "content":
			add(attribute(e, "src"), label)
			return nil
		}
		return x.children(point)
	}
	return x.find("navMap", func(xml.StartElement) error { return x.children(point) })
}
