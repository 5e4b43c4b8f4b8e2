package chunker

import "strings"

// code reads source text by its blank lines and indentation, which tell the structure
// in nearly all languages. A block starts after a blank line, at the left margin, where
// a deeper block has ended and at a declaration, with the comment right above, but not
// at a bracket, which belongs to what is above it. It is nested in the last block above
// that is indented less: the parts of a function in the function, a method in its class.
// What a block declares is a heading for all that is nested in it.
type code struct {
	out       *outline
	open      bool   // the line before was not blank
	last      line   // that was neither blank nor a comment
	depths    []int  // of the blocks that the last one is nested in, and its own
	comment   int    // where the comment starts that ends with the line before, or -1
	untitled  bool   // the last block has nothing but comment so far
	signature string // of its first line, should a brace follow
}

func newCode(o *outline) *code { return &code{out: o, comment: -1} }

func (c *code) interrupt() { *c = *newCode(c.out) }

func (c *code) read(l line) {
	if l.blank() {
		c.open, c.comment = false, -1
		return
	}
	title := ""
	if !isComment(l) || l.body[0] == '#' { // #name is a private method in JavaScript
		title = declaration(l.body)
	}
	sibling := l.indent == c.last.indent && closes(c.last) && !closes(l)
	bracket := !sibling && strings.IndexByte("{}()[]", l.body[0]) >= 0
	if c.open && isLabel(l) {
		bracket = true
	}
	ended := sibling || l.indent < c.last.indent
	if !c.open || !c.untitled && (title != "" || !bracket && (l.indent == 0 || ended)) {
		c.start(l, bracket || c.open && !ended)
	}
	if title == "" && isComment(l) {
		if c.comment < 0 {
			c.comment = l.Start
		}
	} else {
		c.name(l, title)
		c.last, c.comment = l, -1
	}
	c.open = true
}

// start opens a block at a line or the comment above it. A part is nested in the block
// above that has the same indentation.
func (c *code) start(l line, part bool) {
	depth := 2 * l.indent
	if part {
		depth++
	}
	for len(c.depths) > 0 && c.depths[len(c.depths)-1] >= depth {
		c.depths = c.depths[:len(c.depths)-1]
	}
	at := l.Start
	if c.comment >= 0 {
		at = c.comment
	}
	level := len(c.depths)
	c.depths = append(c.depths, depth)
	c.out.start(at, source, level)
	// A block without a name ends the reach of the one before.
	c.out.headings = append(c.out.headings, Heading{Range: Range{at, at}, Level: min(level+1, lowestLevel)})
	c.untitled, c.signature = true, ""
}

// name gives the last block the name that its first line of code declares. The brace
// that tells a function's head from a call may stand on a line of its own.
func (c *code) name(l line, title string) {
	h := &c.out.headings[len(c.out.headings)-1]
	switch {
	case c.untitled:
		h.Title, h.End = title, l.Start+len(l.body)
		c.signature = signature(l.body)
	case l.body == "{" && h.Title == "":
		h.Title = c.signature
	}
	if l.body == "{" || !c.untitled {
		c.signature = ""
	}
	c.untitled = false
}

// closes reports whether a line is the end of a block.
func closes(l line) bool {
	return l.body == "end" || l.body != "" && strings.IndexByte("})]", l.body[0]) >= 0
}

// isLabel reports whether a line is a word and a colon, which stand at the margin within a
// function too, as the target of a jump or an "else:".
func isLabel(l line) bool {
	word, ok := strings.CutSuffix(l.body, ":")
	return ok && !strings.ContainsAny(word, " \t(.\"'")
}

// isComment reports whether a line is of a comment or the like, which belongs to what
// is below it.
func isComment(l line) bool {
	return strings.IndexByte("/*#-@", l.body[0]) >= 0 && l.body != "-"
}
