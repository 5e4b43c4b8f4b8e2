// Command mkdocs writes a folder of Markdown files to measure indexing with.
//
//	go run ./internal/tools/mkdocs -n 10000 DIR
//
// The files have from 1 to 20 kB, each size class as likely as the next on a
// logarithmic scale, and hold headings, paragraphs, lists, tables and fences of
// words drawn from a fixed vocabulary by a Zipf law. The same -seed gives the same
// files; -change and -remove alter shares of a folder that was written before.
package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	n := flag.Int("n", 10000, "how many files")
	seed := flag.Uint64("seed", 1, "of the random numbers")
	change := flag.Float64("change", 0, "share of the files to append a paragraph to, in place of writing any")
	remove := flag.Float64("remove", 0, "share of the files to remove, in place of writing any")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: mkdocs [flags] DIR")
		os.Exit(2)
	}
	g := &generator{rand.New(rand.NewPCG(*seed, 7))}
	if err := g.run(flag.Arg(0), *n, *change, *remove); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

type generator struct{ *rand.Rand }

func (g *generator) run(dir string, n int, change, remove float64) error {
	for i := range n {
		path := filepath.Join(dir, fmt.Sprintf("part-%02d", i%50), fmt.Sprintf("note-%05d.md", i))
		var err error
		switch u := g.Float64(); {
		case u < change:
			err = g.amend(path, i)
		case u < change+remove:
			err = os.Remove(path)
		case change+remove == 0:
			err = g.write(path, i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (g *generator) write(path string, i int) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	size := int(1000 * math.Pow(20, g.Float64()))
	var b strings.Builder
	fmt.Fprintf(&b, "# Note %d: %s\n\n", i, g.words(4))
	for b.Len() < size {
		g.section(&b)
	}
	return os.WriteFile(path, []byte(b.String()[:size]), 0o666)
}

// amend appends what no other file holds, so that a search for it must find this
// version.
func (g *generator) amend(path string, i int) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(f, "\n\n## Amendment\n\nThe marker of this change is zq%dx. %s.\n", i, g.words(12)); err != nil {
		return err
	}
	return f.Close()
}

func (g *generator) section(b *strings.Builder) {
	fmt.Fprintf(b, "## %s\n\n", g.words(3))
	switch g.IntN(5) {
	case 0:
		for range 3 + g.IntN(5) {
			fmt.Fprintf(b, "- %s\n", g.words(6+g.IntN(10)))
		}
	case 1:
		b.WriteString("| name | value |\n|---|---|\n")
		for range 3 + g.IntN(4) {
			fmt.Fprintf(b, "| %s | %d |\n", g.words(2), g.IntN(10000))
		}
	case 2:
		fmt.Fprintf(b, "```sh\n%s --%s %d\n```\n", g.words(1), g.words(1), g.IntN(100))
	default:
		for range 1 + g.IntN(3) {
			for range 2 + g.IntN(5) {
				fmt.Fprintf(b, "%s. ", g.words(8+g.IntN(14)))
			}
			b.WriteString("\n\n")
		}
	}
	b.WriteString("\n")
}

// words returns n words, frequent ones more often.
func (g *generator) words(n int) string {
	out := make([]string, n)
	for i := range out {
		rank := int(math.Exp(g.Float64()*math.Log(float64(len(vocabulary)+1)))) - 1
		out[i] = vocabulary[min(rank, len(vocabulary)-1)]
	}
	return strings.Join(out, " ")
}

var vocabulary = strings.Fields(`the of a to in and is for on with by from that as it at are be this which
index chunk vector document model store search query score passage token window file record table reader writer page
light keeper harbour lamp tower storm ship rope bell coast island tide fog log watch signal stone oil glass stair
server request client cache queue worker thread memory disk network packet frame buffer lock commit branch merge build
river mountain forest valley field garden winter summer autumn spring morning evening bread water salt iron copper
engine wheel valve pump pressure heat steam gauge circuit current voltage sensor motor gear shaft bearing weld bolt
ledger invoice budget account balance tax interest loan credit audit clause contract notice claim court witness oath
cell tissue nerve muscle blood heart lung fever dose trial patient nurse clinic vaccine enzyme protein gene virus
opened closed measured found lost moved carried wrote read kept broke mended counted sorted joined split raised fell
early late small large narrow wide quiet loud bright dark heavy light2 steady rapid sudden rare common plain strict`)
