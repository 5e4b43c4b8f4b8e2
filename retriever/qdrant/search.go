package qdrant

import (
	"context"
	"math"
	"slices"

	pb "github.com/qdrant/go-client/qdrant"
)

// partFields are what is wanted of a part that was found.
var partFields = []string{keyDocument, keyVersion, keyPart, keyFirst, keyPending}

// groupSlack is how many more parts of each document are asked for than needed,
// since the server cuts equal scores at random.
const groupSlack = 8

// round searches by all sources, reach parts each, and fills in all scores.
func (r *search) round(ctx context.Context, reach int) error {
	r.parts, r.documents, r.left = make(map[string]*part), make(map[string]*head), nil
	r.denseBound, r.lexicalBound = math.Inf(-1), math.Inf(-1)
	var b batch
	var byLandmark, byDocument, byWords *answer
	w := r.q.Weights
	if r.q.Vector != nil && w.Landmark > 0 {
		byLandmark = b.add(r.landmarkQuery(reach))
	}
	if r.q.Vector != nil && w.Document > 0 && (r.opts.Search.Exact || w.Landmark == 0) {
		byDocument = b.add(r.documentQuery(reach))
	}
	if len(r.terms) > 0 {
		byWords = b.add(r.wordQuery(reach))
	}
	frequency := r.askFrequencies(&b)
	if err := b.run(ctx, r.Store); err != nil {
		return err
	}

	byLandmark.each(func(p *pb.ScoredPoint) { r.found(p).byVector = true })
	if byDocument != nil {
		if err := r.withinDocuments(ctx, reach, byDocument); err != nil {
			return err
		}
	}
	if byLandmark != nil {
		r.denseBound = r.bound(reach, byLandmark, byDocument)
	}
	r.scoreWords(byWords, frequency)
	if byWords != nil && len(byWords.points) == reach {
		r.lexicalBound = float64(byWords.points[reach-1].GetScore())
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
		r.documents[field(p, keyDocument)] = &head{field(p, keyVersion), float64(p.GetScore())}
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
			n := int(p.GetPayload()[keyChunkCount].GetIntegerValue())
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
	req := r.base(vectorLandmarks, want, partFields...)
	req.Query, req.Params, req.WithVectors = pb.NewQueryDense(r.q.Vector), r.params(), r.landmarkRows()
	req.Filter = r.within(docs)
	var b batch
	found := b.add(req)
	if err := b.run(ctx, r.Store); err != nil {
		return err
	}
	found.each(func(p *pb.ScoredPoint) { r.found(p).byVector = true })
	return nil
}

// within restricts a search to documents that were found.
func (r *search) within(docs []*pb.ScoredPoint) *pb.Filter {
	ids := make([]string, len(docs))
	for i, p := range docs {
		ids[i] = field(p, keyDocument)
	}
	return r.mine(append(r.conditions[:len(r.conditions):len(r.conditions)], pb.NewMatchKeywords(keyDocument, ids...))...)
}

// bestOfEach finds the best parts of each of the documents. In exact search it
// returns those of which it cannot tell the best, since the server cut parts of
// the same score at random or left a group out, and how many parts they have.
func (r *search) bestOfEach(ctx context.Context, docs []*pb.ScoredPoint) (unsure []*pb.ScoredPoint, parts int, err error) {
	req := r.base(vectorLandmarks, 0, partFields...)
	size := r.q.PerDocument + groupSlack
	groups, err := call(ctx, r.Store, "searching in documents", func(ctx context.Context, client *pb.Client) ([]*pb.PointGroup, error) {
		return client.QueryGroups(ctx, &pb.QueryPointGroups{
			CollectionName: r.collection, Using: req.Using, Query: pb.NewQueryDense(r.q.Vector), Params: r.params(),
			Filter: r.within(docs), GroupBy: keyDocument,
			Limit: pb.PtrOf(uint64(len(docs))), GroupSize: pb.PtrOf(uint64(size)),
			WithPayload: req.WithPayload, WithVectors: r.landmarkRows(), ShardKeySelector: r.shard,
		})
	})
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
		if chunks := int(p.GetPayload()[keyChunkCount].GetIntegerValue()); r.opts.Search.Exact && chunks > 0 && !sure[field(p, keyDocument)] {
			unsure = append(unsure, p)
			parts += chunks
		}
	}
	return unsure, parts, nil
}

