//go:build cgo && onnx && amd64 && linux

package bert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/landmarktest"
	"github.com/waymark-rag/waymark/models"
)

// here are the levels of this processor. On one without any, ONNX Runtime runs every model, and there is nothing here to test.
func here(t testing.TB) []Level {
	best := detect()
	if best == "" {
		t.Skip("this processor has no AVX-512 with VNNI: the package refuses every graph on it")
	}
	i := slices.Index([]Level{VNNI, AMX}, best)
	return []Level{VNNI, AMX}[:i+1]
}

func openRandom(t testing.TB, shape small, level Level) (*Encoder, *weights) {
	t.Helper()
	w, err := newWeights(shape.constants(7))
	if err != nil {
		t.Fatal(err)
	}
	e, err := newEncoder(w, level, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e, w
}

func randomIDs(rng *rand.Rand, length, vocabulary int) []int32 {
	ids := make([]int32, length)
	for i := range ids {
		ids[i] = int32(rng.IntN(vocabulary))
	}
	return ids
}

func distance(a []float32, b []float64) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * b[i]
		aa += float64(a[i]) * float64(a[i])
		bb += b[i] * b[i]
	}
	return 1 - ab/math.Sqrt(aa*bb)
}

// TestReference compares states with those computed in 64 bits: heads of both sizes, hidden channels that fill no block,
// with and without split channels, and lengths around those of the blocks that the kernels work in.
func TestReference(t *testing.T) {
	lengths := []int{1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 160, 255, 256, 257, 300, 513}
	for _, level := range here(t) {
		for _, c := range []struct {
			shape small
			mean  float64 // of the cosine distances, a third above what 8 bits a state give
		}{
			{small{width: 64, heads: 2, layers: 2, hidden: 100, split: 16, positions: 513, vocabulary: 50}, 1.2e-4},
			{small{width: 128, heads: 2, layers: 1, hidden: 128, positions: 513, vocabulary: 50}, 5e-5},
			{small{width: 192, heads: 6, layers: 3, hidden: 33, split: 16, positions: 513, vocabulary: 50}, 2.8e-4},
		} {
			shape := c.shape
			t.Run(fmt.Sprintf("%s/width=%d", level, shape.width), func(t *testing.T) {
				e, w := openRandom(t, shape, level)
				rng := rand.New(rand.NewPCG(1, 1))
				var batch []landmark.Sequence
				for _, n := range lengths {
					s := landmark.Sequence{IDs: randomIDs(rng, n, shape.vocabulary)}
					for _, p := range rng.Perm(n) {
						s.Positions = append(s.Positions, int32(p))
					}
					batch = append(batch, s)
				}
				got, err := e.Encode(context.Background(), batch)
				if err != nil {
					t.Fatal(err)
				}
				sum, count := 0.0, 0
				for i, s := range batch {
					want := reference(w, s.IDs)
					for k, p := range s.Positions {
						d := distance(got[i][k*shape.width:(k+1)*shape.width], want[p])
						if !(d < 5e-3) {
							t.Fatalf("the state of token %d of %d has a cosine distance of %.5f", p, len(s.IDs), d)
						}
						sum, count = sum+d, count+1
					}
				}
				if mean := sum / float64(count); mean > c.mean {
					t.Errorf("the mean cosine distance is %.6f", mean)
				}
			})
		}
	}
}

