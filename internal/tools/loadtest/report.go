package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// report prints what became of the load, as Markdown.
func (l load) report(w io.Writer, tenants []*tenant, watch *watcher, left int) {
	fmt.Fprintf(w, "%d streams at once and %g searches a second for %v, shared %s.\n", l.streams, l.searches, l.time, l.tenants)
	kinds := []struct {
		name string
		of   func(*tenant) *tally
	}{
		{"searches", func(t *tenant) *tally { return &t.searches }},
		{"streams", func(t *tenant) *tally { return &t.streams }},
	}
	fmt.Fprint(w, "\n| | tenant | offered | answered | 429 | other | p50 | p95 | p99 |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, kind := range kinds {
		for _, t := range tenants {
			a := kind.of(t)
			other := a.offered - len(a.took) - a.refused
			row := func(name string, took []time.Duration) {
				fmt.Fprintf(w, "| %s | %s | %d | %d | %.1f %% | %d | %s | %s | %s |\n", name, t.name, a.offered, len(a.took),
					100*float64(a.refused)/float64(max(a.offered, 1)), other, seconds(percentile(took, .5)), seconds(percentile(took, .95)), seconds(percentile(took, .99)))
			}
			if len(a.first) > 0 {
				row(kind.name+", first word", a.first)
			}
			row(kind.name, a.took)
		}
	}
	for _, kind := range kinds {
		for _, t := range tenants {
			for _, failure := range slices.Sorted(maps.Keys(kind.of(t).failed)) {
				fmt.Fprintf(w, "\n- %s of %s: %s, %d times\n", kind.name, t.name, failure, kind.of(t).failed[failure])
			}
		}
	}
	if left > 0 {
		fmt.Fprintf(w, "\n%d clients went away in the middle of a stream.\n", left)
	}
	fmt.Fprint(w, "\n| the server | memory | goroutines |\n|---|---|---|\n")
	for _, s := range watch.samples {
		fmt.Fprintf(w, "| %s | %.0f MiB | %.0f |\n", s.when, s.memory/(1<<20), s.goroutines)
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3g s", d.Seconds()) }
