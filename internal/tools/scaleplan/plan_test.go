package main

import (
	"bytes"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables into docs/scale.md")

func defaults(t *testing.T) (assumed, []float64) {
	t.Helper()
	a, chunks := flags(flag.NewFlagSet("test", flag.ContinueOnError))
	sizes, err := parse(*chunks)
	if err != nil {
		t.Fatal(err)
	}
	return *a, sizes
}

// TestPage holds the tables of docs/scale.md equal to what the program prints.
func TestPage(t *testing.T) {
	a, sizes := defaults(t)
	path := filepath.Join("..", "..", "..", "docs", "scale.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := string(page)
	for _, table := range tables {
		begin, end := "<!-- scaleplan: "+table.name+" -->\n", "<!-- end -->"
		before, rest, ok := strings.Cut(want, begin)
		_, after, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Fatalf("docs/scale.md has no place for the table %s: want %q and behind it %q", table.name, begin, end)
		}
		var b bytes.Buffer
		table.print(&b, a, sizes)
		want = before + begin + b.String() + end + after
	}
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(page) != want {
		t.Error("docs/scale.md has other tables than scaleplan prints: go test ./internal/tools/scaleplan -update")
	}
}

// plain is a layout of round numbers, so that a plan can be checked by hand.
var plain = layout{"plain", []part{{"vectors", 1000, 1000}, {"text", 3000, 0}}}

func TestPlan(t *testing.T) {
	a, _ := defaults(t)
	a.ram, a.disk, a.fill, a.replicas, a.shardChunks, a.queries, a.days, a.coreHour, a.cores = 100, 1000, 0.5, 2, 1e7, 0, 10, 0.1, 10
	a.ramMonth, a.diskMonth = 2, 0.1
	c := plan(a, plain, 1e8)
	for _, v := range []struct {
		what      string
		have, got float64
	}{
		{"memory: 10^8 x 1000 x 2", 2e11, c.ram},
		{"disk: 10^8 x 4000 x 2", 8e11, c.disk},
		{"shards", 10, c.shards},
		{"machines: 200 GB / 50 GB", 4, c.machines},
		{"month: 4 x (100 x 2 + 1000 x 0.1 + 10 x 0.1 x 730)", 4120, c.month},
		{"hours of indexing", 1e8 * measured.indexCPU / 3600, c.indexHours},
		{"processes in 240 hours", math.Ceil(1e8 * (measured.indexCPU + measured.clientCPU) / 3600 / 240), c.indexers},
	} {
		if math.Abs(v.got-v.have) > 1e-9*v.have {
			t.Errorf("%s: %v, want %v", v.what, v.got, v.have)
		}
	}
	if c.bound != "memory" {
		t.Errorf("bound by %s, want memory", c.bound)
	}
	a.disk = 100
	if c := plan(a, plain, 1e8); c.bound != "disk" || c.machines != 16 { // 800 GB / 50 GB
		t.Errorf("with small disks %v machines because of %s, want 16 because of disk", c.machines, c.bound)
	}
	a.queries = 1e5
	if c := plan(a, plain, 1e8); c.bound != "searches" || c.machines != math.Ceil(c.searchCores/5) {
		t.Errorf("with many queries %v machines because of %s, want as %v cores need", c.machines, c.bound, c.searchCores)
	}
	a.queries = 0
	if c := plan(a, plain, 1); c.machines != 3 || c.bound != "copies" {
		t.Errorf("one chunk on %v machines because of %s, want 3 because of copies", c.machines, c.bound)
	}
}

func TestGraphsGrowWithTheLogarithm(t *testing.T) {
	if got := grown(graphCost{seconds: 3, chunks: 1e3}, 1e6); math.Abs(got-6) > 1e-12 {
		t.Errorf("a thousand times as large costs %v, want twice 3", got)
	}
}

// TestFanOut checks the formula against a simulation.
func TestFanOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var one []quantile // of exponentially distributed times
	for _, share := range []float64{.5, .9, .99, .999} {
		one = append(one, quantile{share, -math.Log(1 - share)})
	}
	for _, shards := range []int{1, 4, 16, 64} {
		slowest := make([]float64, 20_000)
		for i := range slowest {
			for range shards {
				slowest[i] = max(slowest[i], rng.ExpFloat64())
			}
		}
		slices.Sort(slowest)
		for _, share := range []float64{.5, .9} {
			got, ok := fanOut(one, share, float64(shards))
			want := slowest[int(share*float64(len(slowest)))]
			if !ok || math.Abs(got-want) > 0.05*want {
				t.Errorf("%d shards, p%g: %v (%t), simulated %v", shards, 100*share, got, ok, want)
			}
		}
	}
	if got, ok := fanOut(one, .99, 64); ok || got != one[3].seconds {
		t.Errorf("p99 of 64 shards is one's p99.98, beyond what was measured: %v, %t", got, ok)
	}
	if got, ok := fanOut(one, .1, 1); !ok || got != one[0].seconds {
		t.Errorf("p10 of one shard: %v, %t, want the lowest that is known", got, ok)
	}
}

func TestLimitsAreNumbers(t *testing.T) {
	a, _ := defaults(t)
	for _, l := range limits(a) {
		if !(l.chunks > 1e4 && l.chunks < 1e14) {
			t.Errorf("%s: %s ends at %v chunks", l.store, l.what, l.chunks)
		}
	}
}

func TestUnits(t *testing.T) {
	for _, v := range []struct{ got, want string }{
		{size(999), "999 B"}, {size(1234), "1.23 kB"}, {size(3.92e10), "39.2 GB"}, {size(2e15), "2 PB"}, {size(7e15), "7 PB"},
		{count(12.34), "12.3"}, {count(4120), "4,120"}, {count(49261.08), "49,261"}, {count(999.6), "1000"}, {count(100000), "100,000"}, {count(1e8), "100 million"}, {count(2.5e9), "2.5 billion"},
		{seconds(41.6e-9), "0.0416 µs"}, {seconds(0.25), "250 ms"}, {seconds(3), "3 s"},
	} {
		if v.got != v.want {
			t.Errorf("%q, want %q", v.got, v.want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, bad := range []string{"", "x", "0", "-1", "NaN", "1e8,,1e9", "1e300"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("-chunks %q was taken", bad)
		}
	}
}
