package prose

import (
	"regexp"
	"strings"
)

// Span is the half-open byte range [Start, End) of some text.
type Span struct{ Start, End int }

// Of returns the bytes of s that the span covers.
func (p Span) Of(s string) string { return s[p.Start:p.End] }

// Kind says what a block is.
type Kind int

// The kinds of blocks.
const (
	Paragraph Kind = iota
	Heading
	Item  // of a list
	Row   // of a table
	Rule  // a line that only separates, also the one below a table's header
	Fence // a fenced code block with its fences
)

// Block is a stretch of text that no sentence crosses.
type Block struct {
	Span // without the marker in front, such as "## " or "- "
	Kind Kind
}

var (
	fenceLine   = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})")
	headingLine = regexp.MustCompile(`^ {0,3}#{1,6}[ \t]+`)
	itemLine    = regexp.MustCompile(`^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+`)
	quoteLine   = regexp.MustCompile(`^ {0,3}>[ \t]?`)
	rowLine     = regexp.MustCompile(`^[ \t]*\|.*\|[ \t]*\r?$`)
	ruleLine    = regexp.MustCompile(`^[ \t]*(?:\|[ \t:|-]*-[ \t:|-]*\||(?:[-*_=][ \t]*){3,})[ \t]*\r?$`)
	underline   = regexp.MustCompile(`^ {0,3}(?:=+|-{2,})[ \t]*\r?$`)
)

// Blocks returns the blocks of text in order. What lies between them is white
// space and markers.
func Blocks(text string) []Block {
	s := blockScanner{text: text}
	for at := 0; at < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i
		}
		s.line(at, end)
		at = end + 1
	}
	s.flush()
	return s.blocks
}

// blockScanner collects lines into blocks.
type blockScanner struct {
	text   string
	blocks []Block
	open   bool  // cur is being collected
	cur    Block // valid while open
	fence  string
}

func (s *blockScanner) line(start, end int) {
	line := s.text[start:end]
	if s.fence != "" {
		s.cur.End = end
		if m := fenceLine.FindStringSubmatch(line); m != nil && strings.HasPrefix(m[1], s.fence) &&
			strings.Trim(line, " \t\r"+s.fence[:1]) == "" {
			s.fence = ""
			s.flush()
		}
		return
	}
	if strings.TrimSpace(line) == "" {
		s.flush()
		return
	}
	if m := fenceLine.FindStringSubmatch(line); m != nil {
		s.begin(Fence, start, end)
		s.fence = m[1]
		return
	}
	if n := len(headingLine.FindString(line)); n > 0 {
		s.begin(Heading, start+n, end)
		s.flush()
		return
	}
	if s.open && s.cur.Kind == Paragraph && underline.MatchString(line) {
		s.cur.Kind = Heading
		s.flush()
		return
	}
	if ruleLine.MatchString(line) {
		s.begin(Rule, start, end)
		s.flush()
		return
	}
	if rowLine.MatchString(line) {
		s.begin(Row, start, end)
		s.flush()
		return
	}
	if n := len(itemLine.FindString(line)); n > 0 {
		s.begin(Item, start+n, end)
		return
	}
	if s.open {
		s.cur.End = end
		return
	}
	s.begin(Paragraph, start+len(quoteLine.FindString(line)), end)
}

func (s *blockScanner) begin(kind Kind, start, end int) {
	s.flush()
	s.open, s.cur = true, Block{Span{start, end}, kind}
}

func (s *blockScanner) flush() {
	if !s.open {
		return
	}
	s.open = false
	if s.cur.Span = trim(s.text, s.cur.Span); s.cur.Start < s.cur.End {
		s.blocks = append(s.blocks, s.cur)
	}
}

// trim takes white space off both ends of a span.
func trim(text string, p Span) Span {
	t := p.Of(text)
	p.Start += len(t) - len(strings.TrimLeft(t, " \t\r\n"))
	p.End = p.Start + len(strings.TrimSpace(t))
	return p
}
