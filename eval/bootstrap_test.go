package eval

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestMeanOf(t *testing.T) {
	var values []float64
	for i := range 1000 {
		values = append(values, float64(i%2), math.NaN())
	}
	m := MeanOf(values)
	// The standard error of a share of 1/2 of 1000 is 0.0158.
	if m.N != 1000 || m.Value != 0.5 || math.Abs(m.Low-(0.5-1.96*0.0158)) > 0.004 || math.Abs(m.High-(0.5+1.96*0.0158)) > 0.004 {
		t.Errorf("mean of 500 hits of 1000: %+v, want about .469 to .531", m)
	}
	if again := MeanOf(values); again != m {
		t.Errorf("the same values gave %+v and %+v", m, again)
	}
	if m := MeanOf([]float64{math.NaN()}); m.N != 0 || !math.IsNaN(m.Value) {
		t.Errorf("mean of nothing: %+v", m)
	}
	if m := MeanOf([]float64{0.25}); m != (Mean{1, 0.25, 0.25, 0.25}) {
		t.Errorf("mean of one: %+v", m)
	}
}

func TestCompare(t *testing.T) {
	// Five better and none worse: of 32 ways to give signs two are as extreme.
	d := Compare([]float64{1, 1, 1, 1, 1, 0, math.NaN()}, []float64{0, 0, 0, 0, 0, 0, 1})
	if d.N != 6 || d.Better != 5 || d.Worse != 0 || math.Abs(d.Value-5.0/6) > 1e-12 || math.Abs(d.P-2.0/32) > 0.01 {
		t.Errorf("difference %+v, want 5/6 with p 1/16", d)
	}
	same := []float64{0.5, 1, 0}
	if d := Compare(same, same); d.Value != 0 || d.P != 1 || d.Better+d.Worse != 0 {
		t.Errorf("a system and itself: %+v", d)
	}
	one := Compare([]float64{0.2, 0.9, 0.4}, []float64{0.1, 0.3, 0.8})
	other := Compare([]float64{0.1, 0.3, 0.8}, []float64{0.2, 0.9, 0.4})
	if one.Value != -other.Value || one.P != other.P || one.Better != other.Worse {
		t.Errorf("turned round: %+v and %+v", one, other)
	}
}

// TestIntervalsCover draws many samples of a known mean: about 95 of 100 intervals
// must hold it.
func TestIntervalsCover(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	covered, all := 0, 200
	for range all {
		var values []float64
		for range 100 {
			values = append(values, random.Float64())
		}
		if m := MeanOf(values); m.Low <= 0.5 && 0.5 <= m.High {
			covered++
		}
	}
	if share := float64(covered) / float64(all); share < 0.90 || share > 0.99 {
		t.Errorf("%d of %d intervals hold the mean", covered, all)
	}
}
