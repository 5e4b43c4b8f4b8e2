package retriever

import (
	"context"
	"maps"
	"slices"

	"github.com/waymark-rag/waymark/chunker"
)

// span is a run of chunks of one document that becomes a hit.
type span struct {
	best        found // the highest ranked of its candidates
	first, last int   // chunk indexes, neighbours left out
}

// merge turns ranked candidates into at most K spans. The K best candidates are
// merged where, widened by their neighbours, they touch; later ones only open
// spans of their own, so that in a small collection the hits do not grow into
// whole documents.
func merge(pool []found, req Request) []span {
	reach := 2*req.Neighbours + 1
	var spans []span
	for i, f := range pool {
		var touching []int
		ofDocument := 0
		for n, s := range spans {
			if s.best.Document != f.Document {
				continue
			}
			ofDocument++
			if f.Chunk >= s.first-reach && f.Chunk <= s.last+reach {
				touching = append(touching, n)
			}
		}
		switch {
		case len(touching) > 0 && i < req.K:
			s := &spans[touching[0]]
			s.first, s.last = min(s.first, f.Chunk), max(s.last, f.Chunk)
			for _, n := range slices.Backward(touching[1:]) { // f closes the gap between two
				s.first, s.last = min(s.first, spans[n].first), max(s.last, spans[n].last)
				spans = slices.Delete(spans, n, n+1)
			}
		case len(touching) > 0:
		case len(spans) == req.K:
			return spans
		case req.PerDocument == 0 || ofDocument < req.PerDocument:
			spans = append(spans, span{f, f.Chunk, f.Chunk})
		}
	}
	return spans
}

// passages reads the text of the spans. A span that is no longer there is left
// out, and complete is then false.
func passages(ctx context.Context, store Store, spans []span, req Request) (hits []Hit, complete bool, err error) {
	best := make([]found, len(spans))
	only := make(map[string][][2]int)
	for i, s := range spans {
		best[i] = s.best
		only[s.best.Document] = append(only[s.best.Document], [2]int{s.first - req.Neighbours, s.last + req.Neighbours})
	}
	documents, err := fetch(ctx, store, ids(best), Want{Text: true, Chunks: true, Only: only})
	if err != nil {
		return nil, false, err
	}
	hits = make([]Hit, 0, len(spans))
	for _, s := range spans {
		d, ok := documents[s.best.Document]
		if ok && s.last < len(d.Chunks) {
			s.first = max(s.first-req.Neighbours, 0)
			s.last = min(s.last+req.Neighbours, len(d.Chunks)-1)
			hits = append(hits, s.hit(d, req))
		}
	}
	return hits, len(hits) == len(spans), nil
}

func (s span) hit(d Document, req Request) Hit {
	first, last := d.Chunks[s.first], d.Chunks[s.last]
	r := chunker.Range{Start: first.Text.Start, End: last.Text.End}
	return Hit{
		Document: d.ID,
		Title:    d.Title,
		Metadata: maps.Clone(d.Metadata), // which hits of one document would share
		Headings: d.Chunks[s.best.Chunk].Headings,
		Text:     r.Of(d.Text),
		Range:    r,
		Source:   chunker.Range{Start: first.Source.Start, End: last.Source.End},
		Lines:    Lines{first.Lines.First, last.Lines.Last},
		Place:    first.Place.Through(last.Place),
		Header:   first.Header.Of(d.Text),
		Chunk:    s.best.Chunk,
		Chunks:   [2]int{s.first, s.last},
		Score:    s.best.Score,
		Rule:     s.best.rule(req),
	}
}
