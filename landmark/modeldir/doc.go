// Package modeldir reads model directories.
//
// In: a file system with a waymark.json, or with the files sentence-transformers
// saves next to an ONNX export (modules.json and what it names, in the dialects
// before and since release 5.4).
//
// Out: a [Spec]: how texts are fed and vectors read, the verified graph, and the
// tokenizer file with its truncation and padding switched off.
//
// Never: runs a model, links native code, or guesses. What it does not know how
// to reproduce exactly (dense layers, other poolings, unknown keys) is refused by
// name. The format is described in docs/model-format.md.
package modeldir
