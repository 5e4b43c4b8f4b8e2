package llm

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
)

const anthropicURL = "https://api.anthropic.com/v1"

// openAnthropic connects to Anthropic or, with a base URL, to a server that
// speaks its protocol.
func (m *langchain) openAnthropic(c Config, client *http.Client) error {
	model, err := anthropic.New(
		anthropic.WithBaseURL(cmp.Or(c.BaseURL, anthropicURL)),
		anthropic.WithModel(c.Model),
		anthropic.WithToken(placeholder),
		anthropic.WithHTTPClient(doer{client}),
	)
	if err != nil {
		return err
	}
	m.model, m.finishes = blocks{model}, true
	return nil
}

// blocks makes one choice of a reply: langchaingo makes one of each of its
// content blocks, and an error without a cause of a stream that breaks off.
type blocks struct{ llms.Model }

// transient matches the errors within a stream, of which langchaingo passes on
// the printed form alone, that a later call may not meet.
var transient = regexp.MustCompile(`error event:.*type:(?:overloaded|rate_limit|timeout|api)_error`)

// GenerateContent implements llms.Model.
func (b blocks) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	resp, err := b.Model.GenerateContent(ctx, messages, options...)
	if errors.Is(err, anthropic.ErrEmptyResponse) {
		return nil, &providerError{text: cutOff, kind: ErrCut}
	}
	if err != nil && transient.MatchString(err.Error()) {
		return nil, &providerError{text: err.Error(), kind: ErrUnavailable}
	}
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	for _, choice := range resp.Choices {
		text.WriteString(choice.Content)
	}
	whole := *resp.Choices[0]
	whole.Content = text.String()
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{&whole}}, nil
}
