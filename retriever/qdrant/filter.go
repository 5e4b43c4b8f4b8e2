package qdrant

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/waymark-rag/waymark/retriever"
)

// maxValues is how many different values a key may have to be filtered by
// something that the server has no index for.
const maxValues = 100_000

// noToken is the token of no value.
const noToken = "-"

// exactFloat is the first whole number from which a float64 stands for several.
const exactFloat = 1 << 53

// mine restricts a request to the tenant's points that meet the conditions.
func (s *Store) mine(conditions ...*pb.Condition) *pb.Filter {
	return &pb.Filter{Must: append([]*pb.Condition{pb.NewMatchKeyword(keyTenant, s.opts.Tenant)}, conditions...)}
}

// heads restricts a request to the first points of the tenant's documents.
func (s *Store) heads(conditions ...*pb.Condition) *pb.Filter {
	return s.mine(append(conditions, pb.NewMatchInt(keyPart, 0))...)
}

// laterPart matches all points of a document but its first.
func laterPart() *pb.Condition { return pb.NewRange(keyPart, &pb.Range{Gte: pb.PtrOf(1.0)}) }

func not(c *pb.Condition) *pb.Condition {
	return pb.NewFilterAsCondition(&pb.Filter{MustNot: []*pb.Condition{c}})
}

func either(c ...*pb.Condition) *pb.Condition {
	return pb.NewFilterAsCondition(&pb.Filter{Should: c})
}

// conditions says a filter in the server's terms. What it has no terms for (the
// order of strings, their starts and their parts) is looked up among the values
// that the key has. A key that no document ever had is refused, but in an empty
// store there is just nothing to be found: empty is then true.
func (s *Store) conditions(ctx context.Context, f retriever.Filter) (out []*pb.Condition, empty bool, err error) {
	if err := f.Validate(); err != nil {
		return nil, false, err
	}
	for _, c := range f.All {
		known, err := s.indexed(ctx, equalField(c.Key))
		if err != nil {
			return nil, false, err
		}
		if !known {
			return nil, true, s.checkKeys(ctx, retriever.Filter{All: []retriever.Condition{c}})
		}
		condition, err := s.condition(ctx, c)
		if err != nil {
			return nil, false, err
		}
		out = append(out, condition)
	}
	return out, false, nil
}

func (s *Store) condition(ctx context.Context, c retriever.Condition) (*pb.Condition, error) {
	field := equalField(c.Key)
	switch c.Op {
	case retriever.Eq:
		return pb.NewMatchKeywords(field, equals(c.Value)...), nil
	case retriever.Ne:
		return not(pb.NewMatchKeywords(field, equals(c.Value)...)), nil
	case retriever.In:
		var all []string
		for _, v := range items(c.Value) {
			all = append(all, equals(v)...)
		}
		return pb.NewMatchKeywords(field, all...), nil
	case retriever.Exists:
		here := pb.NewMatchKeyword(field, tokenHere)
		if c.Value == false {
			return not(here), nil
		}
		return here, nil
	case retriever.Lt, retriever.Lte, retriever.Gt, retriever.Gte:
		f, ok := float(c.Value)
		if !ok || math.Abs(f) >= exactFloat {
			break
		}
		known, err := s.indexed(ctx, numberField(c.Key))
		if err != nil || !known { // its values are no numbers
			return pb.NewMatchKeyword(field, noToken), err
		}
		return pb.NewRange(numberField(c.Key), rangeOf(c.Op, f)), nil
	}
	return s.among(ctx, c)
}

func rangeOf(op retriever.Op, f float64) *pb.Range {
	switch op {
	case retriever.Lt:
		return &pb.Range{Lt: &f}
	case retriever.Lte:
		return &pb.Range{Lte: &f}
	case retriever.Gt:
		return &pb.Range{Gt: &f}
	}
	return &pb.Range{Gte: &f}
}

