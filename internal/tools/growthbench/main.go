//go:build unix

// Command growthbench measures how the whole line grows on real text: what indexing
// a folder, opening its index and asking it cost, from a thousand chunks on.
//
//	go run -tags onnx ./internal/tools/growthbench -waymark bin/waymark [-chunks 1000,3000,10000,30000] [-svg DIR] SET...
//
// A SET is a BEIR folder. The documents of all are shuffled and written, a file each,
// into a folder that grows from step to step; `waymark index` takes in what is new,
// each time into the same index. Every step is then indexed again unchanged, and
// searched once, both by processes of their own. Last the questions of the sets are
// asked of each step's index within this process. CPU times and memory are those of
// the processes and hardly depend on what else the machine does; wall times do.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/eval"
)

type settings struct {
	waymark, chunks, dir, svg string
	queries                   int
}

func main() {
	var s settings
	flag.StringVar(&s.waymark, "waymark", "bin/waymark", "the program, as make build makes it")
	flag.StringVar(&s.chunks, "chunks", "1000,3000,10000,30000", "about how many chunks each step has, growing")
	flag.StringVar(&s.dir, "dir", "", "where folder and indexes are made, and stay (default: nowhere)")
	flag.StringVar(&s.svg, "svg", "", "folder to draw the curves in")
	flag.IntVar(&s.queries, "queries", 200, "questions asked of each step")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := s.run(context.Background(), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "growthbench:", err)
		os.Exit(1)
	}
}

func (s settings) run(ctx context.Context, sets []string) error {
	if s.dir == "" {
		temp, err := os.MkdirTemp("", "growthbench")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		s.dir = temp
	}
	var targets []int
	for field := range strings.SplitSeq(s.chunks, ",") {
		n, err := strconv.Atoi(field)
		if err != nil {
			return err
		}
		targets = append(targets, n)
	}
	docs, questions, err := read(sets)
	if err != nil {
		return err
	}
	g := &growing{settings: s, docs: docs}
	var steps []step
	for _, n := range targets {
		st, err := g.grow(ctx, n)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%d chunks indexed\n", st.chunks)
		steps = append(steps, st)
	}
	g.docs, docs = nil, nil // not part of what the searches need
	a, err := openAsker(ctx)
	if err != nil {
		return err
	}
	defer a.close()
	for i := range steps {
		if err := a.ask(ctx, &steps[i], questions[:min(s.queries, len(questions))]); err != nil {
			return err
		}
	}
	print(steps)
	if s.svg == "" {
		return nil
	}
	return draw(s.svg, steps)
}

// read returns the documents and the questions of all sets, each in an order that is
// random but always the same.
func read(sets []string) (docs []chunker.Document, questions []string, err error) {
	for _, dir := range sets {
		set, err := eval.Read(dir, eval.ReadOptions{})
		if err != nil {
			return nil, nil, err
		}
		for i, d := range set.Documents {
			d.ID = filepath.Join(set.Name, strconv.Itoa(i)+".txt")
			docs = append(docs, d)
		}
		for _, q := range set.Queries {
			questions = append(questions, q.Text)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	rng.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	rng.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
	return docs, questions, nil
}
