// Package chunker cuts a document into chunks.
//
// In: a [Document], text plus the map back to the file it came from, and
// [Options] that say where to cut and how large a chunk may grow.
//
// Out: ordered [Chunk]s whose byte ranges tile the document's text: the first
// starts at 0, each next starts where the one before ends, the last ends at
// len(Text). No byte is lost, repeated or rewritten, whatever the text holds.
// White space between blocks belongs to the chunk before it, so that a chunk
// starts with visible text wherever the limits allow.
//
// The structure mode scans the lines of the text for blocks (blocks.go,
// markdown.go), makes units of them, pieces that fit the limits (units.go), and
// packs the units into chunks (pack.go). The sentence mode packs sentences.
//
// Never: calls a model, reads a file, or decides what a chunk is worth. Sizes
// are counted in the model's own tokens through the one-method [Tokenizer].
package chunker
