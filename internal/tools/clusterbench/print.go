//go:build unix

package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/waymark-rag/waymark/internal/tools/curves"
)

// print writes a table of a layout, with a row for each measure. "each more" is the
// slope of a line through the sizes: what one more chunk costs, whatever an empty
// collection does. For what is divided by the chunks it is how it grows, as n to the power.
func print(layout string, rows []row) {
	fmt.Printf("\n| %s ", layout)
	line := func(cells []string, last string) {
		for _, c := range cells {
			fmt.Printf("| %s ", c)
		}
		fmt.Printf("| %s |\n", last)
	}
	all := func(format string, value func(r row) float64) (cells []string, x, y []float64) {
		for _, r := range rows {
			cells, x, y = append(cells, fmt.Sprintf(format, value(r))), append(x, float64(r.chunks)), append(y, value(r))
		}
		return cells, x, y
	}
	total := func(name string, value func(r row) float64) {
		fmt.Printf("| %s ", name)
		cells, x, y := all("%.0f", value)
		_, slope := curves.Line(x, y)
		line(cells, fmt.Sprintf("%.1f", slope))
	}
	each := func(name string, value func(r row) float64) {
		fmt.Printf("| %s ", name)
		cells, x, y := all("%.3f", value)
		line(cells, fmt.Sprintf("n^%.2f", curves.Exponent(x, y)))
	}
	cells, _, _ := all("%.0f", func(r row) float64 { return float64(r.chunks) })
	line(cells, "each more")
	fmt.Print("|---")
	line(slices.Repeat([]string{"---"}, len(rows)), "---")
	total("documents", func(r row) float64 { return float64(r.documents) })
	parts := map[string]bool{}
	for _, r := range rows {
		for p := range r.disk {
			parts[p] = true
		}
	}
	for _, p := range slices.Sorted(maps.Keys(parts)) {
		total("disk, bytes: "+p, func(r row) float64 { return float64(r.disk[p]) })
	}
	total("memory of its own, bytes", func(r row) float64 { return float64(r.own) })
	total("memory of mapped files, bytes", func(r row) float64 { return float64(r.mapped) })
	each("store: client CPU ms a chunk", func(r row) float64 { return ms(r.client) / float64(r.chunks) })
	each("store: engine CPU ms a chunk", func(r row) float64 { return ms(r.server) / float64(r.chunks) })
	each("build graphs: CPU ms a chunk", func(r row) float64 { return ms(r.build) / float64(r.chunks) })
	each("search by graph: engine CPU ms", func(r row) float64 { return ms(r.graph) })
	each("search exactly: engine CPU ms", func(r row) float64 { return ms(r.exact) })
	each("search by words: engine CPU ms", func(r row) float64 { return ms(r.words) })
	each("the same without stop words", func(r row) float64 { return ms(r.telling) })
	each("hybrid candidates: engine CPU ms", func(r row) float64 { return ms(r.hybrid) })
	each("count documents: engine CPU ms", func(r row) float64 { return ms(r.stats) })
	each("list documents: engine CPU ms", func(r row) float64 { return ms(r.list) })
	for _, share := range []float64{.5, .9, .99, .999} {
		each(fmt.Sprintf("search by graph: wall ms p%g", 100*share), func(r row) float64 { return ms(r.wall[int(share*float64(len(r.wall)))]) })
	}
	each("recall@10 of the graph", func(r row) float64 { return r.recall })
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }
