// Package server answers over HTTP: questions with cited answers, searches, and
// documents to keep, in its own shapes and in those that clients of OpenAI, Cohere,
// Text Embeddings Inference, LibreChat and MCP know.
//
// In: [Collections], an [Embedder] and who may do what.
//
// Out: a [Server], an http.Handler to mount or to serve. docs/http-api.md describes
// what it answers, /openapi.json the same for programs.
//
// Never: listens, reads the environment, holds rules of ranking or answering, shows
// one tenant what belongs to another, or logs a key, a question or a text.
//
// A file handles one face: ask.go, chat.go, search.go and so on. What they share is
// in auth.go (keys), limit.go (queues and rates), errors.go, request.go and sse.go.
package server