// bound is the best dense score that a chunk can have which was not found. One of
// a document that byDocument lacks scores no more than the last of both lists
// together; one of a document that it has, no more than that with the best
// document's score (this is Fagin's threshold algorithm).
func (r *search) bound(reach int, byLandmark, byDocument *answer) float64 {
	if len(byLandmark.points) < reach {
		return math.Inf(-1) // all were found
	}
	w := r.q.Weights
	landmark := w.Landmark * float64(byLandmark.points[reach-1].GetScore())
	if byDocument == nil || len(byDocument.points) == 0 {
		return landmark
	}
	return landmark + w.Document*float64(byDocument.points[0].GetScore())
}

// found notes a part that a search by landmarks returned.
func (r *search) found(p *pb.ScoredPoint) *part {
	id := p.GetId().GetUuid()
	f, ok := r.parts[id]
	if !ok {
		f = newPart(p)
		r.parts[id] = f
	}
	if f.landmarks == nil && r.part == 1 {
		f.landmarks = []float64{float64(p.GetScore())}
	}
	if f.landmarks == nil {
		for _, row := range landmarks(vectorsOf(p)) {
			f.landmarks = append(f.landmarks, dot(r.q.Vector, row))
		}
	}
	return f
}

func newPart(p *pb.ScoredPoint) *part {
	payload := p.GetPayload()
	return &part{
		document: field(p, keyDocument), version: field(p, keyVersion),
		number: int(payload[keyPart].GetIntegerValue()), first: int(payload[keyFirst].GetIntegerValue()),
		pending: payload[keyPending] != nil,
	}
}

func field(p *pb.ScoredPoint, key string) string { return p.GetPayload()[key].GetStringValue() }

func dot(a, b []float32) float64 {
	var sum float64
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

// complete fills in what the searches did not say: the landmark scores of parts
// that only words found, and for every document its score and its version.
func (r *search) complete(ctx context.Context) error {
	var ids []string
	var points []*pb.PointId
	asked := make(map[string]bool)
	for id, p := range r.parts {
		if p.landmarks == nil {
			points = append(points, pb.NewIDUUID(id))
		}
		if r.documents[p.document] == nil && !asked[p.document] {
			asked[p.document] = true
			ids = append(ids, p.document)
		}
	}
	if r.q.Vector == nil {
		heads, err := r.readHeads(ctx, ids, keyDocument, keyVersion)
		for _, p := range heads {
			r.documents[text(p, keyDocument)] = &head{version: text(p, keyVersion)}
		}
		return err
	}
	var b batch
	var byLandmark, byDocument []*answer
	ask := func(using string, points []*pb.PointId, rows *pb.WithVectorsSelector, fields ...string) (out []*answer) {
		for some := range slices.Chunk(points, headsPerCall) {
			req := r.base(using, len(some), fields...)
			req.Query, req.Filter, req.WithVectors = pb.NewQueryDense(r.q.Vector), &pb.Filter{Must: []*pb.Condition{pb.NewHasID(some...)}}, rows
			exact := true
			req.Params = &pb.SearchParams{Exact: &exact}
			out = append(out, b.add(req))
		}
		return out
	}
	heads := make([]*pb.PointId, len(ids))
	for i, id := range ids {
		heads[i] = headID(r.opts.Tenant, id)
	}
	byLandmark = ask(vectorLandmarks, points, r.landmarkRows(), partFields...)
	byDocument = ask(vectorDoc, heads, withVectors(nil), keyDocument, keyVersion)
	if err := b.run(ctx, r.Store); err != nil {
		return err
	}
	for _, a := range byLandmark {
		a.each(func(p *pb.ScoredPoint) { r.found(p) })
	}
	for _, a := range byDocument {
		a.each(func(p *pb.ScoredPoint) {
			r.documents[field(p, keyDocument)] = &head{field(p, keyVersion), float64(p.GetScore())}
		})
	}
	return nil
}

// leaveOut drops the parts that are not of the version that is there.
func (r *search) leaveOut() {
	for id, p := range r.parts {
		h, ok := r.documents[p.document]
		whole := ok && h.version == p.version && (r.q.Vector == nil || p.landmarks != nil)
		if !whole || p.pending {
			l := leftover{document: p.document, version: p.version, number: p.number}
			if ok {
				l.there = h.version
			}
			r.left = append(r.left, l)
		}
		if !whole {
			delete(r.parts, id)
		}
	}
	slices.SortFunc(r.left, leftover.compare)
}
