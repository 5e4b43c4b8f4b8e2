package local

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestFloat16RoundTrip(t *testing.T) {
	for h := range 1 << 16 {
		x := fromFloat16(uint16(h))
		got := toFloat16(x)
		if x != x { // a NaN stays one and keeps its sign; it may be made quiet
			if got&0x7c00 != 0x7c00 || got&0x3ff == 0 || got&0x8000 != uint16(h)&0x8000 {
				t.Errorf("NaN %#04x came back as %#04x", h, got)
			}
			continue
		}
		if got != uint16(h) {
			t.Errorf("%#04x is %v and came back as %#04x", h, x, got)
		}
	}
}

// TestFloat16Value holds fromFloat16 against the definition of the format.
func TestFloat16Value(t *testing.T) {
	for h := range 1 << 16 {
		exponent, fraction := h>>10&31, float64(h&0x3ff)/1024
		want := math.Ldexp(1+fraction, exponent-15)
		switch {
		case exponent == 0:
			want = math.Ldexp(fraction, -14)
		case exponent == 31 && fraction == 0:
			want = math.Inf(1)
		case exponent == 31:
			continue
		}
		if h >= 0x8000 {
			want = -want
		}
		if got := float64(fromFloat16(uint16(h))); got != want || math.Signbit(got) != math.Signbit(want) {
			t.Errorf("fromFloat16(%#04x) = %v, want %v", h, got, want)
		}
	}
}

// TestFloat16Rounds holds toFloat16 against a search for the nearest value.
func TestFloat16Rounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	check := func(x float32) {
		t.Helper()
		if x != x {
			return
		}
		if got, want := toFloat16(x), nearestFloat16(x); got != want {
			t.Errorf("toFloat16(%v) = %#04x, want %#04x", x, got, want)
		}
	}
	for h := range uint16(0x7c00) { // each value, what lies halfway to the next, and just beside both
		low := fromFloat16(h)
		high := float32(65536)
		if h < 0x7bff {
			high = fromFloat16(h + 1)
		}
		for _, x := range []float32{low, (low + high) / 2} {
			for _, y := range []float32{x, math.Nextafter32(x, 0), math.Nextafter32(x, math.MaxFloat32)} {
				check(y)
				check(-y)
			}
		}
	}
	for range 200_000 {
		check(math.Float32frombits(rng.Uint32()))
	}
	for _, x := range []float32{0, float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32, math.MaxFloat32, float32(math.Inf(-1))} {
		check(x)
	}
}

// nearestFloat16 finds the half nearest to x, the even one of two, by bisection
// over the positive halves, which are in order.
func nearestFloat16(x float32) uint16 {
	sign := uint16(0)
	if math.Signbit(float64(x)) {
		sign, x = 0x8000, -x
	}
	value := func(h uint16) float64 {
		if h == 0x7c00 {
			return 65536 // where infinity would be if the format went on
		}
		return float64(fromFloat16(h))
	}
	low, high := uint16(0), uint16(0x7c00)
	for high-low > 1 {
		if mid := (low + high) / 2; value(mid) <= float64(x) {
			low = mid
		} else {
			high = mid
		}
	}
	below, above := float64(x)-value(low), value(high)-float64(x)
	if above < below || above == below && high%2 == 0 {
		return sign | high
	}
	return sign | low
}

func FuzzFloat16(f *testing.F) {
	f.Add(float32(0.1))
	f.Add(float32(6e-8))
	f.Fuzz(func(t *testing.T, x float32) {
		if x != x {
			return
		}
		if got, want := toFloat16(x), nearestFloat16(x); got != want {
			t.Errorf("toFloat16(%v) = %#04x, want %#04x", x, got, want)
		}
	})
}
