package main

import (
	"path/filepath"

	"github.com/waymark-rag/waymark/internal/tools/curves"
)

// draw writes the curves.
func draw(dir string, all []measured) error {
	curve := func(name string, value func(m measured) float64) curves.Curve {
		c := curves.Curve{Name: name}
		for _, m := range all {
			c.X, c.Y = append(c.X, float64(m.rows)), append(c.Y, value(m))
		}
		return c
	}
	time := curves.Picture{Title: "Time by number of chunks", X: "chunks", Y: "milliseconds", Curves: []curves.Curve{
		curve("query, median", func(m measured) float64 { return ms(m.p50) }),
		curve("query, 99 of 100", func(m measured) float64 { return ms(m.p99) }),
		curve("open", func(m measured) float64 { return ms(m.open) }),
		curve("open without vector file", func(m measured) float64 { return ms(m.openUnsaved) }),
	}}
	size := curves.Picture{Title: "Size by number of chunks", X: "chunks", Y: "megabytes", Curves: []curves.Curve{
		curve("disk", func(m measured) float64 { return mb(m.disk) }),
		curve("mapped", func(m measured) float64 { return mb(m.mapped) }),
		curve("heap", func(m measured) float64 { return mb(m.heap) }),
	}}
	if err := time.Draw(filepath.Join(dir, "search-time.svg")); err != nil {
		return err
	}
	return size.Draw(filepath.Join(dir, "search-size.svg"))
}
