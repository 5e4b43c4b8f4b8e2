// Package langchain fits Waymark into langchaingo.
//
// In: langchaingo's documents, prompts and options; Waymark's models, chunkers,
// stores and hits.
//
// Out: what langchaingo's chains and agents take. [Embedder], [VectorStore],
// [Retriever], [TextSplitter], [Loader], [Extractive] (an llms.Model) and
// [SearchTool] each implement one of its interfaces.
//
// Never: ranks, cuts, embeds or answers by itself, changes what it is given, or
// passes over an option. What cannot be done is an error that says so.
//
// docs/langchain.md shows the pieces at work and lists every metadata key and
// filter.
//
// # Documents in a store
//
// A schema.Document becomes one document of the store, cut into chunks that each
// keep a landmark vector. Text is repaired as package ingest does: each byte that
// is not UTF-8 and each NUL becomes U+FFFD, and a byte order mark in front is left
// out. Names (metadata keys and ids) are kept apart where their bytes differ: a
// byte that is not UTF-8, or a NUL, becomes % and two hex digits.
//
// Metadata comes back as it went in. A store holds strings, bools, numbers and
// string lists, and filters by them; values of other types are kept beside these
// with the names of their Go types. Those that a name can tell are restored
// exactly: nil, all predeclared types but complex ones, time.Time, json.Number,
// slices of these, maps from string to these, and any nesting with any. A value
// of another type comes back as its JSON would. A value that has no JSON is
// refused.
package langchain
