package llm

import (
	"cmp"
	"net/http"
)

// googleURL is where the Gemini API speaks OpenAI's protocol. langchaingo's own
// client for it rests on a retired library, brings gRPC and the cloud platform's
// modules along, and takes no HTTP client that could hold the key.
const googleURL = "https://generativelanguage.googleapis.com/v1beta/openai"

// openGoogle connects to the Gemini API.
func (m *langchain) openGoogle(c Config, client *http.Client) error {
	c.BaseURL = cmp.Or(c.BaseURL, googleURL)
	return m.openOpenAI(c, client)
}
