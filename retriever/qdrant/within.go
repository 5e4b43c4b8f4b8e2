package qdrant

import (
	"context"
	"math"

	pb "github.com/qdrant/go-client/qdrant"
)

// withinDocuments finds the best chunks of the documents that were found. Where
// the document decides alone, only so many documents are looked into as have
// enough chunks.
func (r *search) withinDocuments(ctx context.Context, reach int, byDocument *answer) error {
	w, want := r.q.Weights, reach
	docs := byDocument.points
	last := math.Inf(-1) // the best score of a document that is not looked into
	if len(docs) == reach {
		last = float64(docs[reach-1].GetScore())
	}
	for _, p := range docs {
		r.documents[text(p, keyDocument)] = &head{text(p, keyVersion), float64(p.GetScore())}
	}
	if w.Landmark == 0 {
		r.denseBound = w.Document * last
		want = 0
		for i, p := range docs {
			if want >= r.q.Limit && p.GetScore() < docs[i-1].GetScore() {
				r.denseBound = w.Document * float64(p.GetScore())
				docs = docs[:i]
				break
			}
			n := number(p, keyChunkCount)
			if r.q.PerDocument > 0 {
				n = min(n, r.q.PerDocument)
			}
			want += n
		}
	}
	if len(docs) == 0 || want == 0 {
		return nil
	}
	if r.q.PerDocument > 0 {
		var err error
		if docs, want, err = r.bestOfEach(ctx, docs); err != nil || len(docs) == 0 {
			return err
		}
	}
	var b batch
	found := b.add(r.within(docs, want))
	if err := b.run(ctx, r.Store); err != nil {
		return err
	}
	found.each(func(p *pb.ScoredPoint) { r.found(p).byVector = true })
	return nil
}

// within is a search by landmarks in documents that were found.
func (r *search) within(docs []*pb.ScoredPoint, limit int) *pb.QueryPoints {
	ids := make([]string, len(docs))
	for i, p := range docs {
		ids[i] = text(p, keyDocument)
	}
	req := r.base(vectorLandmarks, limit, partFields...)
	req.Query, req.Params, req.WithVectors = pb.NewQueryDense(r.q.Vector), r.params(), r.landmarkRows()
	req.Filter = r.mine(r.and(pb.NewMatchKeywords(keyDocument, ids...))...)
	return req
}

// and are the conditions of the search and one more.
func (r *search) and(c *pb.Condition) []*pb.Condition {
	return append(r.conditions[:len(r.conditions):len(r.conditions)], c)
}

// bestOfEach finds the best parts of each of the documents. In exact search it
// returns those of which it cannot tell the best, since the server cut parts of
// the same score at random or left a group out, and how many parts they have.
func (r *search) bestOfEach(ctx context.Context, docs []*pb.ScoredPoint) (unsure []*pb.ScoredPoint, parts int, err error) {
	size := r.q.PerDocument + groupSlack
	groups, err := r.groups(ctx, r.within(docs, len(docs)), len(docs), size)
	if err != nil {
		return nil, 0, err
	}
	sure := make(map[string]bool, len(groups))
	for _, g := range groups {
		hits := g.GetHits()
		for _, p := range hits {
			r.found(p).byVector = true
		}
		sure[g.GetId().GetStringValue()] = len(hits) < size || hits[size-1].GetScore() < hits[r.q.PerDocument-1].GetScore()
	}
	for _, p := range docs {
		if chunks := number(p, keyChunkCount); r.opts.Search.Exact && chunks > 0 && !sure[text(p, keyDocument)] {
			unsure = append(unsure, p)
			parts += chunks
		}
	}
	return unsure, parts, nil
}
