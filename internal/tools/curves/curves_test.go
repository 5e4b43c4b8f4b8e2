package curves

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExponent(t *testing.T) {
	for _, c := range []struct {
		name string
		x, y []float64
		want float64
	}{
		{"linear", []float64{1, 10, 100}, []float64{3, 30, 300}, 1},
		{"constant", []float64{1, 10, 100}, []float64{7, 7, 7}, 0},
		{"root", []float64{1, 4, 16}, []float64{2, 4, 8}, 0.5},
		{"zeros are left out", []float64{1, 10, 100}, []float64{0, 5, 50}, 1},
	} {
		if got := Exponent(c.x, c.y); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: exponent %v, want %v", c.name, got, c.want)
		}
	}
	if got := Exponent([]float64{5, 5}, []float64{1, 2}); !math.IsNaN(got) {
		t.Errorf("one x alone: exponent %v, want NaN", got)
	}
}

func TestLine(t *testing.T) {
	base, slope := Line([]float64{1000, 2000, 4000}, []float64{60, 70, 90})
	if math.Abs(base-50) > 1e-9 || math.Abs(slope-0.01) > 1e-12 {
		t.Errorf("base %v and slope %v, want 50 and 0.01", base, slope)
	}
}

func TestDraw(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "a.svg")
	x := []float64{1000, 10_000}
	p := Picture{Title: "Time", X: "chunks", Y: "ms", Curves: []Curve{{"open", x, []float64{0.5, 5}}, {"never", x, []float64{0, 5}}}}
	if err := p.Draw(path); err != nil {
		t.Fatal(err)
	}
	svg, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{">Time<", ">open<", ">1000<", ">10000<"} {
		if !strings.Contains(string(svg), text) {
			t.Errorf("the picture lacks %q", text)
		}
	}
}
