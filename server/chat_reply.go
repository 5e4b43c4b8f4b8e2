package server

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/waymark-rag/waymark/retriever"
)

// chatCompletion is a completion, or a chunk of one. The last three fields go beyond
// OpenAI's: citations and search_results as Perplexity writes them, index n-1 being
// [n], and waymark with all there is. Of the chunks one alone has them.
type chatCompletion struct {
	chatHead
	Choices       []chatChoice   `json:"choices"`
	Usage         *chatUsage     `json:"usage,omitempty"`
	Citations     []string       `json:"citations,omitzero"`
	SearchResults []searchResult `json:"search_results,omitzero"`
	Waymark       *chatAnswer    `json:"waymark,omitempty"`
}

type chatHead struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Model   string `json:"model"`
}

func (c *chatting) head(object string) chatHead { return chatHead{c.id, object, c.created, c.model} }

type chatChoice struct {
	Index        int        `json:"index"`
	Message      *chatReply `json:"message,omitempty"`
	Delta        *chatReply `json:"delta,omitempty"`
	FinishReason *string    `json:"finish_reason"`
	Logprobs     *struct{}  `json:"logprobs"`
}

type chatReply struct {
	Role        string       `json:"role,omitempty"`
	Content     *string      `json:"content,omitempty"`
	Annotations []annotation `json:"annotations,omitempty"`
}

type chatUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

func usage(out answer) *chatUsage {
	u := out.Usage
	return &chatUsage{u.PromptTokens, u.AnswerTokens, u.PromptTokens + u.AnswerTokens}
}

// annotation is a citation as OpenAI's clients know it.
type annotation struct {
	Type        string      `json:"type"`
	URLCitation urlCitation `json:"url_citation"`
}

// urlCitation says where in the answer, counted in characters, a marker stands.
type urlCitation struct {
	URL        string `json:"url"`
	Title      string `json:"title"`
	StartIndex int    `json:"start_index"`
	EndIndex   int    `json:"end_index"`
}

// annotations has one for each marker in the answer's text.
func annotations(out answer) []annotation {
	var all []annotation
	for _, m := range out.Markers {
		c := out.Citations[m.Number-1]
		start := utf8.RuneCountInString(out.Text[:m.Range.Start])
		all = append(all, annotation{"url_citation", urlCitation{c.URL, title(c), start, start + utf8.RuneCountInString(m.Range.Of(out.Text))}})
	}
	return all
}

func title(c citation) string {
	if c.Title != "" {
		return c.Title
	}
	return c.Document
}

type searchResult struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Snippet string `json:"snippet"`
}

type chatAnswer struct {
	answer
	Ignored []string `json:"ignored,omitempty"` // of the request
}

// withSources adds to a completion what the answer is made from.
func (c *chatting) withSources(to chatCompletion, out answer) chatCompletion {
	to.Citations, to.SearchResults, to.Waymark = []string{}, []searchResult{}, &chatAnswer{out, c.ignored}
	for _, cited := range out.Citations {
		to.Citations = append(to.Citations, cited.URL)
		to.SearchResults = append(to.SearchResults, searchResult{title(cited), cited.URL, cited.Excerpt})
	}
	return to
}

// printedSources lists the citations as Markdown, for clients that show text alone.
func printedSources(out answer) string {
	var b strings.Builder
	for _, c := range out.Citations {
		if b.Len() == 0 {
			b.WriteString("\n\n---\n")
		}
		where := retriever.Where(c.Lines, c.Place)
		if where != "" {
			where = ", " + escapedLabel(where)
		}
		fmt.Fprintf(&b, "\n[%d] [%s](<%s>)%s  ", c.Number, escapedLabel(title(c)), c.URL, where)
	}
	return b.String()
}

// escapedLabel keeps a title from ending the link that it labels.
func escapedLabel(s string) string {
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "<", `\<`, "`", "\\`", "\n", " ").Replace(s)
}
