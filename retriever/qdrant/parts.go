package qdrant

import (
	"cmp"
	"context"
	"slices"
	"strings"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/waymark-rag/waymark/retriever"
)

// partFields are what is wanted of a part that was found.
var partFields = []string{keyDocument, keyVersion, keyPart, keyFirst, keyPending}

// part is a point that was found.
type part struct {
	document, version string
	number, first     int
	pending           bool
	landmarks         []float64 // scores of its chunks
	lexical           []float64 // of its chunks; nil if words did not find it
	byVector          bool
}

// head is what is known of a document.
type head struct {
	version string
	score   float64
}

// leftover is a part of another version than the one that is there, or one that
// was still pending.
type leftover struct {
	document, version, there string
	number                   int
}

func (a leftover) compare(b leftover) int {
	return cmp.Or(strings.Compare(a.document, b.document), strings.Compare(a.version, b.version), strings.Compare(a.there, b.there), cmp.Compare(a.number, b.number))
}

// found notes a part that a search by landmarks returned.
func (r *search) found(p *pb.ScoredPoint) *part {
	f := r.partOf(p)
	if f.landmarks == nil && r.part == 1 {
		f.landmarks = []float64{float64(p.GetScore())}
	}
	if f.landmarks == nil {
		for _, row := range landmarks(vectorsOf(p)) {
			f.landmarks = append(f.landmarks, retriever.Dot(r.q.Vector, row))
		}
	}
	return f
}

// partOf returns what is known of a part, which may be new.
func (r *search) partOf(p *pb.ScoredPoint) *part {
	id := p.GetId().GetUuid()
	f, ok := r.parts[id]
	if !ok {
		f = newPart(p)
		r.parts[id] = f
	}
	return f
}

func newPart(p *pb.ScoredPoint) *part {
	return &part{
		document: text(p, keyDocument), version: text(p, keyVersion), number: number(p, keyPart), first: number(p, keyFirst),
		pending: p.GetPayload()[keyPending] != nil,
	}
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
		for some := range slices.Chunk(points, pagePoints) {
			req := r.base(using, len(some), fields...)
			req.Query, req.Filter, req.WithVectors = pb.NewQueryDense(r.q.Vector), &pb.Filter{Must: []*pb.Condition{pb.NewHasID(some...)}}, rows
			exact := true
			req.Params = &pb.SearchParams{Exact: &exact}
			out = append(out, b.add(req))
		}
		return out
	}
	byLandmark = ask(vectorLandmarks, points, r.landmarkRows(), partFields...)
	byDocument = ask(vectorDoc, r.headIDs(ids), withVectors(nil), keyDocument, keyVersion)
	if err := b.run(ctx, r.Store); err != nil {
		return err
	}
	for _, a := range byLandmark {
		a.each(func(p *pb.ScoredPoint) { r.found(p) })
	}
	for _, a := range byDocument {
		a.each(func(p *pb.ScoredPoint) {
			r.documents[text(p, keyDocument)] = &head{text(p, keyVersion), float64(p.GetScore())}
		})
	}
	return nil
}

// leaveOut drops the parts that are not of the version that is there.
func (r *search) leaveOut() {
	for id, p := range r.parts {
		h, ok := r.documents[p.document]
		whole := ok && h.version == p.version && (r.q.Vector == nil || p.landmarks != nil)
		if !whole || p.pending && p.number > 0 {
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
