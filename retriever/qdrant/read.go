package qdrant

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/waymark-rag/waymark/retriever"
)

// The sizes of the calls that read.
const (
	pagePoints   = 1000 // without vectors
	pageVectors  = 64   // with them
	scrollHeads  = 256  // documents read at a time
	scrollWhole  = 16
	headsPerCall = 1000
)

// attempts is how often a read starts again because what it reads was replaced
// meanwhile, after a pause that grows by onePause each time.
const (
	attempts = 30
	onePause = 2 * time.Millisecond
)

// pause waits before a read starts again.
func pause(ctx context.Context, again int) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(again) * onePause):
		return nil
	}
}

// readHeads returns the first points of the documents that are there, in no
// order, with the fields of the payload named.
func (s *Store) readHeads(ctx context.Context, ids []string, fields ...string) ([]*pb.RetrievedPoint, error) {
	return s.readHeadsWith(ctx, ids, nil, fields...)
}

func (s *Store) readHeadsWith(ctx context.Context, ids []string, vectors []string, fields ...string) ([]*pb.RetrievedPoint, error) {
	var out []*pb.RetrievedPoint
	for batch := range slices.Chunk(ids, headsPerCall) {
		req := &pb.GetPoints{CollectionName: s.collection, WithPayload: include(fields), WithVectors: withVectors(vectors), ShardKeySelector: s.shard}
		for _, id := range batch {
			req.Ids = append(req.Ids, headID(s.opts.Tenant, id))
		}
		points, err := call(ctx, s, "reading documents", func(ctx context.Context, client *pb.Client) ([]*pb.RetrievedPoint, error) {
			return client.Get(ctx, req)
		})
		if err != nil {
			return nil, err
		}
		out = append(out, points...)
	}
	return out, nil
}

func include(fields []string) *pb.WithPayloadSelector {
	if len(fields) == 0 {
		return pb.NewWithPayload(false)
	}
	return pb.NewWithPayloadInclude(fields...)
}

func withVectors(names []string) *pb.WithVectorsSelector {
	if len(names) == 0 {
		return pb.NewWithVectors(false)
	}
	return pb.NewWithVectorsInclude(names...)
}

// pages goes through all points that a filter matches.
func (s *Store) pages(ctx context.Context, filter *pb.Filter, fields, vectors []string, each func([]*pb.RetrievedPoint) error) error {
	limit := uint32(pagePoints)
	if len(vectors) > 0 {
		limit = pageVectors
	}
	var offset *pb.PointId
	for {
		points, next, err := s.page(ctx, filter, offset, limit, include(fields), withVectors(vectors))
		if err != nil {
			return err
		}
		if err := each(points); err != nil {
			return err
		}
		if offset = next; offset == nil {
			return nil
		}
	}
}

// page reads up to limit points from an offset, and says where the next page
// begins, nil after the last.
func (s *Store) page(ctx context.Context, filter *pb.Filter, offset *pb.PointId, limit uint32, payload *pb.WithPayloadSelector, vectors *pb.WithVectorsSelector) (points []*pb.RetrievedPoint, next *pb.PointId, err error) {
	points, err = call(ctx, s, "reading points", func(ctx context.Context, client *pb.Client) ([]*pb.RetrievedPoint, error) {
		var page []*pb.RetrievedPoint
		page, next, err = client.ScrollAndOffset(ctx, &pb.ScrollPoints{
			CollectionName: s.collection, Filter: filter, Offset: offset, Limit: &limit,
			WithPayload: payload, WithVectors: vectors, ShardKeySelector: s.shard,
		})
		return page, err
	})
	return points, next, err
}

// Fetch implements retriever.Store.
func (s *Store) Fetch(ctx context.Context, ids []string, want retriever.Want) ([]retriever.Document, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	return s.fetch(ctx, ids, want)
}

