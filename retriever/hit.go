package retriever

import (
	"fmt"

	"github.com/waymark-rag/waymark/chunker"
)

// Hit is a passage found: one chunk, or several of the same document that touch.
type Hit struct {
	Document string         `json:"document"`
	Title    string         `json:"title,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
	Headings []string       `json:"headings,omitempty"` // of the best chunk
	Text     string         `json:"text"`
	Range    chunker.Range  `json:"range"`  // of Text in the document's text
	Source   chunker.Range  `json:"source"` // of the passage in the file on disk
	Lines    Lines          `json:"lines"`
	Place    chunker.Place  `json:"place,omitzero"` // in the reader's terms, where lines do not say it
	// Header names the columns of the table that Text starts within.
	Header string `json:"header,omitempty"`
	// Chunk is the index of the best chunk, whose landmark won; Chunks are the
	// first and last index that Text covers.
	Chunk  int    `json:"chunk"`
	Chunks [2]int `json:"chunks"`
	Score  Score  `json:"score"` // of the best chunk
	Rule   string `json:"rule"`  // how Score.Value came about, in words
}

// Shown is the passage as people and models are to read it: one that starts within
// a table has the row above it that names the columns.
func (h Hit) Shown() string { return h.Header + h.Text }

// Where says where in its file a passage stands, in a reader's terms: "page 12",
// "lines 3-5"; empty if nothing is known.
func Where(lines Lines, place chunker.Place) string {
	switch {
	case !place.IsZero():
		return place.String()
	case lines.First == 0:
		return ""
	case lines.First == lines.Last:
		return fmt.Sprintf("line %d", lines.First)
	}
	return fmt.Sprintf("lines %d-%d", lines.First, lines.Last)
}
