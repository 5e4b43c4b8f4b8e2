package ingest

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/waymark-rag/waymark/chunker"
)

// pdfParagraph is a paragraph as it is put together.
type pdfParagraph struct {
	text        strings.Builder
	first, last int // pages
	size        float64
	hyphen      bool // the last line ends in a part of a word
}

// write makes paragraphs of the lines of pages. What is larger than most of the text
// is a heading.
func write(c *composer, pages []pdfPage) {
	levels := headingSizes(pages)
	var p *pdfParagraph
	flush := func() {
		if p != nil {
			c.at(chunker.Place{Kind: chunker.PagePlace, First: strconv.Itoa(p.first), Last: strconv.Itoa(p.last)})
			p.write(c, levels)
		}
		p = nil
	}
	for _, page := range pages {
		pitch := page.pitch()
		for _, b := range page.blocks() {
			for i, l := range b.lines {
				how := newParagraph
				switch {
				case p == nil:
				case i > 0:
					how = b.joint(i, pitch)
				case p.runsOn(l):
					how = joined
				}
				if how == newParagraph {
					flush()
					p = &pdfParagraph{first: page.number, size: l.size}
				}
				p.add(l, how, page.number)
			}
		}
	}
	flush()
}

// joint is how a line goes on with the one before.
type joint int

const (
	joined joint = iota
	newLine
	newParagraph
)

var bulletLine = regexp.MustCompile(`^[•‣▪▫■□●○◦◆◇➢➤✓✔∙·–-]\s+`)

// joint tells how line i of a block goes on with the line before.
func (b *lineBlock) joint(i int, pitch float64) joint {
	above, l := b.lines[i-1], b.lines[i]
	if above.hyphen {
		return joined
	}
	if !above.placed() || !l.placed() {
		return newLine
	}
	size := max(above.size, l.size)
	step := above.middle() - l.middle()
	switch {
	case !sameSize(above.size, l.size):
		return newParagraph
	case pitch > 0 && step > 1.35*pitch*size:
		return newParagraph
	case bulletLine.MatchString(l.text):
		return newParagraph
	case strings.Contains(above.text, " … "):
		return newLine
	}
	// A line that could have taken the next word as well was ended on purpose.
	width := (above.right - above.left) / float64(max(1, utf8.RuneCountInString(above.text)))
	word, _, _ := strings.Cut(l.text, " ")
	ended := b.right-above.right > width*float64(utf8.RuneCountInString(word)+2)
	indented := l.left > above.left+0.8*size
	switch {
	case endsSentence(above.text) && (ended || indented):
		return newParagraph
	case ended:
		return newLine
	}
	return joined
}

func endsSentence(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, "\"'”’»)]"))
	return strings.ContainsRune(".!?:;。！？؟।…", r)
}

// runsOn tells whether a paragraph that a column or page ends in goes on with the
// first line of the next.
func (p *pdfParagraph) runsOn(l pdfLine) bool {
	r, _ := utf8.DecodeRuneInString(l.text)
	return sameSize(p.size, l.size) && (p.hyphen || unicode.IsLower(r) && !endsSentence(p.text.String()))
}

func (p *pdfParagraph) add(l pdfLine, how joint, page int) {
	switch text := p.text.String(); {
	case text == "":
	case p.hyphen: // the word goes on
	case how == newLine && !bulletLine.MatchString(text):
		p.text.WriteString("\n")
	case !noSpaceBetween(text, l.text):
		p.text.WriteString(" ")
	}
	p.text.WriteString(l.text)
	p.hyphen, p.last = l.hyphen, page
}

// noSpaceBetween tells of scripts that have no spaces between words.
func noSpaceBetween(a, b string) bool {
	last, _ := utf8.DecodeLastRuneInString(a)
	first, _ := utf8.DecodeRuneInString(b)
	return spaceless(last) && spaceless(first)
}

func spaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) ||
		r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xff60 // punctuation
}

func (p *pdfParagraph) write(c *composer, levels []float64) {
	text := p.text.String()
	const longest = 200 // bytes of a heading
	if i := slices.Index(levels, rounded(p.size)); i >= 0 && len(text) <= longest && !strings.Contains(text, " … ") && strings.ContainsFunc(text, unicode.IsLetter) {
		c.heading(i+1, text)
		return
	}
	if mark := bulletLine.FindString(text); mark != "" {
		c.item(0, bullet, text[len(mark):])
		return
	}
	c.paragraph(text)
}

// pitch is the distance of most lines from the one above, in sizes of their letters.
func (p *pdfPage) pitch() float64 {
	var steps []float64
	for _, b := range p.blocks() {
		for i, l := range b.lines[1:] {
			if l.placed() && l.size > 0 {
				steps = append(steps, (b.lines[i].middle()-l.middle())/l.size)
			}
		}
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	return steps[len(steps)/2]
}

// headingSizes are the sizes of letters that are larger than those of most of the
// text, the largest first.
func headingSizes(pages []pdfPage) []float64 {
	letters := map[float64]int{}
	for _, p := range pages {
		for _, l := range p.lines {
			letters[rounded(l.size)] += len(l.text)
		}
	}
	body, most := 0.0, 0
	for size, n := range letters {
		if n > most || n == most && size < body {
			body, most = size, n
		}
	}
	var sizes []float64
	for size := range letters {
		if size >= 1.15*body && size > 2 { // below, sizes are not in points
			sizes = append(sizes, size)
		}
	}
	slices.Sort(sizes)
	slices.Reverse(sizes)
	return sizes
}

func sameSize(a, b float64) bool { return math.Abs(a-b) <= 0.04*max(a, b) }

func rounded(size float64) float64 { return math.Round(size*2) / 2 }