func (s *Store) fetch(ctx context.Context, ids []string, want retriever.Want) ([]retriever.Document, error) {
	found := make(map[string]*assembly, len(ids))
	missing := slices.Compact(slices.Sorted(slices.Values(ids)))
	for again := range attempts {
		if err := pause(ctx, again); err != nil {
			return nil, err
		}
		var err error
		if missing, err = s.assemble(ctx, missing, want, found); err != nil {
			return nil, err
		}
		if len(missing) == 0 {
			break
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("document %q of collection %q lacks parts: index it again", missing[0], s.collection)
	}
	out := make([]retriever.Document, 0, len(ids))
	given := make(map[string]bool, len(ids))
	for _, id := range ids {
		a, ok := found[id]
		if !ok {
			continue
		}
		d := a.document
		if given[id] { // what is returned belongs to the caller, each of it
			again, err := a.build(want)
			if err != nil {
				return nil, err
			}
			d = again
		}
		given[id] = true
		out = append(out, d)
	}
	return out, nil
}

// assembly is a document being put together from its points.
type assembly struct {
	head     *pb.RetrievedPoint
	parts    []*pb.RetrievedPoint // all of the head's version, in order
	document retriever.Document
}

var headFields = []string{keyDocument, keyTitle, keyHash, keyMetadata, keyVersion, keyParts, keyPart, keyChunkCount}

// assemble reads documents whole. It returns the IDs of those that were replaced
// meanwhile, so that their parts are of two versions.
func (s *Store) assemble(ctx context.Context, ids []string, want retriever.Want, found map[string]*assembly) (again []string, err error) {
	fields, vectors := slices.Clone(headFields), []string(nil)
	if want.Text {
		fields = append(fields, keyText)
	}
	if want.Chunks {
		fields = append(fields, keyChunks)
	}
	if want.Vectors {
		vectors = append(vectors, vectorDoc)
		if want.Chunks {
			vectors = append(vectors, vectorLandmarks)
		}
	}
	heads, err := s.readHeadsWith(ctx, ids, vectors, fields...)
	if err != nil {
		return nil, err
	}
	var long []string
	for _, p := range heads {
		a := &assembly{head: p, parts: []*pb.RetrievedPoint{p}}
		id := p.GetPayload()[keyDocument].GetStringValue()
		found[id] = a
		if (want.Text || want.Chunks) && number(p, keyParts) > 1 {
			long = append(long, id)
		}
	}
	for batch := range slices.Chunk(long, headsPerCall) {
		later := []*pb.Condition{pb.NewMatchKeywords(keyDocument, batch...), pb.NewRange(keyPart, &pb.Range{Gte: pb.PtrOf(1.0)})}
		var versions []string
		for _, id := range batch {
			versions = append(versions, text(found[id].head, keyVersion))
		}
		later = append(later, pb.NewMatchKeywords(keyVersion, versions...))
		err := s.pages(ctx, s.mine(later...), fields, vectors, func(points []*pb.RetrievedPoint) error {
			for _, p := range points {
				a := found[text(p, keyDocument)]
				a.parts = append(a.parts, p)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for _, p := range heads {
		id := text(p, keyDocument)
		a := found[id]
		slices.SortFunc(a.parts, func(a, b *pb.RetrievedPoint) int { return cmp.Compare(number(a, keyPart), number(b, keyPart)) })
		if n := number(p, keyParts); (want.Text || want.Chunks) && len(a.parts) != n {
			again = append(again, id)
			delete(found, id)
			continue
		}
		if a.document, err = a.build(want); err != nil {
			return nil, fmt.Errorf("document %q of collection %q: %w", id, s.collection, err)
		}
	}
	return again, nil
}

func text(p *pb.RetrievedPoint, key string) string { return p.GetPayload()[key].GetStringValue() }
func number(p *pb.RetrievedPoint, key string) int {
	return int(p.GetPayload()[key].GetIntegerValue())
}

// build makes the document of its points.
func (a *assembly) build(want retriever.Want) (retriever.Document, error) {
	d := retriever.Document{ID: text(a.head, keyDocument), Title: text(a.head, keyTitle), Hash: text(a.head, keyHash)}
	var err error
	if d.Metadata, err = readMetadata(a.head.GetPayload()[keyMetadata]); err != nil {
		return d, err
	}
	if want.Vectors {
		d.Vector = slices.Clone(vectorsOf(a.head)[vectorDoc].GetDenseVector().GetData())
	}
	var all strings.Builder
	for _, p := range a.parts {
		if want.Text {
			all.WriteString(text(p, keyText))
		}
		if !want.Chunks {
			continue
		}
		chunks, err := readChunks(p.GetPayload()[keyChunks])
		if err != nil {
			return d, err
		}
		if want.Vectors {
			rows := landmarks(vectorsOf(p))
			if len(rows) != len(chunks) {
				return d, fmt.Errorf("a part has %d chunks and %d landmarks", len(chunks), len(rows))
			}
			for i := range chunks {
				chunks[i].Vector = slices.Clone(rows[i])
			}
		}
		d.Chunks = append(d.Chunks, chunks...)
	}
	d.Text = all.String()
	return d, nil
}

func vectorsOf(p interface{ GetVectors() *pb.VectorsOutput }) map[string]*pb.VectorOutput {
	return p.GetVectors().GetVectors().GetVectors()
}

// landmarks are the rows of the multivector.
func landmarks(vectors map[string]*pb.VectorOutput) [][]float32 {
	v, ok := vectors[vectorLandmarks]
	if !ok {
		return nil
	}
	var rows [][]float32
	for _, row := range v.GetMultiVector().GetVectors() {
		rows = append(rows, row.GetData())
	}
	return rows
}

// matching returns the IDs of the documents that a filter matches, in order.
func (s *Store) matching(ctx context.Context, filter retriever.Filter) ([]string, error) {
	conditions, empty, err := s.conditions(ctx, filter)
	if err != nil || empty {
		return nil, err
	}
	var ids []string
	err = s.pages(ctx, s.heads(conditions...), []string{keyDocument}, nil, func(points []*pb.RetrievedPoint) error {
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
	hits, err := call(ctx, s, "counting chunks", func(ctx context.Context, client *pb.Client) ([]*pb.FacetHit, error) {
		exact := true
		return client.Facet(ctx, &pb.FacetCounts{
			CollectionName: s.collection, Key: keyChunkCount, Filter: s.heads(), Limit: pb.PtrOf(uint64(maxValues)), Exact: &exact, ShardKeySelector: s.shard,
		})
	})
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
