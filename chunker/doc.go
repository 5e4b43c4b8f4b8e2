// Package chunker cuts a document into chunks.
//
// In: a [Document], text plus the map back to the file it came from, and
// [Options] that say where to cut and how large a chunk may grow.
//
// Out: ordered [Chunk]s whose byte ranges tile the document's text: the first
// starts at 0, each next starts where the one before ends, the last ends at
// len(Text). No byte is lost, repeated or rewritten, whatever the text holds.
//
// Never: calls a model, reads a file, or decides what a chunk is worth. Sizes
// are counted in the model's own tokens through the one-method [Tokenizer].
package chunker
