// Package landmark turns the chunks of a document into vectors by landmark
// pooling (arXiv 2601.21525).
//
// In: texts with the chunk ranges that tile them, or queries.
//
// Out: an [Embedding] for each: one unit vector per chunk, read at the landmark
// token that closes the chunk, and their pooled document vector. A text longer
// than the model's window is encoded in several windows, so no chunk is
// ever without a vector and nothing is truncated.
//
// Never: chooses where a document is cut, stores, ranks, or links native code.
// The model itself is behind the [Encoder] and [Tokenizer] interfaces;
// landmark/onnx implements both, landmark/landmarktest fakes them.
//
// A [Model] has the method set of langchaingo's embeddings.Embedder.
package landmark
