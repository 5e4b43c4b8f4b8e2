// Package local is the embedded store: one SQLite file, no server.
//
// In: documents with their vectors, which are kept as 16-bit floats beside the
// text, the metadata and a full-text index for BM25.
//
// Out: candidates by exact search. All chunk and document vectors lie in memory
// as 8-bit integers and every one is compared with the query. How wrong such a
// product can be is known for each row; all chunks that may be among the best
// are scored again with the 16-bit rows, so the candidates are the best by the
// stored vectors, in their order, and so are the scores.
//
// Never: loses or mixes versions when a process is killed or the power fails,
// blocks readers, lets two processes write at once, or needs cgo.
//
// docs/store-format.md describes the file.
package local
