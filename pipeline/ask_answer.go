package pipeline

import (
	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/retriever"
)

// AnswerRequest is a question and what it is answered from.
type AnswerRequest struct {
	Question string
	History  []llm.Message   // what was said before, oldest first
	Hits     []retriever.Hit // best first
}

// Answer is a cited answer.
type Answer struct {
	// Text holds markers [1], [2], ... numbered in order of first use.
	Text string `json:"text"`
	// Citations are the passages that Text cites; number n is at index n-1.
	Citations []Citation `json:"citations"`
	// Sentences are those of Text, with what became of the check.
	Sentences []Sentence `json:"sentences"`
	// Passages are what the model was given, in the order it was given them.
	Passages []retriever.Hit `json:"passages"`
	Dropped  Dropped         `json:"dropped"`
	// NotAnswered says that the passages do not answer the question.
	NotAnswered bool   `json:"not_answered"`
	Model       string `json:"model"`
	// Stopped is "stop", or "length" when the answer ran out of tokens.
	Stopped string `json:"stopped"`
}

// Citation is a passage that an answer cites.
type Citation struct {
	Number   int             `json:"number"`  // in the answer's text
	Passage  int             `json:"passage"` // index in Answer.Passages
	Document string          `json:"document"`
	Title    string          `json:"title,omitempty"`
	Headings []string        `json:"headings,omitempty"`
	Range    chunker.Range   `json:"range"`  // in the document's text
	Source   chunker.Range   `json:"source"` // in the file on disk
	Lines    retriever.Lines `json:"lines"`
	Excerpt  string          `json:"excerpt"` // the start of the passage
	Score    retriever.Score `json:"score"`
}

// Sentence is a sentence of an answer, checked against the passages it cites.
type Sentence struct {
	Range     chunker.Range `json:"range"`               // in Answer.Text, with its markers
	Citations []int         `json:"citations,omitempty"` // numbers
	Supported bool          `json:"supported"`
	Reasons   []string      `json:"reasons,omitempty"` // why it is not supported
}

// Dropped counts what was left out.
type Dropped struct {
	Passages  int  `json:"passages"`  // that did not fit
	Cut       bool `json:"cut"`       // the first passage was shortened to fit
	History   int  `json:"history"`   // messages that did not fit
	Citations int  `json:"citations"` // numbers of passages that were not given
}

// Event is one step of a streamed answer. Exactly one field is set.
type Event struct {
	// Text is the next piece of Answer.Text.
	Text string `json:"text,omitempty"`
	// Citation comes once for each, before the piece with its first marker.
	Citation *Citation `json:"citation,omitempty"`
	// Answer is the whole answer, the last event.
	Answer *Answer `json:"answer,omitempty"`
}
