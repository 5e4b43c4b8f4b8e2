package langchain

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/tmc/langchaingo/schema"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

// prepared is a schema.Document on its way into a store.
type prepared struct {
	chunker.Document
	hash  string
	place place
}

// place is where a text stands in its file.
type place struct {
	known       bool
	source      chunker.Range
	first, last int  // lines, 0 if unknown
	verbatim    bool // the text is these very bytes, so that places in it are known too
}

// prepare turns a document into ours. It changes nothing of d and keeps none of its
// metadata.
func prepare(d schema.Document) (prepared, error) {
	var p prepared
	if isBlank(d.PageContent) {
		return p, errors.New("its text is empty: there is nothing to find")
	}
	var err error
	if p.Metadata, err = storeMetadata(d.Metadata); err != nil {
		return p, err
	}
	if p.place, err = placeOf(d); err != nil {
		return p, err
	}
	p.Text, p.Source = repairText(d.PageContent)
	if isBlank(p.Text) {
		return p, errors.New("its text is nothing but a byte order mark: there is nothing to find")
	}
	if title, ok := p.Metadata[MetaTitle].(string); ok {
		p.Title = title
	}
	switch p.Metadata[MetaFormat] {
	case string(chunker.Markdown):
		p.Syntax = chunker.Markdown
	case string(chunker.Code):
		p.Syntax = chunker.Code
	}
	all, err := encodeValue([]any{p.Text, p.Metadata, p.place.source.Start, p.place.source.End, p.place.first})
	if err != nil {
		return p, err
	}
	sum := sha256.Sum256(all)
	p.hash = hex.EncodeToString(sum[:])
	p.ID = hex.EncodeToString(sum[:16])
	if id, ok := d.Metadata[MetaID].(string); ok && id != "" {
		p.ID = repairName(id)
	}
	return p, nil
}

// placeOf reads where the text of d stands in its file, if a Loader or a search
// has said so.
func placeOf(d schema.Document) (place, error) {
	values := make(map[string]int)
	for _, key := range []string{MetaSourceStart, MetaSourceEnd, MetaFirstLine, MetaLastLine, MetaStart, MetaEnd} {
		v, ok := d.Metadata[key]
		if !ok {
			continue
		}
		n, ok := wholeNumber(v)
		if !ok || n < 0 {
			return place{}, fmt.Errorf("metadata %q: %v: want a whole number of 0 or more, as a Loader or a search sets it", key, v)
		}
		values[key] = n
	}
	p := place{
		source: chunker.Range{Start: values[MetaSourceStart], End: values[MetaSourceEnd]},
		first:  values[MetaFirstLine],
		last:   values[MetaLastLine],
	}
	_, start := values[MetaSourceStart]
	_, end := values[MetaSourceEnd]
	_, passage := values[MetaEnd]
	switch {
	case !start || !end:
		return place{}, nil // half of it says nothing
	case passage && values[MetaEnd]-values[MetaStart] != len(d.PageContent):
		return place{}, nil // it is the place of a passage, and this its document or its text with a label
	}
	if p.source.Len() < 0 || p.last < p.first || p.first == 0 && p.last > 0 {
		return place{}, fmt.Errorf("metadata %q to %q: bytes %s, lines %d to %d: want each range to end where it starts or later", MetaSourceStart, MetaLastLine, p.source, p.first, p.last)
	}
	p.known, p.verbatim = true, p.source.Len() == len(d.PageContent)
	return p, nil
}

// wholeNumber reads any kind of number, since metadata may have been JSON.
func wholeNumber(v any) (int, bool) {
	native, _ := filterable(v)
	switch n := native.(type) {
	case int64:
		return int(n), true
	case float64:
		return int(n), n == float64(int(n))
	}
	return 0, false
}

// stored puts together what the store keeps.
func (p *prepared) stored(chunks []chunker.Chunk, e landmark.Embedding) (retriever.Document, error) {
	if len(e.Landmarks) != len(chunks) || len(e.Norms) != len(chunks) {
		return retriever.Document{}, fmt.Errorf("the embedder returned %d vectors for %d chunks", len(e.Landmarks), len(chunks))
	}
	out := retriever.Document{
		ID:       p.ID,
		Title:    p.Title,
		Hash:     p.hash,
		Text:     p.Text,
		Metadata: p.Metadata,
		Vector:   e.Document,
	}
	firstOfText, _ := p.Lines(chunker.Range{Start: 0, End: len(p.Text)})
	for i, c := range chunks {
		source := p.Source.Tile(c.Range)
		first, last := p.Lines(c.Range)
		switch {
		case p.place.verbatim:
			source.Start += p.place.source.Start
			source.End += p.place.source.Start
			first += p.place.first - firstOfText
			last += p.place.first - firstOfText
		case p.place.known:
			source, first, last = p.place.source, p.place.first, p.place.last
		}
		if p.place.known && p.place.first == 0 {
			first, last = 0, 0
		}
		out.Chunks = append(out.Chunks, retriever.Chunk{
			Text:     c.Range,
			Source:   source,
			Lines:    retriever.Lines{First: first, Last: last},
			Tokens:   c.Tokens,
			Headings: c.Headings,
			Header:   c.Header,
			Vector:   e.Landmarks[i],
			Norm:     e.Norms[i],
		})
	}
	return out, nil
}

// input is what the embedder is given.
func (p *prepared) input(chunks []chunker.Chunk) landmark.Input {
	in := landmark.Input{Text: p.Text, Above: pipeline.Above(p.Document)}
	for _, c := range chunks {
		in.Chunks = append(in.Chunks, c.Range)
	}
	return in
}
