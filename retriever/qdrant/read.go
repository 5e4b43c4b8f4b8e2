package qdrant

import (
	"context"
	"fmt"
	"slices"
	"time"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/waymark-rag/waymark/retriever"
)

// The sizes of the calls that read.
const (
	pagePoints  = 1000 // without vectors
	pageVectors = 64   // with them
	scrollHeads = 256  // documents read at a time
	scrollWhole = 16
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
	return s.readPoints(ctx, s.headIDs(ids), fields, nil)
}

func (s *Store) headIDs(ids []string) []*pb.PointId {
	out := make([]*pb.PointId, len(ids))
	for i, id := range ids {
		out[i] = headID(s.opts.Tenant, id)
	}
	return out
}

// readPoints returns those of the points that are there, in no order.
func (s *Store) readPoints(ctx context.Context, ids []*pb.PointId, fields, vectors []string) ([]*pb.RetrievedPoint, error) {
	var out []*pb.RetrievedPoint
	for batch := range slices.Chunk(ids, pageSize(vectors)) {
		points, err := call(ctx, s, "reading documents", func(ctx context.Context, client *pb.Client) ([]*pb.RetrievedPoint, error) {
			return client.Get(ctx, &pb.GetPoints{
				CollectionName: s.collection, Ids: batch, WithPayload: include(fields), WithVectors: withVectors(vectors), ShardKeySelector: s.shard,
			})
		})
		if err != nil {
			return nil, err
		}
		out = append(out, points...)
	}
	return out, nil
}

func pageSize(vectors []string) int {
	if len(vectors) > 0 {
		return pageVectors
	}
	return pagePoints
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

// pages goes through all points that a filter matches, without vectors.
func (s *Store) pages(ctx context.Context, filter *pb.Filter, fields []string, each func([]*pb.RetrievedPoint) error) error {
	var offset *pb.PointId
	for {
		points, next, err := s.page(ctx, filter, offset, pagePoints, include(fields), withVectors(nil))
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
	points, err = call(ctx, s, "reading points", func(ctx context.Context, client *pb.Client) (page []*pb.RetrievedPoint, err error) {
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
