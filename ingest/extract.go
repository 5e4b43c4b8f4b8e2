package ingest

import (
	"strings"

	"github.com/waymark-rag/waymark/chunker"
)

// extract builds a text out of parts of a source, in their order there.
type extract struct {
	src  *source
	text strings.Builder
	b    chunker.SourceMapBuilder
	end  int // of the last part in the source
}

// same writes a part as it is.
func (e *extract) same(r chunker.Range) {
	e.text.WriteString(r.Of(e.src.text))
	e.src.same(&e.b, r)
	e.end = r.End
}

// instead writes text in the place of a part.
func (e *extract) instead(text string, r chunker.Range) {
	e.text.WriteString(text)
	e.src.instead(&e.b, len(text), r)
	e.end = r.End
}

// insert writes text that is not in the source.
func (e *extract) insert(text string) {
	e.instead(text, chunker.Range{Start: e.end, End: e.end})
}

// document has what was written.
func (e *extract) document() chunker.Document {
	doc := chunker.Document{Text: e.text.String(), Source: e.b.Finish(e.src.lines)}
	e.src.encoded(&doc)
	return doc
}
