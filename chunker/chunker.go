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
	o := scan(doc.Text, doc.Syntax, doc.Headings, doc.Tables)
	var ranges []Range
	switch c.opt.Mode {
	case Fixed:
		ranges = l.fixed()
	case Sentence:
		ranges = l.pack(l.sentenceUnits())
	default:
		ranges = l.pack(l.blockUnits(o.blocks))
	}
	return label(l, ranges, o), nil
}

// label makes chunks of ranges: their sizes, and the headings and the table's header
// above them.
func label(l *limits, ranges []Range, o *outline) []Chunk {
	headings, blocks := o.headings, o.blocks
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
		for len(blocks) > 1 && blocks[0].End <= first {
			blocks = blocks[1:]
		}
		if h := blocks[0].header; first >= h.End && l.fits(h) {
			chunks[i].Header = h
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
	last = 0
	for _, t := range doc.Tables {
		if t.Start < last || t.End < t.Start || t.End > len(doc.Text) || t.Header.Len() != 0 && (t.Header.Start < t.Start || t.Header.End > t.End) || t.Header.Len() < 0 {
			return fmt.Errorf("document %q: a table at bytes %s with its header at %s in a text of %d bytes: want tables in order, inside the text and not in each other", doc.ID, t.Range, t.Header, len(doc.Text))
		}
		last = t.End
	}
	last = 0
	for _, p := range doc.Places {
		if p.Start < last || p.End < p.Start || p.End > len(doc.Text) {
			return fmt.Errorf("document %q: %s at bytes %s of a text of %d bytes: want places in order, inside the text and not in each other", doc.ID, p.Place, p.Range, len(doc.Text))
		}
		last = p.End
	}
	return nil
}
