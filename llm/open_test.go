package llm

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestOpen(t *testing.T) {
	tests := []struct {
		name, want string // name of the model, or part of the error
		config     Config
	}{
		{"default", "extractive", Config{}},
		{"openai", "openai/gpt-4o", Config{Provider: "openai", Model: "gpt-4o", APIKey: testKey}},
		{"server without a key", "openai/tiny", Config{Provider: "openai", Model: "tiny", BaseURL: "http://localhost:8080/v1"}},
		{"ollama", "ollama/llama3.2", Config{Provider: "ollama", Model: "llama3.2"}},
		{"unknown", `llm provider "gpt": want one of ["extractive" "anthropic" "google" "ollama" "openai"]`, Config{Provider: "gpt"}},
		{"no model", `llm provider "ollama" needs a model`, Config{Provider: "ollama"}},
		{"no key", `llm provider "openai" needs an API key`, Config{Provider: "openai", Model: "gpt-4o"}},
		{"anthropic", "anthropic/claude-sonnet-4-5", Config{Provider: "anthropic", Model: "claude-sonnet-4-5", APIKey: testKey}},
		{"google", "google/gemini-2.5-flash", Config{Provider: "google", Model: "gemini-2.5-flash", APIKey: testKey}},
		{"anthropic without a key", `llm provider "anthropic" needs an API key`, Config{Provider: "anthropic", Model: "m"}},
		{"google without a key", `llm provider "google" needs an API key`, Config{Provider: "google", Model: "m"}},
		{"timeout", "llm timeout -1s", Config{Timeout: -time.Second}},
		{"not a url", "want http://HOST:PORT/PATH", Config{Provider: "ollama", Model: "m", BaseURL: "http://[::1"}},
		{"no scheme", `llm base url "localhost:11434"`, Config{Provider: "ollama", Model: "m", BaseURL: "localhost:11434"}},
		{"password", "without user or password", Config{Provider: "ollama", Model: "m", BaseURL: "http://me:" + testKey + "@host"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			model, err := Open(test.config)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = model.Name()
			}
			if !strings.Contains(got, test.want) || strings.Contains(got, testKey) {
				t.Errorf("got %q: want %q", got, test.want)
			}
		})
	}
}

// langchaingo fills in from the environment what it is not given.
func TestOpenIgnoresTheEnvironment(t *testing.T) {
	for _, v := range []string{"OPENAI_API_KEY", "OPENAI_MODEL", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OLLAMA_HOST", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"} {
		t.Setenv(v, "http://from.the.environment.test")
	}
	for _, name := range []string{"openai", "anthropic", "google"} {
		if _, err := Open(Config{Provider: name, Model: "m"}); err == nil {
			t.Errorf("%s took its key from the environment", name)
		}
	}
	m := serve(t, "openai", func(w http.ResponseWriter, body map[string]any) {
		if body["model"] != "tiny" {
			t.Errorf("model %v", body["model"])
		}
		protocols["openai"].stream(w, "Yes")
		protocols["openai"].end(w)
	})
	if _, _, err := generate(context.Background(), m); err != nil {
		t.Error(err)
	}
}
