// Package curves draws how costs grow, for the tools that measure it: lines over
// axes that are both logarithmic, so that what grows alike has the same slope.
package curves

import (
	"math"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// Picture is one with a line for each of its curves.
type Picture struct {
	Title, X, Y string
	Curves      []Curve
}

// Curve is a line and its name. Points that have no logarithm are left out.
type Curve struct {
	Name string
	X, Y []float64
}

// Draw writes a picture as SVG to a file, whose folder is made if it is not there.
func (p Picture) Draw(path string) error {
	out := plot.New()
	out.Title.Text, out.X.Label.Text, out.Y.Label.Text = p.Title, p.X, p.Y
	out.X.Scale, out.Y.Scale = plot.LogScale{}, plot.LogScale{}
	out.X.Tick.Marker, out.Y.Tick.Marker = decades{}, decades{}
	out.Legend.Top, out.Legend.Left = true, true
	out.Add(plotter.NewGrid())
	var lines []any
	for _, c := range p.Curves {
		var points plotter.XYs
		for i, y := range c.Y {
			if c.X[i] > 0 && y > 0 {
				points = append(points, plotter.XY{X: c.X[i], Y: y})
			}
		}
		lines = append(lines, c.Name, points)
	}
	if err := plotutil.AddLinePoints(out, lines...); err != nil {
		return err
	}
	whole(&out.X)
	whole(&out.Y)
	out.Y.Max *= math.Pow(10, math.Ceil(float64(len(p.Curves))/3)) // for the legend
	out.Legend.YOffs = -vg.Millimeter
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return out.Save(16*vg.Centimeter, 10*vg.Centimeter, path)
}

// whole lets an axis begin and end at powers of ten.
func whole(a *plot.Axis) {
	a.Min, a.Max = math.Pow(10, math.Floor(math.Log10(a.Min))), math.Pow(10, math.Ceil(math.Log10(a.Max)))
}

// decades marks powers of ten in full.
type decades struct{}

// Ticks implements plot.Ticker.
func (decades) Ticks(low, high float64) []plot.Tick {
	ticks := plot.LogTicks{Prec: -1}.Ticks(low, high)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = strconv.FormatFloat(ticks[i].Value, 'f', -1, 64)
		}
	}
	return ticks
}

// Exponent is how y grows with x: the b of the a x^b that fits best by least
// squares of the logarithms. 1 is linear, 0 does not grow. It is NaN where fewer than
// two different x have a y above 0.
func Exponent(x, y []float64) float64 {
	var lx, ly []float64
	for i := range x {
		if x[i] > 0 && y[i] > 0 {
			lx, ly = append(lx, math.Log(x[i])), append(ly, math.Log(y[i]))
		}
	}
	_, slope := Line(lx, ly)
	return slope
}

// Line is the y = base + slope x that fits best by least squares. Both are NaN where
// there are fewer than two different x.
func Line(x, y []float64) (base, slope float64) {
	n := float64(len(x))
	var mx, my float64
	for i := range x {
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	var xy, xx float64
	for i := range x {
		xy, xx = xy+(x[i]-mx)*(y[i]-my), xx+(x[i]-mx)*(x[i]-mx)
	}
	if xx == 0 {
		return math.NaN(), math.NaN()
	}
	slope = xy / xx
	return my - slope*mx, slope
}
