package landmarktest

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/waymark-rag/waymark/landmark"
)

// TestEncoder checks the contract of landmark.Encoder. The sequences it sends
// use the given token ids, which must be ordinary tokens of the model; tolerance
// is how far a state may move when its batch changes, 0 for not at all.
func TestEncoder(t *testing.T, enc landmark.Encoder, ids []int32, tolerance float64) {
	ctx := context.Background()
	sequence := func(n int) landmark.Sequence {
		var s landmark.Sequence
		for i := range n {
			s.IDs = append(s.IDs, ids[(i*i+n)%len(ids)])
			if i%3 == n%3 {
				s.Positions = append(s.Positions, int32(i))
			}
		}
		return s
	}
	batch := []landmark.Sequence{sequence(40), sequence(7), sequence(3), sequence(40), sequence(1)}
	encode := func(t *testing.T, batch []landmark.Sequence) [][]float32 {
		t.Helper()
		out, err := enc.Encode(ctx, batch)
		if err != nil {
			t.Fatal(err)
		}
		if len(out) != len(batch) {
			t.Fatalf("%d results for %d sequences", len(out), len(batch))
		}
		for i, s := range batch {
			if len(out[i]) != len(s.Positions)*enc.Dim() {
				t.Fatalf("sequence %d: %d values, want %d x %d", i, len(out[i]), len(s.Positions), enc.Dim())
			}
		}
		return out
	}
	same := func(t *testing.T, what string, got, want []float32) {
		t.Helper()
		for i := range want {
			if d := math.Abs(float64(got[i] - want[i])); !(d <= tolerance) {
				t.Fatalf("%s: value %d is %v, want %v within %v", what, i, got[i], want[i], tolerance)
			}
		}
	}
	clone := func(batch []landmark.Sequence) []landmark.Sequence {
		out := slices.Clone(batch)
		for i := range out {
			out[i].IDs, out[i].Positions = slices.Clone(out[i].IDs), slices.Clone(out[i].Positions)
		}
		return out
	}

	whole := encode(t, batch)
	t.Run("alone or in a batch", func(t *testing.T) {
		for i, s := range batch {
			same(t, "alone", encode(t, []landmark.Sequence{s})[0], whole[i])
		}
	})
	t.Run("order of the batch", func(t *testing.T) {
		turned := clone(batch)
		slices.Reverse(turned)
		got := encode(t, turned)
		for i := range got {
			same(t, "reversed", got[i], whole[len(whole)-1-i])
		}
	})
	t.Run("positions are independent", func(t *testing.T) {
		s := clone(batch[:1])
		slices.Reverse(s[0].Positions)
		got, n := encode(t, s)[0], len(s[0].Positions)
		for p := range n {
			same(t, "reversed positions", got[p*enc.Dim():(p+1)*enc.Dim()], whole[0][(n-1-p)*enc.Dim():(n-p)*enc.Dim()])
		}
	})
	t.Run("arguments unchanged, results kept", func(t *testing.T) {
		in, before := clone(batch), clone(batch)
		first := encode(t, in)
		for i := range in {
			if !slices.Equal(in[i].IDs, before[i].IDs) || !slices.Equal(in[i].Positions, before[i].Positions) {
				t.Fatalf("sequence %d was changed", i)
			}
		}
		kept := slices.Clone(first[0])
		for i := range in[0].IDs {
			in[0].IDs[i] = ids[0]
		}
		encode(t, in)
		if !slices.Equal(first[0], kept) {
			t.Fatal("a later call changed an earlier result")
		}
	})
	t.Run("concurrent", func(t *testing.T) {
		var wg sync.WaitGroup
		for range 4 {
			for i := range batch {
				wg.Go(func() {
					out, err := enc.Encode(ctx, batch[i:i+1])
					if err != nil {
						t.Error(err)
						return
					}
					for k := range whole[i] {
						if d := math.Abs(float64(out[0][k] - whole[i][k])); !(d <= tolerance) {
							t.Errorf("sequence %d value %d is %v, want %v", i, k, out[0][k], whole[i][k])
							return
						}
					}
				})
			}
		}
		wg.Wait()
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		if out, err := enc.Encode(ctx, batch); !errors.Is(err, context.Canceled) || out != nil {
			t.Fatalf("got %d results and error %v, want none and context.Canceled", len(out), err)
		}
	})
	t.Run("empty batch", func(t *testing.T) {
		if out := encode(t, nil); len(out) != 0 {
			t.Fatalf("%d results for no sequences", len(out))
		}
	})
}
