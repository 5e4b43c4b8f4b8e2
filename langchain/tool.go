package langchain

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/tmc/langchaingo/callbacks"
)

// SearchToolOptions say how a SearchTool shows itself to a model. The zero value is
// the default.
type SearchToolOptions struct {
	// Name is what the model calls it; empty means "search".
	Name string
	// Description tells the model what it does; empty says that it searches
	// documents and how to cite them. Say here what the documents are about.
	Description string
	// Callbacks is told of every call; nil tells nobody.
	Callbacks callbacks.Handler
}

const (
	toolName        = "search"
	toolDescription = "Searches the documents and returns passages, each below a line with its number and where it stands. " +
		"The input is a question or keywords. Cite the passages that you use by their numbers, as in [2]."
)

// SearchTool is a Retriever as an agent's tool, langchaingo's tools.Tool. It is safe for
// concurrent use.
type SearchTool struct {
	retriever *Retriever
	opts      SearchToolOptions
}

// NewSearchTool returns a SearchTool over a Retriever, whose own options hold but for
// Labels: its passages always have labels. Nil options are the default.
func NewSearchTool(r *Retriever, opts *SearchToolOptions) (*SearchTool, error) {
	if r == nil {
		return nil, errors.New("a search tool needs a retriever")
	}
	labelling := *r
	labelling.opts.Labels = true
	t := &SearchTool{retriever: &labelling}
	if opts != nil {
		t.opts = *opts
	}
	t.opts.Name = cmp.Or(t.opts.Name, toolName)
	t.opts.Description = cmp.Or(t.opts.Description, toolDescription)
	return t, nil
}

// Name implements tools.Tool.
func (t *SearchTool) Name() string { return t.opts.Name }

// Description implements tools.Tool.
func (t *SearchTool) Description() string { return t.opts.Description }

// Call returns the passages that the input finds. What a model can mend, an empty
// input, is a reply to it and no error, which would end the agent's run.
func (t *SearchTool) Call(ctx context.Context, input string) (string, error) {
	if t.opts.Callbacks != nil {
		t.opts.Callbacks.HandleToolStart(ctx, input)
	}
	output, err := t.call(ctx, input)
	if t.opts.Callbacks != nil {
		if err != nil {
			t.opts.Callbacks.HandleToolError(ctx, err)
		} else {
			t.opts.Callbacks.HandleToolEnd(ctx, output)
		}
	}
	return output, err
}

func (t *SearchTool) call(ctx context.Context, input string) (string, error) {
	if isBlank(input) {
		return "The input is empty. Give a question or keywords.", nil
	}
	docs, err := t.retriever.GetRelevantDocuments(ctx, input)
	if err != nil {
		return "", err
	}
	if len(docs) == 0 {
		return "Nothing was found.", nil
	}
	texts := make([]string, len(docs))
	for i, d := range docs {
		texts[i] = d.PageContent
	}
	return strings.Join(texts, "\n\n"), nil
}
