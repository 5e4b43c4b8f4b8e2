package retriever

import "github.com/waymark-rag/waymark/chunker"

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
	// Chunk is the index of the best chunk, whose landmark won; Chunks are the
	// first and last index that Text covers.
	Chunk  int    `json:"chunk"`
	Chunks [2]int `json:"chunks"`
	Score  Score  `json:"score"` // of the best chunk
	Rule   string `json:"rule"`  // how Score.Value came about, in words
}
