//go:build unix

// Command clusterbench measures what a chunk costs in Qdrant, on its own engine: bytes
// on disk by what they are for, memory, processor time to store it, to build the
// graphs and to search, for some numbers of chunks and some layouts.
//
//	go run -tags onnx ./internal/tools/growthbench -dir DIR ... SET...    # leaves DIR/index-30000.db
//	go run ./internal/tools/clusterbench -index DIR/index-30000.db [-chunks 1000,5000,20000] [-layouts float16,float32,int8,disk]
//
// The chunks are those of a local store, real text with its vectors. Half of the
// documents are stored; the vectors of chunks of the others are the queries. Each row
// has an engine of its own, started again before it is searched, so that memory is
// that of a server that has only read. It needs Linux, and `make qdrant`.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/waymark-rag/waymark/retriever/qdrant"
)

type settings struct {
	index, chunks, layouts, python, engine string
	queries, copies                        int
}

// layouts are what collections are created with.
var layouts = map[string]qdrant.Layout{
	"float32": {Float32: true},
	"float16": {},
	"int8":    {Quantization: qdrant.Scalar},
	"disk":    {Quantization: qdrant.Scalar, OnDisk: true},
}

func main() {
	var s settings
	flag.StringVar(&s.index, "index", "", "local store that the chunks come from")
	flag.StringVar(&s.chunks, "chunks", "1000,5000,20000", "numbers of chunks")
	flag.StringVar(&s.layouts, "layouts", "float16,float32,int8,disk", "layouts")
	flag.StringVar(&s.python, "python", ".deps/qdrant/bin/python", "what runs the engine")
	flag.StringVar(&s.engine, "engine", "internal/qdranttest/engine/adapter.py", "the engine behind Qdrant's protocol")
	flag.IntVar(&s.queries, "queries", 1000, "searches for each row")
	flag.IntVar(&s.copies, "copies", 1, "how often each document is stored, under other IDs: for more chunks than there are, where only words count")
	flag.Parse()
	if s.index == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := s.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "clusterbench:", err)
		os.Exit(1)
	}
}

func (s settings) run(ctx context.Context) error {
	for name := range strings.SplitSeq(s.layouts, ",") {
		layout, ok := layouts[name]
		if !ok {
			return fmt.Errorf("layout %q: want some of float16, float32, int8 and disk", name)
		}
		var rows []row
		for field := range strings.SplitSeq(s.chunks, ",") {
			n, err := strconv.Atoi(field)
			if err != nil {
				return err
			}
			r, err := s.measure(ctx, layout, n)
			if err != nil {
				return err
			}
			rows = append(rows, r)
		}
		print(name, rows)
	}
	return nil
}
