// Package pipeline runs the whole line: documents into a store, questions into
// passages, passages into a cited answer.
//
// In: files found by package ingest, or documents made by the caller; questions,
// and what was said before them.
//
// Out: a [Report] of what was indexed; ranked hits; an [Answer] whose citations
// were checked against the passages it was given.
//
// Never: names a concrete model, store or vendor, parses flags, or reads the
// environment. Its [Parts] are interfaces; internal/wire fills them in for the
// program, and so may anyone else.
package pipeline
