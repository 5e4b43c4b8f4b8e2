package qdrant

import (
	"context"
	"math"

	pb "github.com/qdrant/go-client/qdrant"
)

// round searches by all sources, reach parts each, and fills in all scores.
func (r *search) round(ctx context.Context, reach int) error {
	r.parts, r.documents, r.left = make(map[string]*part), make(map[string]*head), nil
	r.denseBound, r.lexicalBound = math.Inf(-1), math.Inf(-1)
	var b batch
	var byLandmark, byDocument, byWords *answer
	w, spread := r.q.Weights, r.spreads()
	if r.q.Vector != nil && w.Landmark > 0 && !spread {
		byLandmark = b.add(r.landmarkQuery(reach))
	}
	if r.q.Vector != nil && w.Document > 0 && (r.opts.Search.Exact || w.Landmark == 0) {
		byDocument = b.add(r.documentQuery(reach))
	}
	if len(r.terms) > 0 && !spread {
		byWords = b.add(r.wordQuery(reach))
	}
	frequency := r.askFrequencies(&b)
	if err := b.run(ctx, r.Store); err != nil {
		return err
	}
	if spread && r.q.Vector != nil && w.Landmark > 0 {
		var err error
		if byLandmark, err = r.spread(ctx, r.landmarkQuery(reach)); err != nil {
			return err
		}
	}
	if spread && len(r.terms) > 0 {
		var err error
		if byWords, err = r.spread(ctx, r.wordQuery(reach)); err != nil {
			return err
		}
	}

	byLandmark.each(func(p *pb.ScoredPoint) { r.found(p).byVector = true })
	if byDocument != nil {
		if err := r.withinDocuments(ctx, reach, byDocument); err != nil {
			return err
		}
	}
	if byLandmark != nil {
		r.denseBound = r.bound(byLandmark, byDocument)
	}
	r.scoreWords(byWords, frequency)
	if byWords != nil && byWords.more {
		r.lexicalBound = byWords.last()
	}
	if err := r.complete(ctx); err != nil {
		return err
	}
	r.leaveOut()
	return nil
}

// base is what all searches have in common.
func (r *search) base(using string, limit int, fields ...string) *pb.QueryPoints {
	return &pb.QueryPoints{
		CollectionName: r.collection, Using: &using, Limit: pb.PtrOf(uint64(limit)), Filter: r.mine(r.conditions...),
		WithPayload: include(fields), WithVectors: withVectors(nil), ShardKeySelector: r.shard,
	}
}

// params are those of a search by a graph.
func (r *search) params() *pb.SearchParams {
	if r.opts.Search.Exact {
		exact := true
		return &pb.SearchParams{Exact: &exact}
	}
	p := &pb.SearchParams{HnswEf: optional[uint64](r.opts.Search.HNSWEf)}
	if r.opts.Layout.Quantization != NoQuantization || r.opts.Search.Oversampling > 0 {
		rescore := true
		p.Quantization = &pb.QuantizationSearchParams{Rescore: &rescore}
		if r.opts.Search.Oversampling > 0 {
			p.Quantization.Oversampling = &r.opts.Search.Oversampling
		}
	}
	return p
}

// landmarkQuery finds parts by their best landmark: by a graph where each part is
// one landmark, over all parts in exact search, and else by MaxSim among what the
// means, the documents and the words find.
func (r *search) landmarkQuery(reach int) *pb.QueryPoints {
	req := r.base(vectorLandmarks, reach, partFields...)
	req.Query = pb.NewQueryDense(r.q.Vector)
	req.WithVectors = r.landmarkRows()
	if r.part == 1 || r.opts.Search.Exact {
		req.Params = r.params()
		return req
	}
	prefetch := func(using string, query *pb.Query, params *pb.SearchParams) {
		req.Prefetch = append(req.Prefetch, &pb.PrefetchQuery{Using: &using, Query: query, Params: params, Limit: pb.PtrOf(uint64(reach)), Filter: req.Filter})
	}
	prefetch(vectorPart, pb.NewQueryDense(r.q.Vector), r.params())
	prefetch(vectorDoc, pb.NewQueryDense(r.q.Vector), r.params())
	if len(r.terms) > 0 {
		prefetch(vectorText, r.sparseQuery(r.terms...), nil)
	}
	return req
}

// landmarkRows asks for landmarks where a part has several.
func (r *search) landmarkRows() *pb.WithVectorsSelector {
	if r.part == 1 {
		return withVectors(nil)
	}
	return withVectors([]string{vectorLandmarks})
}

func (r *search) documentQuery(reach int) *pb.QueryPoints {
	req := r.base(vectorDoc, reach, keyDocument, keyVersion, keyChunkCount)
	req.Query = pb.NewQueryDense(r.q.Vector)
	req.Params = r.params()
	return req
}

// bound is the best dense score that a chunk can have which was not found. One of
// a document that byDocument lacks scores no more than the last of both lists
// together; one of a document that it has, no more than that with the best
// document's score (this is Fagin's threshold algorithm).
func (r *search) bound(byLandmark, byDocument *answer) float64 {
	if !byLandmark.more {
		return math.Inf(-1) // all were found
	}
	w := r.q.Weights
	landmark := w.Landmark * byLandmark.last()
	if byDocument == nil || len(byDocument.points) == 0 {
		return landmark
	}
	return landmark + w.Document*float64(byDocument.points[0].GetScore())
}
