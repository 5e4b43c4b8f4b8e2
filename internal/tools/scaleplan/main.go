// Command scaleplan computes what 10^8 and 10^10 chunks need: bytes, machines, index
// processes, time and money, from what a chunk was measured to cost (measured.go) and
// what is assumed of machines and prices (flags).
//
//	go run ./internal/tools/scaleplan [-ram 256] [-chunks 1e9] ...
//
// It prints the tables of docs/scale.md; a test keeps the page equal to what the
// defaults print, and -update writes it:
//
//	go test ./internal/tools/scaleplan [-update]
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

func main() {
	a, chunks := flags(flag.CommandLine)
	flag.Parse()
	sizes, err := parse(*chunks)
	if err != nil {
		fmt.Fprintln(os.Stderr, "scaleplan:", err)
		os.Exit(2)
	}
	for _, t := range tables {
		fmt.Printf("%s\n\n", t.name)
		t.print(os.Stdout, *a, sizes)
		fmt.Println()
	}
}

const defaultChunks = "1e6,1e7,1e8,1e9,1e10"

// flags are the assumptions.
func flags(set *flag.FlagSet) (a *assumed, chunks *string) {
	a = &assumed{oneShard: measured.oneShard}
	number := func(to *float64, name string, value float64, usage string) { set.Float64Var(to, name, value, usage) }
	chunks = set.String("chunks", defaultChunks, "numbers of chunks")
	number(&a.perDocument, "per-document", 10, "chunks of a document")
	number(&a.cores, "cores", 16, "cores of a machine")
	number(&a.ram, "ram", 128, "GB of memory of a machine")
	number(&a.disk, "disk", 2000, "GB of disk of a machine")
	number(&a.fill, "fill", 0.7, "share of memory, disk and cores that is used: merging segments and peaks need the rest")
	number(&a.replicas, "replicas", 2, "copies of each shard")
	number(&a.shardChunks, "shard-chunks", 2e7, "most chunks of a shard")
	number(&a.days, "days", 7, "in which all is to be indexed")
	number(&a.queries, "queries", 50, "searches a second")
	number(&a.localRAM, "local-ram", 64, "GB of memory of the machine of a local store")
	number(&a.coreHour, "core-hour", 0.04, "price of an hour of a core")
	number(&a.ramMonth, "ram-month", 3, "price of a GB of memory for a month")
	number(&a.diskMonth, "disk-month", 0.1, "price of a GB of disk for a month")
	return a, chunks
}

func parse(list string) (out []float64, err error) {
	for field := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil || !(n >= 1 && n <= 1e15) {
			return nil, fmt.Errorf("-chunks %s: want numbers from 1 to 1e15, such as 1e8,1e10", list)
		}
		out = append(out, n)
	}
	return out, nil
}

// table is one of the page.
type table struct {
	name  string
	print func(w io.Writer, a assumed, chunks []float64)
}

var tables = []table{
	{"bytes", printBytes}, {"clusters", printClusters}, {"indexing", printIndexing}, {"million", printMillion},
	{"searching", printSearching}, {"fanout", printFanOut}, {"limits", printLimits},
}
