package main

import (
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

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

// draw writes the curves, both axes logarithmic.
func draw(dir string, all []measured) error {
	type curve struct {
		name  string
		value func(m measured) float64
	}
	for _, picture := range []struct {
		file, title, unit string
		curves            []curve
	}{
		{"search-time.svg", "Time by number of chunks", "milliseconds", []curve{
			{"query, median", func(m measured) float64 { return ms(m.p50) }},
			{"query, 99 of 100", func(m measured) float64 { return ms(m.p99) }},
			{"open", func(m measured) float64 { return ms(m.open) }},
			{"open without vector file", func(m measured) float64 { return ms(m.openUnsaved) }},
		}},
		{"search-size.svg", "Size by number of chunks", "megabytes", []curve{
			{"disk", func(m measured) float64 { return mb(m.disk) }},
			{"mapped", func(m measured) float64 { return mb(m.mapped) }},
			{"heap", func(m measured) float64 { return mb(m.heap) }},
		}},
	} {
		p := plot.New()
		p.Title.Text = picture.title
		p.X.Label.Text, p.Y.Label.Text = "chunks", picture.unit
		p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
		p.X.Tick.Marker, p.Y.Tick.Marker = decades{}, decades{}
		p.Legend.Top, p.Legend.Left = true, true
		p.Add(plotter.NewGrid())
		var lines []any
		for _, c := range picture.curves {
			var points plotter.XYs
			for _, m := range all {
				if y := c.value(m); y > 0 { // what has no logarithm is not there
					points = append(points, plotter.XY{X: float64(m.rows), Y: y})
				}
			}
			lines = append(lines, c.name, points)
		}
		if err := plotutil.AddLinePoints(p, lines...); err != nil {
			return err
		}
		p.Y.Max *= 30 // for the legend
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := p.Save(16*vg.Centimeter, 10*vg.Centimeter, filepath.Join(dir, picture.file)); err != nil {
			return err
		}
	}
	return nil
}
