package retriever

import "github.com/waymark-rag/waymark/chunker"

// Document is a document as a store keeps it.
type Document struct {
	ID       string         `json:"id"`
	Title    string         `json:"title,omitempty"`
	Hash     string         `json:"hash,omitempty"` // of the content it was made from
	Text     string         `json:"text,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"` // see Check for the types
	Vector   []float32      `json:"-"`                  // unit length
	Chunks   []Chunk        `json:"chunks,omitempty"`   // ordered; their ranges tile Text
}

// Chunk is a passage of a stored document.
type Chunk struct {
	Text     chunker.Range `json:"text"`            // in Document.Text
	Source   chunker.Range `json:"source"`          // in the file on disk
	Lines    Lines         `json:"lines"`           // in the file on disk
	Place    chunker.Place `json:"place,omitzero"`  // in the reader's terms, where lines do not say it
	Tokens   int           `json:"tokens"`          //
	Headings []string      `json:"headings"`        // path, outermost first
	Header   chunker.Range `json:"header,omitzero"` // in Document.Text: what names the columns of the table that it starts in
	Vector   []float32     `json:"-"`               // unit length
	Norm     float32       `json:"norm,omitempty"`  // of the raw landmark state
}

// Lines is an inclusive range of line numbers, counted from 1; zero is unknown.
type Lines struct {
	First int `json:"first"`
	Last  int `json:"last"`
}
