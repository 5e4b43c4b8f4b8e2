package ingest

import "github.com/waymark-rag/waymark/chunker"

// textReader takes a file as it is: plain text or source code.
type textReader struct {
	syntax chunker.Syntax
}

func (r textReader) read(_ *budget, data []byte) (chunker.Document, *Skip) {
	src, skip := decode(data)
	if skip != nil {
		return chunker.Document{}, skip
	}
	doc := src.document(0)
	doc.Syntax = r.syntax
	return doc, nil
}
