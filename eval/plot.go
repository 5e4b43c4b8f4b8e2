package eval

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// chart is a plot to be: a point with an interval at each tick, for each line.
type chart struct {
	title, axis, measure string
	ticks                []string
	lines                []chartLine
	joined               bool // points of a line belong together
}

type chartLine struct {
	name   string
	values []Mean
}

// charts are all of a report.
func (r *Report) charts() []chart {
	var out []chart
	if len(r.Sets) > 1 {
		for _, name := range []string{"nDCG@10", "hit@1"} {
			if c := r.bySet(name); len(c.ticks) > 1 {
				out = append(out, c)
			}
		}
	}
	for _, s := range r.Sets {
		if slices := s.ByPosition(); len(slices) > 1 {
			out = append(out, s.overSlices("where the answer begins in its document", slices))
		}
		if slices := s.ByDocumentLength(lengthRanges); len(slices) > 1 {
			out = append(out, s.overSlices("length of the document, tokens of 4 bytes", slices))
		}
		if c := s.byGranularity(); c != nil {
			out = append(out, *c)
		}
	}
	return out
}

// bySet is a metric of every system on every set that has it.
func (r *Report) bySet(metric string) chart {
	c := chart{title: metric + " by set", measure: metric}
	for _, system := range r.systems() {
		c.lines = append(c.lines, chartLine{name: system})
	}
	for _, s := range r.Sets {
		if metric != "nDCG@10" && !s.HasSpans() {
			continue
		}
		c.ticks = append(c.ticks, s.Name)
		for i := range c.lines {
			m := Mean{Value: math.NaN()}
			if result := s.result(c.lines[i].name); result != nil {
				m = MeanOf(result.Column(metricNamed(metric)))
			}
			c.lines[i].values = append(c.lines[i].values, m)
		}
	}
	return c
}

// overSlices is the chief metric of every system over slices of a set.
func (s SetReport) overSlices(axis string, slices []Slice) chart {
	c := chart{title: s.Name, axis: axis, measure: s.chief(), joined: true}
	for _, slice := range slices {
		c.ticks = append(c.ticks, fmt.Sprintf("%s\nn = %d", slice.Name, len(slice.Queries)))
	}
	for _, r := range s.Results {
		line := chartLine{name: r.System}
		column := r.Column(metricNamed(s.chief()))
		for _, slice := range slices {
			line.values = append(line.values, MeanOf(slice.of(column)))
		}
		c.lines = append(c.lines, line)
	}
	return c
}

// byGranularity has a line for each system that was run with chunks joined; nil if
// none was.
func (s SetReport) byGranularity() *chart {
	c := &chart{title: s.Name, axis: "neighbouring chunks that make one", measure: s.chief(), joined: true}
	joins := map[int]bool{1: true}
	byName := map[string]map[int]Mean{}
	var names []string
	for _, r := range s.Results {
		spec, err := ParseSpec(r.System)
		if err != nil {
			continue // tuned
		}
		join := spec.Join
		joins[join] = true
		spec.Join = 1
		name := spec.String()
		if byName[name] == nil {
			byName[name] = map[int]Mean{}
			names = append(names, name)
		}
		byName[name][join] = s.chiefMean(r.System)
	}
	if len(joins) < 2 {
		return nil
	}
	for _, join := range sortedKeys(joins) {
		c.ticks = append(c.ticks, fmt.Sprint(join))
	}
	for _, name := range names {
		if len(byName[name]) < 2 {
			continue
		}
		line := chartLine{name: name}
		for _, join := range sortedKeys(joins) {
			m, known := byName[name][join]
			if !known {
				m.Value = math.NaN()
			}
			line.values = append(line.values, m)
		}
		c.lines = append(c.lines, line)
	}
	return c
}

// interval is a series of points with their error bars.
type interval struct {
	plotter.XYs
	plotter.YErrors
}

// The size of a chart: a strip for each tick, and the legend to the right, where it
// covers no point.
const (
	chartHeight = 11 * vg.Centimeter
	chartStrip  = 2 * vg.Centimeter
	chartMargin = 3 * vg.Centimeter
	chartLegend = 5 * vg.Centimeter
)

func (c chart) width() vg.Length {
	return chartMargin + max(vg.Length(len(c.ticks))*chartStrip, 9*vg.Centimeter) + chartLegend
}

// svg is a chart as an element of a page.
func (c chart) svg() (string, error) {
	canvas := vgsvg.New(c.width(), chartHeight)
	if err := c.draw(draw.New(canvas)); err != nil {
		return "", fmt.Errorf("plot of %s: %w", c.title, err)
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", fmt.Errorf("plot of %s: %w", c.title, err)
	}
	_, svg, _ := strings.Cut(b.String(), "<svg") // without the XML prologue
	return "<svg" + svg, nil
}

func (c chart) draw(to draw.Canvas) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.title, c.axis, c.measure
	p.Add(plotter.NewGrid())
	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	for i, line := range c.lines {
		if err := c.addLine(p, &legend, i, line); err != nil {
			return err
		}
	}
	p.NominalX(c.ticks...)
	p.X.Min, p.X.Max = -0.5, float64(len(c.ticks))-0.5
	p.Y.Min, p.Y.Max = max(p.Y.Min-0.02, 0), min(p.Y.Max+0.02, 1)
	p.Draw(draw.Crop(to, 0, -chartLegend, 0, 0))
	legend.Draw(draw.Crop(to, c.width()-chartLegend+vg.Centimeter/3, 0, 0, -vg.Centimeter))
	return nil
}

// addLine adds the i-th line: its points with their intervals, beside those of the
// other lines so that each can be seen.
func (c chart) addLine(p *plot.Plot, legend *plot.Legend, i int, line chartLine) error {
	var points interval
	for x, m := range line.values {
		if math.IsNaN(m.Value) {
			continue
		}
		at := float64(x) + 0.6*((float64(i)+0.5)/float64(len(c.lines))-0.5)
		points.XYs = append(points.XYs, plotter.XY{X: at, Y: m.Value})
		points.YErrors = append(points.YErrors, struct{ Low, High float64 }{m.Value - m.Low, m.High - m.Value})
	}
	if len(points.XYs) == 0 {
		return nil
	}
	drawn, dots, err := plotter.NewLinePoints(points.XYs)
	if err != nil {
		return err
	}
	bars, err := plotter.NewYErrorBars(points)
	if err != nil {
		return err
	}
	drawn.Color, drawn.Dashes = plotutil.Color(i), plotutil.Dashes(i/7) // there are seven colours
	dots.Color, dots.Shape = plotutil.Color(i), plotutil.Shape(i)
	bars.Color = plotutil.Color(i)
	if c.joined {
		p.Add(drawn)
		legend.Add(line.name, drawn, dots)
	} else {
		legend.Add(line.name, dots)
	}
	p.Add(bars, dots)
	return nil
}
