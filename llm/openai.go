package llm

import (
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
		openai.WithHTTPClient(doer{client}),
	)
	if err != nil {
		return err
	}
	m.model, m.finishes = model, true
	return nil
}