// TestContract runs the default model through the suite for encoders. No vector may depend on its batch, to the bit.
func TestContract(t *testing.T) {
	words := []int32{2958, 7440, 2441, 3137, 1996, 2008, 3643, 2930}
	for _, level := range here(t) {
		t.Run(string(level), func(t *testing.T) {
			e, err := New(defaultGraph(t), Options{Level: level, Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			if e.Level() != level {
				t.Errorf("level %s, want %s", e.Level(), level)
			}
			landmarktest.TestEncoder(t, e, words, 0)
		})
	}
}

func defaultGraph(t testing.TB) []byte {
	graph, err := fs.ReadFile(models.Default(), "onnx/model_qint8.onnx")
	if err != nil {
		t.Fatal(err)
	}
	return graph
}

// TestPacks encodes more than fits a pack, some of it twice: what stands beside a sequence, before it in the same memory
// or in another call at the same time moves no bit.
func TestPacks(t *testing.T) {
	shape := small{width: 64, heads: 2, layers: 2, hidden: 64, split: 16, positions: 300, vocabulary: 50}
	for _, level := range here(t) {
		e, _ := openRandom(t, shape, level)
		rng := rand.New(rand.NewPCG(2, 2))
		var batch []landmark.Sequence
		for range 60 {
			n := 1 + rng.IntN(shape.positions)
			batch = append(batch, landmark.Sequence{IDs: randomIDs(rng, n, shape.vocabulary), Positions: []int32{int32(rng.IntN(n))}})
		}
		batch = append(batch, landmark.Sequence{IDs: []int32{3}}) // which wants nothing
		together, err := e.Encode(context.Background(), batch)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range rng.Perm(len(batch)) {
			alone, err := e.Encode(context.Background(), batch[i:i+1])
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(alone[0], together[i]) {
				t.Fatalf("%s: sequence %d of %d tokens has other states alone", level, i, len(batch[i].IDs))
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	e, _ := openRandom(t, small{width: 64, heads: 2, layers: 1, hidden: 64, positions: 4, vocabulary: 5}, here(t)[0])
	for word, s := range map[string]landmark.Sequence{
		"no tokens":         {},
		"token id -1":       {IDs: []int32{-1}},
		"token id 5":        {IDs: []int32{0, 5}},
		"4 positions":       {IDs: []int32{0, 0, 0, 0, 0}},
		"position 1 is":     {IDs: []int32{0}, Positions: []int32{1}},
		"position -1 is":    {IDs: []int32{0}, Positions: []int32{-1}},
		"2 positions of 1 ": {IDs: []int32{0}, Positions: []int32{0, 0}},
	} {
		out, err := e.Encode(context.Background(), []landmark.Sequence{{IDs: []int32{1}}, s})
		if err == nil || !strings.Contains(err.Error(), word) || !strings.Contains(err.Error(), "sequence 1") {
			t.Errorf("states %v, error %v: want an error with %q", out, err, word)
		}
	}
	e.Close()
	e.Close()
	if _, err := e.Encode(context.Background(), nil); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v, want ErrClosed", err)
	}
	for _, graph := range [][]byte{nil, []byte("not a graph")} {
		if _, err := New(graph, Options{}); err == nil {
			t.Errorf("graph %q is taken", graph)
		}
	}
}

// TestCancel stops calls that run and calls that wait.
func TestCancel(t *testing.T) {
	e, _ := openRandom(t, small{width: 384, heads: 12, layers: 12, hidden: 1520, split: 16, positions: 512, vocabulary: 50}, here(t)[0])
	batch := make([]landmark.Sequence, 2000) // far more than is done before the context ends
	for i := range batch {
		batch[i] = landmark.Sequence{IDs: make([]int32, 512), Positions: []int32{0}}
	}
	ctx, cancel := context.WithCancel(context.Background())
	errs := make(chan error)
	for range 3 {
		go func() {
			_, err := e.Encode(ctx, batch)
			errs <- err
		}()
	}
	cancel()
	for range 3 {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
	}
	if _, err := e.Encode(context.Background(), batch[:1]); err != nil {
		t.Errorf("after a call that was cancelled: %v", err)
	}
}

// plain is the plain form of multiply.
func plain(rows []uint8, panels []int8, inner int) []int32 {
	out := make([]int32, 32*32)
	for r := range 32 {
		for n := range 32 {
			for k := range inner {
				at := n/16*16*inner + k/4*64 + n%16*4 + k%4
				out[r*32+n] += int32(rows[r*inner+k]) * int32(panels[at])
			}
		}
	}
	return out
}

// FuzzMultiply holds the kernels to the plain product, to the bit.
func FuzzMultiply(f *testing.F) {
	for _, inner := range []uint8{1, 2, 6} {
		f.Add(inner, uint64(inner), uint8(0), uint8(0))
	}
	f.Add(uint8(24), uint64(0), uint8(255), uint8(0x80)) // the largest sums
	f.Add(uint8(24), uint64(0), uint8(255), uint8(0x7f))
	f.Fuzz(func(t *testing.T, steps uint8, seed uint64, row, weight uint8) {
		inner := 64 * (int(steps)%32 + 1)
		rows, panels := make([]uint8, 32*inner), make([]int8, 32*inner)
		rng := rand.New(rand.NewPCG(seed, 1))
		for i := range rows {
			rows[i], panels[i] = row, int8(weight)
			if seed > 0 {
				rows[i], panels[i] = uint8(rng.Uint32()), int8(rng.Uint32())
			}
		}
		want := plain(rows, panels, inner)
		for _, level := range here(t) {
			if got := multiply(level, rows, panels, inner, 1); !slices.Equal(got, want) {
				t.Errorf("%s differs from the plain product", level)
			}
		}
	})
}
