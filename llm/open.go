package llm

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Config names a model and how to reach it.
type Config struct {
	// Provider is "extractive", the default, "ollama", "anthropic", "google", or
	// "openai" for any server that speaks its protocol.
	Provider string
	// Model is the provider's name of the model; extractive has none.
	Model string
	// BaseURL is where the provider answers: for openai and anthropic including
	// the version, such as http://localhost:8080/v1. Empty means the provider
	// itself, or port 11434 of this machine for ollama.
	BaseURL string
	// APIKey is sent to the provider and shown to no one else.
	APIKey string
	// Timeout bounds a call with all its attempts; 0 means 5 minutes.
	Timeout time.Duration
	// ContextTokens is the context that ollama is asked to allocate, which
	// otherwise cuts longer prompts silently; 0 leaves it to the server.
	ContextTokens int
	// Similarity is that of Extractive.
	Similarity func(ctx context.Context, question string, sentences []string) ([]float64, error)
}

const (
	defaultTimeout   = 5 * time.Minute
	defaultOllamaURL = "http://127.0.0.1:11434"
)

// provider is a way to reach models.
type provider struct {
	name string
	open func(*langchain, Config, *http.Client) error
	// keyHeader holds the API key; empty means Authorization, as a bearer token.
	keyHeader string
	hosted    bool // answers to nobody without a key, unless at another base URL
}

var providers = []provider{
	{name: "extractive"},
	{name: "anthropic", open: (*langchain).openAnthropic, keyHeader: "X-Api-Key", hosted: true},
	{name: "google", open: (*langchain).openGoogle, hosted: true},
	{name: "ollama", open: (*langchain).openOllama},
	{name: "openai", open: (*langchain).openOpenAI, hosted: true},
}

// Providers are the values of Config.Provider.
func Providers() []string {
	var names []string
	for _, p := range providers {
		names = append(names, p.name)
	}
	return names
}

// Open returns the model that a Config names. It does not connect to it.
func Open(c Config) (Model, error) {
	c.Provider = cmp.Or(c.Provider, "extractive")
	i := slices.Index(Providers(), c.Provider)
	if i < 0 {
		return nil, fmt.Errorf("llm provider %q: want one of %q", c.Provider, Providers())
	}
	if c.Timeout < 0 {
		return nil, fmt.Errorf("llm timeout %v: want 0 or more", c.Timeout)
	}
	if c.Provider == "extractive" {
		return &Extractive{Similarity: c.Similarity}, nil
	}
	if c.Model == "" {
		return nil, fmt.Errorf("llm provider %q needs a model: name one that the provider serves", c.Provider)
	}
	if err := checkURL(c.BaseURL); err != nil {
		return nil, err
	}
	p := providers[i]
	if p.hosted && c.BaseURL == "" && c.APIKey == "" {
		return nil, fmt.Errorf("llm provider %q needs an API key: set one, or the base url of a server that needs none", p.name)
	}
	m := &langchain{
		name:    c.Provider + "/" + c.Model,
		secret:  c.APIKey,
		timeout: cmp.Or(c.Timeout, defaultTimeout),
		backoff: time.Second,
	}
	client := &http.Client{Transport: &transport{c.APIKey, p.keyHeader, http.DefaultTransport}}
	if err := p.open(m, c, client); err != nil {
		return nil, describe(err, c.APIKey)
	}
	return m, nil
}

// checkURL refuses addresses that cannot work, without showing a password.
func checkURL(address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || strings.Contains(address, "@"):
		return fmt.Errorf("llm base url: want http://HOST:PORT/PATH without user or password: set the API key instead")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return fmt.Errorf("llm base url %q: want http://HOST:PORT/PATH or https://HOST/PATH", address)
	}
	return nil
}
