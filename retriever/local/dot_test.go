package local

import (
	"math/rand/v2"
	"testing"
)

func TestDotInt8(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range 200 {
		a, b := make([]int8, n), make([]int8, n)
		var want int32
		for i := range a {
			a[i], b[i] = int8(rng.IntN(255)-127), int8(rng.IntN(255)-127)
			want += int32(a[i]) * int32(b[i])
		}
		if got := dotInt8(a, b); got != want {
			t.Errorf("length %d: dotInt8 = %d, want %d", n, got, want)
		}
	}
}

func BenchmarkDotInt8(b *testing.B) {
	x, y := make([]int8, 384), make([]int8, 384)
	for i := range x {
		x[i], y[i] = int8(i), int8(i*7)
	}
	var sum int32
	b.SetBytes(384)
	for b.Loop() {
		sum += dotInt8(x, y)
	}
	if sum == 1 {
		b.Fatal("the sum of multiples of 4 is odd")
	}
}
