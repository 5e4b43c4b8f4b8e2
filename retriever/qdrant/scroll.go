package qdrant

import (
	"context"
	"iter"
	"slices"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/waymark-rag/waymark/retriever"
)

// matching returns the IDs of the documents that a filter matches, in order.
func (s *Store) matching(ctx context.Context, filter retriever.Filter) ([]string, error) {
	conditions, empty, err := s.conditions(ctx, filter)
	if err != nil || empty {
		return nil, err
	}
	var ids []string
	err = s.pages(ctx, s.heads(conditions...), []string{keyDocument}, func(points []*pb.RetrievedPoint) error {
		for _, p := range points {
			ids = append(ids, text(p, keyDocument))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(filter.All) > 0 && (len(ids) == 0 || meetsMissing(filter)) {
		if err := s.checkKeys(ctx, filter); err != nil {
			return nil, err
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// Scroll implements retriever.Store. The server has no order by strings, so the
// IDs are read first and kept.
func (s *Store) Scroll(ctx context.Context, filter retriever.Filter, want retriever.Want) iter.Seq2[retriever.Document, error] {
	return func(yield func(retriever.Document, error) bool) {
		ids, err := s.scrollIDs(ctx, filter)
		if err != nil {
			yield(retriever.Document{}, err)
			return
		}
		size := scrollHeads
		if want.Text || want.Chunks {
			size = scrollWhole
		}
		for batch := range slices.Chunk(ids, size) {
			docs, err := s.Fetch(ctx, batch, want)
			if err != nil {
				yield(retriever.Document{}, err)
				return
			}
			for _, d := range docs {
				if !yield(d, nil) {
					return
				}
			}
		}
	}
}

func (s *Store) scrollIDs(ctx context.Context, filter retriever.Filter) ([]string, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	return s.matching(ctx, filter)
}

// Stats implements retriever.Store. The server does not say how many bytes a
// tenant takes.
func (s *Store) Stats(ctx context.Context) (retriever.Stats, error) {
	if err := s.enter(ctx); err != nil {
		return retriever.Stats{}, err
	}
	defer s.leave()
	// How many documents there are of each number of chunks.
	hits, err := s.facet(ctx, "counting chunks", keyChunkCount, s.heads())
	if err != nil {
		return retriever.Stats{}, err
	}
	var out retriever.Stats
	for _, h := range hits {
		out.Documents += int(h.GetCount())
		out.Chunks += int(h.GetCount()) * int(h.GetValue().GetIntegerValue())
	}
	return out, nil
}