// items are the elements of a list of scalars, which Filter.Validate has seen.
func items(v any) []any {
	var out []any
	switch v := v.(type) {
	case []any:
		return v
	case []string:
		for _, e := range v {
			out = append(out, e)
		}
	case []int64:
		for _, e := range v {
			out = append(out, e)
		}
	case []float64:
		for _, e := range v {
			out = append(out, e)
		}
	}
	return out
}

// among matches the documents with one of the key's values that meet a condition.
func (s *Store) among(ctx context.Context, c retriever.Condition) (*pb.Condition, error) {
	field := equalField(c.Key)
	hits, err := s.facet(ctx, "listing the values of a key", field, s.heads())
	if err != nil {
		return nil, err
	}
	if len(hits) > maxValues {
		return nil, fmt.Errorf("filter on %q with %q: the key has more than %d different values, which are looked through one by one: want eq or in", c.Key, c.Op, maxValues)
	}
	var meet []string
	test := retriever.Filter{All: []retriever.Condition{c}}
	for _, h := range hits {
		token := h.GetValue().GetStringValue()
		if v, ok := untoken(token); ok && test.Match(map[string]any{c.Key: v}) {
			meet = append(meet, token)
		}
	}
	return pb.NewMatchKeywords(field, append(meet, noToken)...), nil
}

// checkKeys refuses a filter on a key that no document has. Most conditions match
// nothing then, so Candidates and Scroll call it only when nothing was found, or
// when a condition is one that a missing key meets.
func (s *Store) checkKeys(ctx context.Context, f retriever.Filter) error {
	for _, c := range f.All {
		have, err := s.haveKey(ctx, equalField(c.Key))
		if err != nil {
			return err
		}
		if have {
			continue
		}
		if n, err := s.count(ctx, s.heads()); err != nil || n == 0 {
			return err // in an empty store there is just nothing to be found
		}
		known, err := s.knownKeys(ctx)
		if err != nil {
			return err
		}
		return retriever.Filter{All: []retriever.Condition{c}}.CheckKeys(known)
	}
	return nil
}

// meetsMissing reports whether a document without the key meets a condition of
// the filter.
func meetsMissing(f retriever.Filter) bool {
	return slices.ContainsFunc(f.All, func(c retriever.Condition) bool {
		return c.Op == retriever.Ne || c.Op == retriever.Exists && c.Value == false
	})
}

// knownKeys are the metadata keys that the tenant's documents have.
func (s *Store) knownKeys(ctx context.Context) ([]string, error) {
	info, err := s.info(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for field := range info.GetPayloadSchema() {
		name, found := strings.CutPrefix(field, keyEqual+".")
		key, ok := keyOf(name)
		if !found || !ok {
			continue
		}
		have, err := s.haveKey(ctx, field)
		if err != nil {
			return nil, err
		}
		if have {
			out = append(out, key)
		}
	}
	return out, nil
}

// haveKey reports whether a document has the metadata key of a field.
func (s *Store) haveKey(ctx context.Context, field string) (bool, error) {
	if known, err := s.indexed(ctx, field); err != nil || !known {
		return false, err // and in strict mode, to count by it would be refused
	}
	n, err := s.count(ctx, s.heads(pb.NewMatchKeyword(field, tokenHere)))
	return n > 0, err
}

// facet counts the points of each value of a field, up to one value more than
// maxValues.
func (s *Store) facet(ctx context.Context, what, field string, f *pb.Filter) ([]*pb.FacetHit, error) {
	return call(ctx, s, what, func(ctx context.Context, client *pb.Client) ([]*pb.FacetHit, error) {
		exact := true
		return client.Facet(ctx, &pb.FacetCounts{
			CollectionName: s.collection, Key: field, Filter: f, Limit: pb.PtrOf(uint64(maxValues + 1)), Exact: &exact, ShardKeySelector: s.shard,
		})
	})
}

func (s *Store) count(ctx context.Context, f *pb.Filter) (int, error) {
	n, err := call(ctx, s, "counting", func(ctx context.Context, client *pb.Client) (uint64, error) {
		exact := true
		return client.Count(ctx, &pb.CountPoints{CollectionName: s.collection, Filter: f, Exact: &exact, ShardKeySelector: s.shard})
	})
	return int(n), err
}
