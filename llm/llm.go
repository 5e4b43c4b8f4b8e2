package llm

import "context"

// Role says who speaks.
type Role string

// The roles of a conversation.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one turn of a conversation.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text"`
}

// Request asks for the next message of a conversation.
type Request struct {
	Messages []Message
	// Question and Sources are what the last message was rendered from: the
	// question as asked and the texts it may be answered from, the source with
	// index i being number i+1. Models that write ignore them.
	Question string
	Sources  []string
	// MaxTokens bounds the reply; 0 leaves it to the model.
	MaxTokens int
	// Temperature, TopP, Seed and Stop, texts that the reply ends before, are
	// passed on when they are set. Not every provider knows all of them.
	Temperature *float64
	TopP        *float64
	Seed        *int
	Stop        []string
}

// Response is a complete reply.
type Response struct {
	Text string
	// Stopped says why the text ends: "stop", or "length" when it ran into
	// MaxTokens.
	Stopped string
	// PromptTokens and AnswerTokens are what the model counted; 0 if it did
	// not say.
	PromptTokens, AnswerTokens int
}

// Model writes replies.
//
// Generate returns the whole reply. When stream is not nil it is called with
// each piece as it comes, from one goroutine, and the pieces in order make up
// Response.Text exactly; an error from stream ends the call and is returned as
// it is. On any error the response is zero, though pieces may have been
// streamed. Safe for concurrent use.
type Model interface {
	Generate(ctx context.Context, req Request, stream func(piece string) error) (Response, error)
	// Name tells people which model answered, such as "extractive" or
	// "ollama/llama3.2".
	Name() string
}

// Quoter is what a Model implements that quotes Request.Sources and does not
// read Request.Messages, so that it follows no instructions in them.
type Quoter interface{ Quotes() }

// Writes reports whether a model follows instructions and so can be asked to
// rewrite a question or to judge a sentence.
func Writes(m Model) bool {
	_, quotes := m.(Quoter)
	return !quotes
}
