package llm

import (
	"cmp"
	"net/http"

	"github.com/tmc/langchaingo/llms/ollama"
)

// openOllama connects to an Ollama server.
func (m *langchain) openOllama(c Config, client *http.Client) error {
	options := []ollama.Option{
		// Ends the process on a malformed address, hence checkURL.
		ollama.WithServerURL(cmp.Or(c.BaseURL, defaultOllamaURL)),
		ollama.WithModel(c.Model),
		ollama.WithHTTPClient(client),
	}
	if c.ContextTokens > 0 {
		options = append(options, ollama.WithRunnerNumCtx(c.ContextTokens))
	}
	model, err := ollama.New(options...)
	if err != nil {
		return err
	}
	m.model = model
	return nil
}
