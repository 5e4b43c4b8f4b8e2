package local

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestQuantise(t *testing.T) {
	got, scale := quantise([]int8{5}, []float32{0.5, -1, 0.25, 0, 0.0039, 0.0040})
	want := []int8{5, 64, -127, 32, 0, 0, 1}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("value %d is %d, want %d", i, got[i], want[i])
		}
	}
	if scale != 1.0/127 {
		t.Errorf("scale = %v, want 1/127", scale)
	}
	if _, scale := quantise(nil, make([]float32, 3)); scale != 0 {
		t.Errorf("the scale of nothing is %v, want 0", scale)
	}
}

// TestMatrixError measures what the scan may be wrong by: rescored is chosen
// by it.
func TestMatrixError(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	const rows = 2000
	m := matrix{dim: benchDim}
	var exact []float64
	q := randomUnit(rng)
	for range rows {
		v := randomUnit(rng)
		for i := range v { // near the query, as the candidates are
			v[i] = v[i]*0.8 + q[i]*0.6
		}
		m.add(v)
		var sum float64
		for i := range v {
			sum += float64(v[i]) * float64(q[i])
		}
		exact = append(exact, sum)
	}
	var worst, squares float64
	packed := quantiseQuery(q)
	for i, want := range exact {
		e := math.Abs(float64(m.dot(i, packed)) - want)
		worst = max(worst, e)
		squares += e * e
	}
	if mean := math.Sqrt(squares / rows); mean > 0.001 || worst > 0.005 {
		t.Errorf("the error is %.5f on average and %.5f at worst, want at most 0.001 and 0.005", mean, worst)
	}
}

// TestMatrixCopy checks that a copy does not see rows added later.
func TestMatrixCopy(t *testing.T) {
	m := matrix{dim: 2}
	m.grow(10)
	m.add([]float32{1, 0})
	old := m
	m.add([]float32{0, 1})
	if old.rows() != 1 || m.rows() != 2 || old.dot(0, quantiseQuery([]float32{1, 0})) < 0.99 {
		t.Errorf("the copy has %d rows and the original %d, want 1 and 2", old.rows(), m.rows())
	}
}
