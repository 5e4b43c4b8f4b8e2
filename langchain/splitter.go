package langchain

import (
	"errors"
	"fmt"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/pipeline"
)

// TextSplitter is a chunker as langchaingo's textsplitter.TextSplitter. Whatever a
// text holds, its pieces put together are the text, byte for byte: nothing is
// trimmed, repeated or repaired. It is safe for concurrent use.
type TextSplitter struct {
	chunker pipeline.Chunker
	syntax  chunker.Syntax
}

// NewTextSplitter returns a TextSplitter that cuts as split does, for instance a
// *chunker.Chunker. The syntax says how texts show their structure; the zero value
// is plain text. A Loader knows the syntax of its files and ignores this one.
func NewTextSplitter(split pipeline.Chunker, syntax chunker.Syntax) (*TextSplitter, error) {
	if split == nil {
		return nil, errors.New("a text splitter needs a chunker: chunker.New makes one")
	}
	return &TextSplitter{split, syntax}, nil
}

// SplitText implements textsplitter.TextSplitter. An empty text has no pieces.
func (s *TextSplitter) SplitText(text string) ([]string, error) {
	if text == "" {
		return []string{}, nil
	}
	// Chunkers take clean text alone. The map back gives to each chunk the bytes
	// that were left out or replaced in it.
	doc := chunker.Document{Syntax: s.syntax}
	doc.Text, doc.Source = repairText(text)
	if doc.Text == "" {
		return []string{text}, nil // nothing but a byte order mark
	}
	ranges, err := s.ranges(doc)
	if err != nil {
		return nil, err
	}
	pieces := make([]string, len(ranges))
	for i, r := range ranges {
		pieces[i] = doc.Source.Tile(r).Of(text)
	}
	return pieces, nil
}

// ranges cuts a document and checks that nothing of it is lost.
func (s *TextSplitter) ranges(doc chunker.Document) ([]chunker.Range, error) {
	chunks, err := s.chunker.Split(doc)
	if err != nil {
		return nil, err
	}
	ranges := make([]chunker.Range, len(chunks))
	end := 0
	for i, c := range chunks {
		if c.Start != end || c.End < c.Start || c.End > len(doc.Text) {
			return nil, fmt.Errorf("the chunker %T made a chunk of bytes %s of %d: want it to start at %d, where the one before ends", s.chunker, c.Range, len(doc.Text), end)
		}
		ranges[i] = c.Range
		end = c.End
	}
	if end != len(doc.Text) {
		return nil, fmt.Errorf("the chunker %T cut %d bytes of %d: want chunks that cover the text", s.chunker, end, len(doc.Text))
	}
	return ranges, nil
}
