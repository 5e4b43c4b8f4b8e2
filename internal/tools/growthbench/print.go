//go:build unix

package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/waymark-rag/waymark/internal/tools/curves"
)

// column is a measure: how it is named, shown and computed.
type column struct {
	name, format string
	value        func(s step) float64
}

var columns = []column{
	{"index, CPU ms a chunk", "%.2f", func(s step) float64 { return ms(s.run.cpu) / float64(s.added) }},
	{"tokens a CPU second", "%.0f", func(s step) float64 { return float64(s.tokens) / s.run.cpu.Seconds() }},
	{"index, wall s", "%.1f", func(s step) float64 { return s.run.wall.Seconds() }},
	{"index, peak MB", "%.0f", func(s step) float64 { return mb(s.run.peak) }},
	{"log, peak MB", "%.1f", func(s step) float64 { return mb(s.logPeak) }},
	{"unchanged, CPU ms", "%.0f", func(s step) float64 { return ms(s.again.cpu) }},
	{"unchanged, peak MB", "%.0f", func(s step) float64 { return mb(s.again.peak) }},
	{"file, bytes a chunk", "%.0f", func(s step) float64 { return float64(s.db) / float64(s.chunks) }},
	{"vector file, bytes a chunk", "%.0f", func(s step) float64 { return float64(s.vec) / float64(s.chunks) }},
	{"process of one search, CPU ms", "%.0f", func(s step) float64 { return ms(s.search.cpu) }},
	{"process of one search, wall ms", "%.0f", func(s step) float64 { return ms(s.search.wall) }},
	{"process of one search, peak MB", "%.0f", func(s step) float64 { return mb(s.search.peak) }},
	{"open and load the store, CPU ms", "%.1f", func(s step) float64 { return ms(at(s.load.cpu, .5)) }},
	{"search, CPU ms p50", "%.1f", func(s step) float64 { return ms(at(s.whole.cpu, .5)) }},
	{"search, CPU ms p99", "%.1f", func(s step) float64 { return ms(at(s.whole.cpu, .99)) }},
	{"search, wall ms p50", "%.1f", func(s step) float64 { return ms(at(s.whole.wall, .5)) }},
	{"search, wall ms p99", "%.1f", func(s step) float64 { return ms(at(s.whole.wall, .99)) }},
	{"of it encoding, CPU ms p50", "%.2f", func(s step) float64 { return ms(at(s.encode.cpu, .5)) }},
	{"of it vectors, CPU ms p50", "%.2f", func(s step) float64 { return ms(at(s.vectors.cpu, .5)) }},
	{"of it words, CPU ms p50", "%.2f", func(s step) float64 { return ms(at(s.words.cpu, .5)) }},
	{"of it words, CPU ms p99", "%.2f", func(s step) float64 { return ms(at(s.words.cpu, .99)) }},
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }
func mb(n int64) float64         { return float64(n) / 1e6 }

// print writes a table with a row for each measure. The exponent is that of the
// measure over all steps; and of the totals, as n^b, from the first to the last.
func print(steps []step) {
	line := func(name string, cell func(step) string, last string) {
		fmt.Printf("| %s ", name)
		for _, s := range steps {
			fmt.Printf("| %s ", cell(s))
		}
		fmt.Printf("| %s |\n", last)
	}
	line("chunks", func(s step) string { return fmt.Sprint(s.chunks) }, "grows as n to the")
	line("---", func(step) string { return "---" }, "---")
	line("documents", func(s step) string { return fmt.Sprint(s.documents) }, "")
	for _, c := range columns {
		line(c.name, func(s step) string { return fmt.Sprintf(c.format, c.value(s)) }, fmt.Sprintf("%.2f", exponent(steps, c.value)))
	}
}

func exponent(steps []step, value func(step) float64) float64 {
	c := curve("", steps, value)
	return curves.Exponent(c.X, c.Y)
}

func curve(name string, steps []step, value func(step) float64) curves.Curve {
	c := curves.Curve{Name: name}
	for _, s := range steps {
		c.X, c.Y = append(c.X, float64(s.chunks)), append(c.Y, value(s))
	}
	return c
}

func draw(dir string, steps []step) error {
	time := curves.Picture{Title: "The whole line on real text: CPU time", X: "chunks", Y: "CPU milliseconds", Curves: []curves.Curve{
		curve("search, median", steps, func(s step) float64 { return ms(at(s.whole.cpu, .5)) }),
		curve("search, 99 of 100", steps, func(s step) float64 { return ms(at(s.whole.cpu, .99)) }),
		curve("its vectors", steps, func(s step) float64 { return ms(at(s.vectors.cpu, .5)) }),
		curve("its words", steps, func(s step) float64 { return ms(at(s.words.cpu, .5)) }),
		curve("index again, unchanged", steps, func(s step) float64 { return ms(s.again.cpu) }),
		curve("index, each new chunk", steps, func(s step) float64 { return ms(s.run.cpu) / float64(s.added) }),
	}}
	size := curves.Picture{Title: "The whole line on real text: size", X: "chunks", Y: "megabytes", Curves: []curves.Curve{
		curve("memory of indexing, peak", steps, func(s step) float64 { return mb(s.run.peak) }),
		curve("memory of a search", steps, func(s step) float64 { return mb(s.search.peak) }),
		curve("index on disk", steps, func(s step) float64 { return mb(s.db + s.vec) }),
		curve("write-ahead log, peak", steps, func(s step) float64 { return mb(s.logPeak) }),
	}}
	if err := time.Draw(filepath.Join(dir, "line-time.svg")); err != nil {
		return err
	}
	return size.Draw(filepath.Join(dir, "line-size.svg"))
}
