package qdrant

import (
	"cmp"
	"context"
	"math"
	"slices"

	pb "github.com/qdrant/go-client/qdrant"
)

// groupSlack is how many more parts of each document are asked for than needed,
// since the server cuts equal scores at random.
const groupSlack = 8

// maxTied is how many parts of the same score are told apart.
const maxTied = 10_000

// groups runs a search of which each document gives so many parts at most.
func (r *search) groups(ctx context.Context, req *pb.QueryPoints, documents, size int) ([]*pb.PointGroup, error) {
	return call(ctx, r.Store, "searching in documents", func(ctx context.Context, client *pb.Client) ([]*pb.PointGroup, error) {
		return client.QueryGroups(ctx, &pb.QueryPointGroups{
			CollectionName: r.collection, Using: req.Using, Query: req.Query, Params: req.Params, Filter: req.Filter, GroupBy: keyDocument,
			Limit: pb.PtrOf(uint64(documents)), GroupSize: pb.PtrOf(uint64(size)),
			WithPayload: req.WithPayload, WithVectors: req.WithVectors, ShardKeySelector: req.ShardKeySelector,
		})
	})
}

// spread finds what a search of one index would find if it went on until there are as
// many parts as it asks for with no more than PerDocument of each document: else a few
// long documents would fill any answer.
func (r *search) spread(ctx context.Context, req *pb.QueryPoints) (*answer, error) {
	found := &answer{more: true}
	reach := int(req.GetLimit())
	documents := (reach + r.q.PerDocument - 1) / r.q.PerDocument
	var seen, tied []string
	least := float32(math.Inf(1))
	size := r.q.PerDocument + groupSlack
	for n := 0; n < reach && found.more; {
		if len(seen) > 0 {
			req.Filter = r.mine(r.and(not(pb.NewMatchKeywords(keyDocument, seen...)))...)
		}
		groups, err := r.groups(ctx, req, documents, size)
		if err != nil {
			return nil, err
		}
		for _, g := range groups {
			hits, id := g.GetHits(), g.GetId().GetStringValue()
			seen = append(seen, id)
			found.points = append(found.points, hits...)
			n += min(len(hits), r.q.PerDocument)
			if len(hits) == size && hits[size-1].GetScore() == hits[r.q.PerDocument-1].GetScore() {
				tied, least = append(tied, id), min(least, hits[size-1].GetScore())
			}
		}
		found.more = len(groups) > 0 // a server may return fewer than there are, but not none
	}
	if len(tied) > 0 { // which of these parts the server left out, it says only when asked for all
		req.Filter = r.mine(r.and(pb.NewMatchKeywords(keyDocument, tied...))...)
		req.Limit, req.ScoreThreshold = pb.PtrOf(uint64(maxTied)), pb.PtrOf(least-slack)
		var b batch
		all := b.add(req)
		if err := b.run(ctx, r.Store); err != nil {
			return nil, err
		}
		found.points = append(found.points, all.points...)
	}
	slices.SortStableFunc(found.points, func(a, b *pb.ScoredPoint) int { return cmp.Compare(b.GetScore(), a.GetScore()) })
	return found, nil
}

// spreads reports whether searches of an index are to be spread over documents.
func (r *search) spreads() bool {
	return r.q.PerDocument > 0 && r.part == 1 && !r.opts.Search.Exact
}
