package chunker

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Chunker cuts documents. It is safe for concurrent use.
type Chunker struct {
	tok Tokenizer
	opt Options
}

// New returns a Chunker that counts sizes in tok's tokens.
func New(tok Tokenizer, opts Options) (*Chunker, error) {
	if tok == nil {
		return nil, errors.New("chunker: no tokenizer: give the model's, or WordTokenizer{} where there is no model")
	}
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	return &Chunker{tok: tok, opt: opts.WithDefaults()}, nil
}

// Split cuts doc into chunks that tile its text; an empty text has none. It
// fails only when the document or the tokenizer breaks its contract, and takes
// time in proportion to the text.
func (c *Chunker) Split(doc Document) ([]Chunk, error) {
	if err := check(doc); err != nil {
		return nil, err
	}
	if doc.Text == "" {
		return nil, nil
	}
	l, err := newLimits(c.tok, c.opt, doc.Text)
	if err != nil {
		return nil, err
	}
	o := scan(doc.Text, doc.Syntax, doc.Headings)
	var ranges []Range
	switch c.opt.Mode {
	case Fixed:
		ranges = l.fixed()
	case Sentence:
		ranges = l.pack(l.sentenceUnits())
	default:
		ranges = l.pack(l.blockUnits(o.blocks))
	}
	return label(l, ranges, o.headings), nil
}

// label makes chunks of ranges: their sizes and the headings above them.
func label(l *limits, ranges []Range, headings []Heading) []Chunk {
	paths := headingPaths(headings)
	chunks := make([]Chunk, len(ranges))
	passed := 0
	for i, r := range ranges {
		first := firstVisible(l.text, r)
		for passed < len(headings) && headings[passed].Start <= first {
			passed++
		}
		chunks[i] = Chunk{Range: r, Index: i, Tokens: l.count(r)}
		if passed > 0 {
			chunks[i].Headings = paths[passed-1]
		}
	}
	return chunks
}

// check reports what makes doc unusable.
func check(doc Document) error {
	if all := []Syntax{Plain, Markdown, Code}; !slices.Contains(all, doc.Syntax) {
		return fmt.Errorf("document %q: syntax %q: want one of %q", doc.ID, doc.Syntax, all)
	}
	if !utf8.ValidString(doc.Text) {
		return fmt.Errorf("document %q: its text is not valid UTF-8: replace the bad bytes first, as package ingest does", doc.ID)
	}
	last := 0
	for _, h := range doc.Headings {
		if h.Start < last || h.End < h.Start || h.End > len(doc.Text) {
			return fmt.Errorf("document %q: heading %q covers bytes %s of a text of %d bytes: want headings in order and inside the text", doc.ID, h.Title, h.Range, len(doc.Text))
		}
		last = h.Start
	}
	return nil
}
