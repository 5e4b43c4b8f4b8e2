package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// randomBytes gives any number, the extremes more often.
func randomBytes(rng *rand.Rand, n int) []int8 {
	out := make([]int8, n)
	for i := range out {
		switch rng.IntN(8) {
		case 0:
			out[i] = math.MinInt8
		case 1:
			out[i] = math.MaxInt8
		default:
			out[i] = int8(rng.Uint32())
		}
	}
	return out
}

// padded lays vectors out as rows.
func padded(dim int, vectors []int8) []int8 {
	stride := Pad(dim)
	var rows []int8
	for v := range slices.Chunk(vectors, dim) {
		rows = append(append(rows, v...), make([]int8, stride-dim)...)
	}
	return rows
}

func TestDots(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, dim := range []int{1, 2, 3, 63, 64, 65, 127, 128, 384, 1000, 4096} {
		for n := range 6 {
			a, b, vectors := randomBytes(rng, dim), randomBytes(rng, dim), randomBytes(rng, n*dim)
			var want []int32
			for v := range slices.Chunk(vectors, dim) {
				var x, y int32
				for i := range v {
					x += int32(a[i]) * int32(v[i])
					y += int32(b[i]) * int32(v[i])
				}
				want = append(want, x, y)
			}
			for _, k := range kernels {
				got := dots(k, NewPair(a, b), padded(dim, vectors))
				if !slices.Equal(got, want) {
					t.Errorf("%s, %d rows of %d: %v, want %v", k.name, n, dim, got, want)
				}
			}
		}
	}
}

// dots runs a kernel at memory that is not aligned, and checks that it writes
// nothing behind the products.
func dots(k kernel, p *Pair, rows []int8) []int32 {
	defer func(old kernel) { best = old }(best)
	best = k
	moved := append(make([]int8, 3, len(rows)+3), rows...)[3:]
	n := 2 * len(rows) / p.stride
	dst := make([]int32, n+5)
	for i := range dst {
		dst[i] = -7
	}
	p.Dots(dst[1:], moved)
	if dst[0] != -7 || !slices.Equal(dst[n+1:], []int32{-7, -7, -7, -7}) {
		return dst
	}
	return dst[1 : n+1]
}

func TestDotsRefused(t *testing.T) {
	p := NewPair(make([]int8, 3), make([]int8, 3))
	for name, call := range map[string]func(){
		"half a row":        func() { p.Dots(make([]int32, 2), make([]int8, 32)) },
		"a place too few":   func() { p.Dots(make([]int32, 3), make([]int8, 128)) },
		"an unequal couple": func() { NewPair(make([]int8, 3), make([]int8, 4)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was taken", name)
				}
			}()
			call()
		}()
	}
	NewPair(nil, nil).Dots(nil, nil)
}

// FuzzDots checks every kernel against plain Go.
func FuzzDots(f *testing.F) {
	f.Add(uint8(3), []byte{1, 255, 128, 127, 0, 5, 128, 128, 128})
	f.Add(uint8(1), []byte{128, 128, 128})
	f.Fuzz(func(t *testing.T, dim uint8, data []byte) {
		d := int(dim)
		if d == 0 || len(data) < 2*d {
			return
		}
		all := make([]int8, len(data)/d*d)
		for i := range all {
			all[i] = int8(data[i])
		}
		p, rows := NewPair(all[:d], all[d:2*d]), padded(d, all[2*d:])
		want := dots(kernels[len(kernels)-1], p, rows)
		for _, k := range kernels {
			if got := dots(k, p, rows); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", k.name, got, want)
			}
		}
	})
}

// TestFaster guards against a kernel that is no longer worth having. Only the
// ratio within this run counts, of the best of several turns of each.
func TestFaster(t *testing.T) {
	const rows, dim, want = 1024, 384, 3
	rng := rand.New(rand.NewPCG(1, 2))
	p, matrix, dst := NewPair(randomBytes(rng, dim), randomBytes(rng, dim)), randomBytes(rng, rows*dim), make([]int32, 2*rows)
	took := make([]time.Duration, len(kernels))
	for turn := range 15 {
		for i, k := range kernels {
			begun := time.Now()
			for range 4 {
				k.dots(p, dst, matrix)
			}
			if d := time.Since(begun); turn == 0 || d < took[i] {
				took[i] = d
			}
		}
	}
	plain := took[len(took)-1]
	for i, k := range kernels[:len(kernels)-1] {
		ratio := float64(plain) / float64(took[i])
		t.Logf("%s is %.1f times as fast as plain Go", k.name, ratio)
		if ratio < want {
			t.Errorf("%s is %.1f times as fast as plain Go, want at least %d", k.name, ratio, want)
		}
	}
}

func BenchmarkDots(b *testing.B) {
	const rows, dim = 1024, 384
	rng := rand.New(rand.NewPCG(1, 2))
	p, matrix, dst := NewPair(randomBytes(rng, dim), randomBytes(rng, dim)), randomBytes(rng, rows*dim), make([]int32, 2*rows)
	for _, k := range kernels {
		b.Run(k.name, func(b *testing.B) {
			b.SetBytes(rows * dim)
			for b.Loop() {
				k.dots(p, dst, matrix)
			}
		})
	}
}
