// Package llmtest has models for tests, and the suite that every model passes.
package llmtest
