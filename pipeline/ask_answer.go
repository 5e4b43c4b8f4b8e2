package pipeline

import (
	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/retriever"
)

// AnswerRequest is a question and what it is answered from.
type AnswerRequest struct {
	Question string
	// Query is what Hits were searched by, as Condense gave it; the zero value
	// stands for the question itself.
	Query   Query
	History []llm.Message   // what was said before, oldest first
	Hits    []retriever.Hit // best first
	// Generation is what this request wants otherwise than AnswerOptions say.
	Generation Generation
}

// Generation is what a single request may say of how a model writes its answer. The
// zero value leaves all to AnswerOptions and to the model; of a model that quotes
// nothing changes.
type Generation struct {
	// MaxTokens bounds the answer further than AnswerOptions.AnswerTokens.
	MaxTokens int
	// Temperature takes the place of AnswerOptions.Temperature.
	Temperature *float64
	// TopP, Seed and Stop are those of llm.Request.
	TopP *float64
	Seed *int
	Stop []string
}

// Answer is a cited answer.
type Answer struct {
	// Text holds markers [1], [2], ... numbered in order of first use.
	Text string `json:"text"`
	// Query is what was searched for: the question or, where it followed on
	// others, what it was condensed to, and by what: "llm" or "rule".
	Query     string   `json:"query"`
	Condensed Condense `json:"condensed,omitempty"`
	// Citations are the passages that Text cites; number n is at index n-1.
	Citations []Citation `json:"citations"`
	// Markers are the places in Text that cite, in order.
	Markers []Marker `json:"markers"`
	// Sentences are those of Text, with what became of the check.
	Sentences []Sentence `json:"sentences"`
	// JudgeError says why the judge, if there is one, left sentences without a
	// verdict.
	JudgeError string `json:"judge_error,omitempty"`
	// Passages are what the model was given, in the order it was given them.
	Passages []retriever.Hit `json:"passages"`
	Dropped  Dropped         `json:"dropped"`
	// NotAnswered says that the passages do not answer the question.
	NotAnswered bool   `json:"not_answered"`
	Model       string `json:"model"`
	// Stopped is "stop", or "length" when the answer ran out of tokens.
	Stopped string `json:"stopped"`
	Usage   Usage  `json:"usage"`
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
	Place    chunker.Place   `json:"place,omitzero"` // in the reader's terms, where lines do not say it
	Excerpt  string          `json:"excerpt"`        // the start of the passage
	Score    retriever.Score `json:"score"`
}

// Marker is a place in an answer's text that cites, such as "[1]".
type Marker struct {
	Number int           `json:"number"` // of the citation
	Range  chunker.Range `json:"range"`  // in Answer.Text, in bytes
}

// Sentence is a sentence of an answer, checked against the passages it cites.
type Sentence struct {
	Range     chunker.Range `json:"range"`               // in Answer.Text, with its markers
	Citations []int         `json:"citations,omitempty"` // numbers
	Supported bool          `json:"supported"`
	Reasons   []string      `json:"reasons,omitempty"` // why it is not supported
	// Verdict is what the judge said; empty if it was not asked or did not say.
	Verdict Verdict `json:"verdict,omitempty"`
}

// Verdict is what a judge says of a sentence.
type Verdict string

// The verdicts.
const (
	Supported   Verdict = "supported"
	Unsupported Verdict = "unsupported"
)

// Dropped counts what was left out.
type Dropped struct {
	Passages  int  `json:"passages"`  // that did not fit
	Cut       bool `json:"cut"`       // the first passage was shortened to fit
	History   int  `json:"history"`   // messages that did not fit
	Citations int  `json:"citations"` // numbers of passages that were not given
}

// Usage counts the tokens of the call that wrote the answer.
type Usage struct {
	PromptTokens int `json:"prompt_tokens"`
	AnswerTokens int `json:"answer_tokens"`
	// Estimated says that the model did not count them itself.
	Estimated bool `json:"estimated,omitempty"`
}

// Event is one step of a streamed answer. Exactly one field is set.
type Event struct {
	// Query is what is searched for, the first event of Pipeline.Ask.
	Query string `json:"query,omitempty"`
	// Passages are Answer.Passages, before the first piece of text; there is
	// no such event without passages.
	Passages []retriever.Hit `json:"passages,omitempty"`
	// Text is the next piece of Answer.Text.
	Text string `json:"text,omitempty"`
	// Citation comes once for each, before the piece with its first marker.
	Citation *Citation `json:"citation,omitempty"`
	// Answer is the whole answer, the last event.
	Answer *Answer `json:"answer,omitempty"`
}
