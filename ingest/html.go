package ingest

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/waymark-rag/waymark/chunker"
)

// htmlReader takes what a browser would show of a page, in the order of the
// file. It works on the stream of tags, as a tree would not know where in the
// file its text lies.
type htmlReader struct{}

func (htmlReader) read(_ *budget, data []byte) (chunker.Document, *Skip) {
	src, skip := decodeHTML(data)
	if skip != nil {
		return chunker.Document{}, skip
	}
	return htmlDocument(src), nil
}

func htmlDocument(src *source) chunker.Document {
	p := page{w: newPageWriter(src), text: src.text, unclosed: map[atom.Atom]bool{}}
	p.run()
	doc := chunker.Document{
		Title:    p.documentTitle(),
		Text:     p.w.text.String(),
		Headings: p.w.headings,
		Source:   p.w.b.Finish(src.lines),
	}
	src.encoded(&doc)
	return doc
}

// page is one pass over a page.
type page struct {
	w    *pageWriter
	text string

	hidden   int                // what starts before this position is not shown
	unclosed map[atom.Atom]bool // elements for which no end tag follows

	title    string // of the first <title> that has one
	inTitle  bool
	pre      int // depth
	preStart int // where the text of the innermost <pre> starts
	lists    []list
	tables   []table
}

// list is an open list and the number of its items so far.
type list struct {
	ordered bool
	items   int
}

// table is an open table: its rows, and the cells of the last row.
type table struct {
	rows, cells int
}

func (p *page) run() {
	z := html.NewTokenizer(strings.NewReader(p.text))
	for end := 0; ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		at := chunker.Range{Start: end, End: end + len(z.Raw())}
		end = at.End
		if at.Start < p.hidden {
			continue
		}
		switch kind {
		case html.TextToken:
			p.textToken(at)
		case html.StartTagToken:
			p.hide(p.startTag(z, at), at.End)
		case html.SelfClosingTagToken:
			p.endTag(p.startTag(z, at), at)
			z.NextIsNotRawText() // <script/> of an XHTML page does not hide the rest
		case html.EndTagToken:
			name, _ := z.TagName()
			p.endTag(atom.Lookup(name), at)
		}
	}
	p.w.closeHeading()
}

func (p *page) documentTitle() string {
	if p.title != "" {
		return p.title
	}
	for _, h := range p.w.headings {
		if h.Level == 1 {
			return h.Title
		}
	}
	return ""
}

// textToken writes a stretch of text, its character references decoded once.
func (p *page) textToken(at chunker.Range) {
	if p.inTitle {
		if p.title == "" {
			p.title = strings.Join(strings.Fields(html.UnescapeString(at.Of(p.text))), " ")
		}
		return
	}
	write := p.w.words
	if p.pre > 0 {
		write = p.w.same
		if at.Start == p.preStart { // a line break after <pre> is not shown
			at.Start += len(lineBreak(at.Of(p.text)))
		}
	}
	for i := at.Start; i < at.End; {
		size := referenceLen(p.text[i:at.End])
		if size == 0 {
			next := strings.IndexByte(p.text[i+1:at.End], '&')
			if next < 0 {
				write(chunker.Range{Start: i, End: at.End})
				return
			}
			write(chunker.Range{Start: i, End: i + 1 + next})
			i += 1 + next
			continue
		}
		p.reference(chunker.Range{Start: i, End: i + size})
		i += size
	}
}

func lineBreak(s string) string {
	for _, b := range []string{"\n", "\r\n"} {
		if strings.HasPrefix(s, b) {
			return b
		}
	}
	return ""
}

// reference writes what a character reference such as &amp; stands for.
func (p *page) reference(r chunker.Range) {
	text := html.UnescapeString(r.Of(p.text))
	blank := strings.TrimSpace(text) == ""
	switch {
	case text == r.Of(p.text):
		p.w.words(r) // it only looked like one
	case blank && p.pre > 0:
		p.w.instead(strings.ReplaceAll(text, "\u00a0", " "), r)
	case blank:
		p.w.space(r)
	default:
		p.w.instead(text, r)
	}
}

// referenceLen is the length of the character reference that s starts with, as
// far as its form goes, or 0.
func referenceLen(s string) int {
	if len(s) < 2 || s[0] != '&' {
		return 0
	}
	size := 1
	if s[1] == '#' {
		size = 2
	}
	start := size
	for size < len(s) && isAlphanumeric(s[size]) {
		size++
	}
	if size == start {
		return 0
	}
	if size < len(s) && s[size] == ';' {
		size++
	}
	return size
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
