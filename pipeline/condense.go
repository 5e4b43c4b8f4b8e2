package pipeline

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/waymark-rag/waymark/llm"
)

// Condense says how a question that follows on others, such as "and in
// winter?", becomes one that can be searched by.
type Condense string

// The ways to condense.
const (
	// CondenseLLM has the model rewrite the question. A model that only quotes
	// cannot, and neither can one whose reply is no question: then it is done
	// by rule.
	CondenseLLM Condense = "llm"
	// CondenseRule puts the content words of the questions before, and the
	// names in the last answer, in front of a question that refers back or
	// leaves out what it is about. It knows English pronouns.
	CondenseRule Condense = "rule"
	// CondenseOff searches by the question as it was asked.
	CondenseOff Condense = "off"
)

// Query is what is searched by.
type Query struct {
	Text string
	// By says how Text was made of the question; empty if it is the question.
	By Condense
}

const (
	// condenseTokens bounds what a model may take to rewrite a question.
	condenseTokens = 128
	// maxQuery and maxTurn bound in bytes the rewritten question and each
	// message that it is made from.
	maxQuery = 600
	maxTurn  = 1500
)

// Condense returns what to search by for a question that follows on history,
// whose messages are oldest first. The model is asked once at most, and not for
// the first question of a conversation.
func (a *Answerer) Condense(ctx context.Context, question string, history []llm.Message) (Query, error) {
	question = strings.TrimSpace(question)
	if question == "" {
		return Query{}, errEmptyQuestion
	}
	history, err := spoken(history)
	if err != nil {
		return Query{}, err
	}
	if len(history) == 0 || a.condense == CondenseOff {
		return Query{Text: question}, nil
	}
	if a.condense == CondenseLLM && llm.Writes(a.model) {
		text, err := a.rewrite(ctx, question, history)
		if err != nil {
			return Query{}, fmt.Errorf("condensing the question: %w", err)
		}
		if text != "" {
			return newQuery(question, text, CondenseLLM), nil
		}
	}
	return newQuery(question, condenseByRule(question, history), CondenseRule), nil
}

func newQuery(question, text string, by Condense) Query {
	if text == question {
		by = ""
	}
	return Query{text, by}
}

// rewrite has the model condense a question. The text is empty if the reply
// cannot be one.
func (a *Answerer) rewrite(ctx context.Context, question string, history []llm.Message) (string, error) {
	turns := make([]llm.Message, len(history))
	for i, m := range history {
		turns[i] = llm.Message{Role: m.Role, Text: shorten(strings.Join(strings.Fields(m.Text), " "), maxTurn)}
	}
	limit := min(condenseTokens, a.budget.answer)
	msg, err := a.prompts.renderCondense(question, nil)
	if err != nil {
		return "", err
	}
	left := a.budget.context - limit - a.budget.cost(msg)
	if left < 0 {
		return "", a.budget.tooSmall("the question", -left)
	}
	if msg, err = a.prompts.renderCondense(question, a.budget.newest(turns, left)); err != nil {
		return "", err
	}
	resp, err := a.model.Generate(ctx, llm.Request{
		Messages:    []llm.Message{msg},
		Question:    question,
		MaxTokens:   limit,
		Temperature: a.temperature,
	}, nil)
	if err != nil {
		return "", err
	}
	if resp.Stopped == "length" {
		return "", nil
	}
	return cleanQuery(resp.Text), nil
}

var queryLabel = regexp.MustCompile(`(?i)^(?:(?:standalone|stand-alone|rewritten|condensed|search|new|the) )*(?:question|query) *: *`)

// cleanQuery takes a rewritten question out of a reply: its first line, without
// a label, quotation marks or citations. It is empty if that is none.
func cleanQuery(reply string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(withoutThoughts(reply)), "\n")
	const around = "*_`\"“”«» \t\r"
	line = queryLabel.ReplaceAllString(strings.Trim(line, around), "")
	line = withoutMarkers(strings.Trim(line, around))
	if len(line) > maxQuery || saysNotAnswered(line) {
		return ""
	}
	return line
}

// spoken is a history as models are given it: without empty messages, and
// without the markers of earlier answers, whose numbers now mean other passages.
func spoken(history []llm.Message) ([]llm.Message, error) {
	var out []llm.Message
	for i, m := range history {
		switch m.Role {
		case llm.User, llm.System:
		case llm.Assistant:
			m.Text = withoutMarkers(m.Text)
		default:
			return nil, fmt.Errorf("message %d of the history has role %q: want %q or %q", i, m.Role, llm.User, llm.Assistant)
		}
		if strings.TrimSpace(m.Text) != "" {
			out = append(out, m)
		}
	}
	return out, nil
}

// withoutMarkers takes the citation markers out of a text.
func withoutMarkers(text string) string {
	p := newCitationParser(0)
	head := p.write(text)
	return head + p.close()
}

// shorten cuts a text to at most n bytes, between words where it can.
func shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	cut := strings.ToValidUTF8(text[:n], "")
	if i := strings.LastIndexByte(cut, ' '); i > 0 {
		cut = cut[:i]
	}
	return cut + "..."
}
