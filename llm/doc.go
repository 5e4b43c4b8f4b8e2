// Package llm turns messages into text.
//
// In: a [Request], the messages of a conversation, limits, and, for models that
// quote rather than write, the question and its sources by themselves.
//
// Out: the whole text, or its pieces while they are written.
//
// Never: knows documents, retrieval or templates, reads the environment, or
// goes on after its context is cancelled.
package llm
