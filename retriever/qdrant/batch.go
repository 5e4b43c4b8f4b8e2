package qdrant

import (
	"context"

	pb "github.com/qdrant/go-client/qdrant"
)

// batch is several searches in one call.
type batch struct {
	requests []*pb.QueryPoints
	answers  []*answer
}

// answer is what one of them found, best first.
type answer struct {
	points []*pb.ScoredPoint
	more   bool // there may be others, that score no better than the last
}

func (a *answer) last() float64 { return float64(a.points[len(a.points)-1].GetScore()) }

func (a *answer) each(f func(*pb.ScoredPoint)) {
	if a == nil {
		return
	}
	for _, p := range a.points {
		f(p)
	}
}

// add plans a search; its answer is there after run.
func (b *batch) add(r *pb.QueryPoints) *answer {
	a := &answer{}
	b.requests, b.answers = append(b.requests, r), append(b.answers, a)
	return a
}

func (b *batch) run(ctx context.Context, s *Store) error {
	if len(b.requests) == 0 {
		return nil
	}
	results, err := call(ctx, s, "searching", func(ctx context.Context, client *pb.Client) ([]*pb.BatchResult, error) {
		return client.QueryBatch(ctx, &pb.QueryBatchPoints{CollectionName: s.collection, QueryPoints: b.requests})
	})
	for i, r := range results {
		b.answers[i].points = r.GetResult()
		b.answers[i].more = uint64(len(r.GetResult())) == b.requests[i].GetLimit()
	}
	return err
}
