// Package waymark is a tour of the module; it holds no code.
//
// Waymark is a toolkit and a program for retrieval-augmented generation built on
// landmark pooling: one pass of the model over a document gives a vector for
// each chunk, read at a landmark token that closes the chunk and has seen its
// neighbours, and the mean of those, the document vector. Both are kept, both
// are searched, the passage that won is known to the byte, and the answer is
// made from such passages with citations that are checked.
//
// # The way of a document
//
//	file -> ingest -> chunker -> landmark -> retriever -> pipeline -> llm -> Answer
//
// Data flows to the right, imports point to the left or up to an interface; a
// test, internal/importtest, holds that.
//
//   - [github.com/waymark-rag/waymark/ingest] finds files and reads them: text,
//     the map from its bytes to those on disk, metadata.
//   - [github.com/waymark-rag/waymark/chunker] cuts the text into ranges that tile
//     it, along headings, paragraphs and sentences, under hard limits. It counts
//     in the model's tokens.
//   - [github.com/waymark-rag/waymark/landmark] lays chunks out in windows with
//     their landmarks, runs the model through an interface and pools. It is pure
//     Go; [github.com/waymark-rag/waymark/landmark/onnx] is the model, and the
//     only package with native code;
//     [github.com/waymark-rag/waymark/landmark/modeldir] reads model directories;
//     [github.com/waymark-rag/waymark/models] holds the model that ships.
//   - [github.com/waymark-rag/waymark/retriever] defines the store and ranks what a
//     store finds: both levels, BM25, fusion, merging, filters.
//     [github.com/waymark-rag/waymark/retriever/local] is the embedded store, one
//     SQLite file; [github.com/waymark-rag/waymark/retriever/qdrant] is a collection of
//     a Qdrant server; [github.com/waymark-rag/waymark/retriever/storetest] is the
//     suite that every store passes.
//   - [github.com/waymark-rag/waymark/llm] turns messages into text: any
//     langchaingo model, or the built-in answerer that quotes.
//   - [github.com/waymark-rag/waymark/pipeline] is where all of it meets: Index,
//     Search, Ask.
//   - [github.com/waymark-rag/waymark/langchain] fits these pieces into langchaingo
//     apps.
//   - [github.com/waymark-rag/waymark/eval] measures retrieval and answers on sets of
//     questions whose answers are known.
//
// The program is cmd/waymark. [github.com/waymark-rag/waymark/configs] reads its
// settings and internal/wire makes a pipeline of them, the one place that names
// every implementation.
//
// # Where to start
//
// As a user of the library, with the example of package pipeline and the programs
// under examples. As a reader of the code, with retriever.Store and
// landmark/layout.go. docs/design.md says what is aimed at, docs/decisions why
// things are as they are.
package waymark
