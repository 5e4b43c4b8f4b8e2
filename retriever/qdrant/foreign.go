package qdrant

import (
	"context"
	"fmt"
	"iter"
	"strconv"

	pb "github.com/qdrant/go-client/qdrant"
)

// Passage is a point of a collection that another program has made: the text it
// was found by, and the rest of its payload.
type Passage struct {
	ID       string
	Text     string
	Metadata map[string]any // strings, bools, int64s, float64s, nil, []any and map[string]any
}

// Passages reads a collection that another program has made, such as
// langchaingo's own Qdrant store, so that it can be encoded again: vectors of
// another model are of no use here. textKey is the key of the payload that holds
// the text, "content" for langchaingo; a point without one is an error. Only the
// connection is taken from the options.
func Passages(ctx context.Context, address, collection, textKey string, opts *Options) iter.Seq2[Passage, error] {
	return func(yield func(Passage, error) bool) {
		s, err := connect(address, collection, opts)
		if err != nil {
			yield(Passage{}, err)
			return
		}
		defer s.client.Close()
		var offset *pb.PointId
		for {
			points, next, err := s.page(ctx, nil, offset, pagePoints, pb.NewWithPayload(true), nil)
			if err != nil {
				yield(Passage{}, err)
				return
			}
			for _, p := range points {
				passage, err := readPassage(p, textKey)
				if err != nil {
					err = fmt.Errorf("collection %q of qdrant at %s: %w", collection, address, err)
				}
				if !yield(passage, err) || err != nil {
					return
				}
			}
			if offset = next; offset == nil {
				return
			}
		}
	}
}

func readPassage(p *pb.RetrievedPoint, textKey string) (Passage, error) {
	out := Passage{ID: p.GetId().GetUuid()}
	if out.ID == "" {
		out.ID = strconv.FormatUint(p.GetId().GetNum(), 10)
	}
	text, ok := p.GetPayload()[textKey].GetKind().(*pb.Value_StringValue)
	if !ok {
		return out, fmt.Errorf("point %s has no text under %q: want the key of the payload that holds it", out.ID, textKey)
	}
	out.Text = text.StringValue
	for key, v := range p.GetPayload() {
		if key != textKey {
			if out.Metadata == nil {
				out.Metadata = make(map[string]any)
			}
			out.Metadata[key] = plainValue(v)
		}
	}
	return out, nil
}

// plainValue is a value of a payload as encoding/json would give it, but with
// integers kept.
func plainValue(v *pb.Value) any {
	switch k := v.GetKind().(type) {
	case *pb.Value_StringValue:
		return k.StringValue
	case *pb.Value_BoolValue:
		return k.BoolValue
	case *pb.Value_IntegerValue:
		return k.IntegerValue
	case *pb.Value_DoubleValue:
		return k.DoubleValue
	case *pb.Value_ListValue:
		out := make([]any, 0, len(k.ListValue.GetValues()))
		for _, e := range k.ListValue.GetValues() {
			out = append(out, plainValue(e))
		}
		return out
	case *pb.Value_StructValue:
		out := make(map[string]any, len(k.StructValue.GetFields()))
		for key, e := range k.StructValue.GetFields() {
			out[key] = plainValue(e)
		}
		return out
	}
	return nil
}
