package main

import (
	"fmt"
	"io"
	"math"
	"strings"
)

func row(w io.Writer, cells ...string) { fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }

func head(w io.Writer, cells ...string) {
	row(w, cells...)
	fmt.Fprintf(w, "|%s\n", strings.Repeat("---|", len(cells)))
}

// count writes a number of things with three figures.
func count(x float64) string {
	switch {
	case x >= 1e12:
		return fmt.Sprintf("%.3g·10^%d", x/math.Pow(10, math.Floor(math.Log10(x))), int(math.Floor(math.Log10(x))))
	case x >= 1e9:
		return fmt.Sprintf("%.3g billion", x/1e9)
	case x >= 1e6:
		return fmt.Sprintf("%.3g million", x/1e6)
	case x >= 1000:
		return fmt.Sprintf("%.0f,%03.0f", math.Floor(math.Round(x)/1000), math.Mod(math.Round(x), 1000))
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// size writes a number of bytes.
func size(x float64) string {
	for _, u := range []string{"B", "kB", "MB", "GB", "TB"} {
		if x < 1000 {
			return fmt.Sprintf("%.3g %s", x, u)
		}
		x /= 1000
	}
	return fmt.Sprintf("%.3g PB", x)
}

func seconds(x float64) string {
	switch {
	case x < 1e-3:
		return fmt.Sprintf("%.3g µs", x*1e6)
	case x < 1:
		return fmt.Sprintf("%.3g ms", x*1e3)
	}
	return fmt.Sprintf("%.3g s", x)
}

func printBytes(w io.Writer, _ assumed, _ []float64) {
	cells := []string{"bytes a chunk, on disk / in memory"}
	for _, l := range layouts {
		cells = append(cells, l.name)
	}
	head(w, cells...)
	for i, p := range layouts[0].parts {
		cells := []string{p.name}
		for _, l := range layouts {
			cells = append(cells, fmt.Sprintf("%.0f / %.0f", l.parts[i].disk, l.parts[i].memory))
		}
		row(w, cells...)
	}
	cells = []string{"**together**"}
	for _, l := range layouts {
		memory, disk := l.bytes()
		cells = append(cells, fmt.Sprintf("**%.0f / %.0f**", disk, memory))
	}
	row(w, cells...)
}

func printClusters(w io.Writer, a assumed, chunks []float64) {
	head(w, "chunks", "layout", "memory", "disk", "shards", "machines", "because of", "price a month")
	for _, n := range chunks {
		for _, l := range layouts {
			c := plan(a, l, n)
			row(w, count(n), l.name, size(c.ram), size(c.disk), count(c.shards), count(c.machines), c.bound, count(c.month))
		}
	}
}

func printIndexing(w io.Writer, a assumed, chunks []float64) {
	head(w, "chunks", "documents", "read, cut, encode: core hours", "store and build graphs: core hours", fmt.Sprintf("index processes for %g days", a.days), "price")
	for _, n := range chunks {
		c := plan(a, onDisk, n)
		row(w, count(n), count(n/a.perDocument), count(c.indexHours), count(c.storeHours), count(c.indexers), count(c.once))
	}
}

// printMillion is what a million documents cost where there are many.
func printMillion(w io.Writer, a assumed, _ []float64) {
	head(w, "a million documents", "memory", "disk", "core hours to index", "price of indexing", "price a month")
	for _, l := range layouts {
		n := 1e6 * a.perDocument
		c := plan(a, l, n)
		month := c.ram / gb * a.ramMonth / a.fill
		month += c.disk / gb * a.diskMonth / a.fill
		row(w, l.name, size(c.ram), size(c.disk), count(c.indexHours+c.storeHours), count(c.once), count(month))
	}
}

func printSearching(w io.Writer, a assumed, chunks []float64) {
	head(w, "chunks", "shards", "a shard's graph, CPU", "its words, CPU", "all shards, CPU", fmt.Sprintf("cores for %g a second", a.queries),
		"without words", "to the program", "within the cluster")
	for _, n := range chunks {
		c := plan(a, onDisk, n)
		in := n / c.shards
		graph, words := grown(measured.graphCPU, in), measured.wordsCPU*in
		row(w, count(n), count(c.shards), seconds(graph), seconds(words), seconds(c.shards*(graph+words)), count(c.searchCores),
			count(a.queries*c.shards*graph), size(c.network)+"/s", size(c.within)+"/s")
	}
}

func printFanOut(w io.Writer, a assumed, _ []float64) {
	head(w, "shards", "p50 ms", "p90 ms", "p99 ms")
	for _, n := range []float64{1, 4, 16, 64, 256} {
		cells := []string{count(n)}
		for _, share := range []float64{.5, .9, .99} {
			at, ok := fanOut(a.oneShard, share, n)
			cell := fmt.Sprintf("%.1f", at*1000)
			if !ok {
				cell = "above " + cell
			}
			cells = append(cells, cell)
		}
		row(w, cells...)
	}
}

func printLimits(w io.Writer, a assumed, _ []float64) {
	head(w, "store", "what ends", "from so many chunks", "calculated as", "what to do")
	for _, l := range limits(a) {
		row(w, l.store, l.what, count(l.chunks), l.why, l.remedy)
	}
}
