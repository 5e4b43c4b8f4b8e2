package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
)

// openaiURL is given explicitly, as is every other setting: langchaingo reads
// those it is not given from the environment.
const openaiURL = "https://api.openai.com/v1"

// placeholder is the key that clients are given, who refuse to have none; the
// transport sets the real one.
const placeholder = "set by transport"

// openOpenAI connects to OpenAI or, with a base URL, to any server that speaks
// its protocol, such as llama.cpp, vLLM or LM Studio.
func (m *langchain) openOpenAI(c Config, client *http.Client) error {
	base := c.BaseURL
	if base == "" {
		base = openaiURL
	} else {
		// Such servers know max_tokens; not all know its successor.
		m.options = []llms.CallOption{openai.WithLegacyMaxTokensField()}
	}
	model, err := openai.New(
		openai.WithBaseURL(base),
		openai.WithModel(c.Model),
		openai.WithToken(placeholder),
		openai.WithOrganization(""),
		openai.WithHTTPClient(topP{doer{client}}),
	)
	if err != nil {
		return err
	}
	m.model, m.finishes = withTopP{model}, true
	return nil
}

// topPKey is what the context of a call holds its top_p under: langchaingo's client
// leaves that option out of what it sends.
type topPKey struct{}

// withTopP tells topP which top_p a call is made with.
type withTopP struct{ llms.Model }

// GenerateContent implements llms.Model.
func (m withTopP) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, option := range options {
		option(&o)
	}
	if o.TopP > 0 {
		ctx = context.WithValue(ctx, topPKey{}, o.TopP)
	}
	return m.Model.GenerateContent(ctx, messages, options...)
}

// topP adds top_p to the requests that have one.
type topP struct{ doer }

// Do is what langchaingo calls.
func (t topP) Do(req *http.Request) (*http.Response, error) {
	value, ok := req.Context().Value(topPKey{}).(float64)
	if !ok {
		return t.doer.Do(req)
	}
	data, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	fields["top_p"] = value
	if data, err = json.Marshal(fields); err != nil {
		return nil, err
	}
	with := req.Clone(req.Context())
	with.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	with.Body, _ = with.GetBody()
	with.ContentLength = int64(len(data))
	return t.doer.Do(with)
}
