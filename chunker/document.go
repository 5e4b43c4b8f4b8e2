package chunker

import "fmt"

// Version changes whenever the same text and options would be cut at other
// places. It is part of a collection's fingerprint.
const Version = 2

// Range is the half-open byte range [Start, End) of some text.
type Range struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Len is the number of bytes in r.
func (r Range) Len() int { return r.End - r.Start }

// Of returns the bytes of s that r covers.
func (r Range) Of(s string) string { return s[r.Start:r.End] }

// Overlaps reports whether r and o share at least one byte.
func (r Range) Overlaps(o Range) bool { return r.Start < o.End && o.Start < r.End }

func (r Range) String() string { return fmt.Sprintf("%d-%d", r.Start, r.End) }

// Syntax says how a document's text shows its structure.
type Syntax string

// The syntaxes that the structure mode reads. The zero value is plain text.
const (
	Plain    Syntax = ""         // blank lines separate paragraphs
	Markdown Syntax = "markdown" // headings, lists, fences, tables
	Code     Syntax = "code"     // blank lines and indentation separate blocks
)

// Heading is a heading that the text's own syntax does not show, such as an
// <h2> of an HTML page whose tags are gone from the text.
type Heading struct {
	Range        // the heading's text in Document.Text
	Level int    // 1 is the highest
	Title string // as shown to a reader
}

// Table is a table that the text's own syntax does not show, a line for each row.
type Table struct {
	Range        // in Document.Text
	Header Range // the lines that name the columns; empty if none do
}

// Document is the text of one source and what ties it back to that source.
type Document struct {
	// ID names the document in its collection. It is chosen by whoever made
	// the document and stays the same when the content changes.
	ID string
	// Title is for people; it may be empty.
	Title string
	// Text is valid UTF-8 without NUL bytes.
	Text string
	// Syntax says how Text shows its structure.
	Syntax Syntax
	// Headings, in order of position, are used in place of those that Syntax
	// would show. Leave nil for Markdown.
	Headings []Heading
	// Tables, in order of position, are used in place of those that Syntax would
	// show.
	Tables []Table
	// Places, in order of position, tell the pages, slides, rows or times that
	// stretches of the text stand at, for files whose readers know no lines.
	Places []Placed
	// Source maps Text to the bytes of the file it came from. The zero value
	// says that they are the same bytes.
	Source SourceMap
	// Metadata holds what a search can be filtered by: strings, bools,
	// int64s, float64s and string lists.
	Metadata map[string]any
}

// Lines returns the first and last line of the file, counted from 1, on which
// the visible text of r stands: white space at the ends of r is not looked at,
// nor is anything that the reader left out. Both are 0 when the source map knows
// no lines.
func (d *Document) Lines(r Range) (first, last int) {
	return d.Source.Lines(d.Source.span(visible(d.Text, r)))
}

// Chunk is one piece of a document.
type Chunk struct {
	Range      // in Document.Text
	Index  int // position in the document, from 0
	Tokens int // model tokens that start inside the range
	// Headings are the titles of the headings that its first visible character
	// stands under, outermost first, with the heading that opens the chunk.
	// Chunks share them: they must not be changed.
	Headings []string
	// Header is where the row stands that names the columns, for a chunk that
	// starts further down in a table; empty otherwise.
	Header Range
}

// Tokenizer tells where a model's tokens lie. A Chunker calls it once for each
// document; implementations must be safe for concurrent use.
type Tokenizer interface {
	// Offsets returns the byte range of each token of text in order of
	// position, special tokens left out. Ranges lie inside the text and start
	// and end between runes. Bytes that belong to no token, such as spaces,
	// are in no range.
	Offsets(text string) ([]Range, error)
}
