package local

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestQuantise(t *testing.T) {
	centre := []float32{0, 0, 0, 1, 0, 0}
	row := make([]int8, 6)
	got := quantise(row, []float32{0.5, -1, 0.25, 1, 0.0039, 0.0040}, centre)
	if want := []int8{64, -127, 32, 0, 0, 1}; !slices.Equal(row, want) {
		t.Errorf("the row is %v, want %v", row, want)
	}
	// Off by 0.5 - 64/127, 0.25 - 32/127, 0.0039 and 0.0040 - 1/127.
	if got.scale != 1.0/127 || math.Abs(float64(got.off)-0.007042) > 1e-6 {
		t.Errorf("scale = %v, off = %v, want 1/127 and 0.007042", got.scale, got.off)
	}
	if got := quantise(row, centre, centre); got != (rowScale{}) || slices.Max(row) != 0 || slices.Min(row) != 0 {
		t.Errorf("the centre itself becomes %v and %+v, want nothing", row, got)
	}
}

// TestBetween compares what a product lies between with the product itself, and
// how wide that is: the fewer chunks need be scored exactly.
func TestBetween(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for _, dim := range []int{1, 2, 65, benchDim} {
		centre := randomVector(rng, dim)
		m := matrix{centre: centre}
		q := randomVector(rng, dim)
		var exact []float64
		const rows = 2000
		for range rows {
			v := randomVector(rng, dim)
			for i := range v { // near the query and the centre, as the candidates are
				v[i] = fromFloat16(toFloat16(v[i]*0.3 + q[i]*0.3 + centre[i]*0.7))
			}
			m.add(v)
			var sum float64
			for i := range v {
				sum += float64(v[i]) * float64(q[i])
			}
			exact = append(exact, sum)
		}
		p, products := newPoint(q, centre), make([]int32, 2*rows)
		m.dots(products, p, 0, rows)
		var widest float64
		for i, want := range exact {
			low, high := p.between(products[2*i], products[2*i+1], m.row(i))
			if want < low || want > high {
				t.Errorf("%d dimensions: the product is %v, not between %v and %v", dim, want, low, high)
			}
			widest = max(widest, high-low)
		}
		if widest > 0.02 {
			t.Errorf("%d dimensions: bounds are %.4f apart, want at most 0.02", dim, widest)
		}
	}
}

// TestMatrixClone checks that a clone does not see rows added later, within a
// block and beyond.
func TestMatrixClone(t *testing.T) {
	m := matrix{centre: make([]float32, 2)}
	for i := range 2*blockRows + 2 {
		old := m.clone()
		m.add([]float32{float32(i % 7), 1})
		if old.rows() != i || m.rows() != i+1 {
			t.Fatalf("the clone has %d rows and the original %d, want %d and %d", old.rows(), m.rows(), i, i+1)
		}
	}
	from, to := blockRows-3, 2*blockRows+2
	p, products := newPoint([]float32{1, 0}, m.centre), make([]int32, 2*(to-from))
	m.dots(products, p, from, to)
	for i := from; i < to; i++ {
		at := 2 * (i - from)
		low, high := p.between(products[at], products[at+1], m.row(i))
		if want := float64(i % 7); want < low || want > high {
			t.Errorf("row %d: between %v and %v, want %v", i, low, high, want)
		}
	}
}
