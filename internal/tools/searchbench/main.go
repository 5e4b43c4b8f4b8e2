// Command searchbench measures how the local store grows: the time to open it,
// the time of a query, memory and disk, from a thousand chunks to a million.
//
//	go run ./internal/tools/searchbench [-rows 1000,10000,100000,1000000] [-dir DIR] [-svg DIR]
//
// The vectors are random, of 384 numbers and ten chunks to a document; there is no
// text. Beside each search the same number of bytes is read from memory by a plain
// loop, as fast as the processor can, so that "share" says how much of the memory's
// bandwidth the whole search reaches, and "at once" is how many times as many searches
// a second there are when eight are made at once. Only these and other ratios within a
// run can be compared between machines. Stores stay in DIR and are used again.
//
//	go run -tags onnx ./internal/tools/searchbench -stores FILE,FILE -set SET
//
// shows instead what rows of fewer bits would find, with the vectors of the chunks
// in local stores and the queries of a BEIR folder.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-rag/waymark/internal/simd"
	"github.com/waymark-rag/waymark/internal/tools/cputime"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
)

const (
	dim         = 384
	perDocument = 10
	perRow      = dim + 8 // bytes of a row in the store's memory
	limit       = 10
)

type settings struct {
	rows, dir, svg string
	stores, set    string
	queries        int
	together       int
}

func main() {
	var s settings
	flag.StringVar(&s.rows, "rows", "1000,10000,100000,1000000", "numbers of chunks")
	flag.StringVar(&s.dir, "dir", "", "where the stores are kept (default: nowhere)")
	flag.StringVar(&s.svg, "svg", "", "folder to draw the curves in")
	flag.IntVar(&s.queries, "queries", 100, "queries for each number of chunks")
	flag.IntVar(&s.together, "together", 8, "searches at once, in the measure of shared passes")
	flag.StringVar(&s.stores, "stores", "", "local stores of real vectors, to compare rows of fewer bits")
	flag.StringVar(&s.set, "set", "", "BEIR folder with the queries for them")
	flag.Parse()
	run := s.run
	if s.stores != "" {
		run = s.bits
	}
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "searchbench:", err)
		os.Exit(1)
	}
}

// measured is one row of the table.
type measured struct {
	rows               int
	open, openUnsaved  time.Duration
	p50, p99           time.Duration
	cpu                time.Duration // of one query, all cores together
	share              float64       // of the memory's bandwidth
	heap, mapped, disk int64
	faster             float64 // searches a second at once, of those one after another
	bandwidth          float64
}

func (s settings) run(ctx context.Context) error {
	dir := s.dir
	if dir == "" {
		temp, err := os.MkdirTemp("", "searchbench")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		dir = temp
	}
	fmt.Printf("kernel %s, %d queries for the best %d each\n\n", simd.Kernel(), s.queries, limit)
	fmt.Println("| chunks | open ms | without vector file | p50 ms | p99 ms | CPU ms | share of bandwidth | GB/s read | at once | heap MB | mapped MB | disk MB |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|")
	var all []measured
	for field := range strings.SplitSeq(s.rows, ",") {
		rows, err := strconv.Atoi(field)
		if err != nil {
			return err
		}
		m, err := s.measure(ctx, filepath.Join(dir, field+".db"), rows)
		if err != nil {
			return err
		}
		fmt.Printf("| %d | %.1f | %.0f | %.2f | %.2f | %.2f | %.2f | %.1f | %.1f | %.1f | %.1f | %.1f |\n", rows, ms(m.open), ms(m.openUnsaved),
			ms(m.p50), ms(m.p99), ms(m.cpu), m.share, m.bandwidth/1e9, m.faster, mb(m.heap), mb(m.mapped), mb(m.disk))
		all = append(all, m)
	}
	if s.svg == "" {
		return nil
	}
	return draw(s.svg, all)
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }
func mb(n int64) float64         { return float64(n) / 1e6 }

func (s settings) measure(ctx context.Context, path string, rows int) (measured, error) {
	m := measured{rows: rows}
	if err := fill(ctx, path, rows); err != nil {
		return m, err
	}
	var err error
	if m.open, err = opening(ctx, path, 5); err != nil {
		return m, err
	}
	saved := path + ".vec"
	m.openUnsaved = m.open
	if err := os.Rename(saved, saved+".away"); err == nil {
		m.openUnsaved, err = opening(ctx, path, 1)
		if err := os.Rename(saved+".away", saved); err != nil {
			return m, err
		}
		if err != nil {
			return m, err
		}
	}
	before := heap()
	store, err := local.Open(ctx, path, &local.Options{ReadOnly: true})
	if err != nil {
		return m, err
	}
	defer store.Close()
	if err := store.Load(ctx); err != nil {
		return m, err
	}
	m.heap = heap() - before
	st, err := store.Stats(ctx)
	if err != nil {
		return m, err
	}
	m.disk = st.Bytes
	if info, err := os.Stat(saved); err == nil {
		m.mapped = info.Size()
	}
	return m, s.search(ctx, store, &m)
}

// search takes turns between searching and reading memory, so that whatever
// else the machine does slows both down.
func (s settings) search(ctx context.Context, store *local.Store, m *measured) error {
	rng := rand.New(rand.NewPCG(2, 2))
	memory := make([]byte, m.rows*perRow)
	for i := range memory {
		memory[i] = byte(i) | 1
	}
	var searches, reads []time.Duration
	for i := range s.queries + 5 {
		q := query(rng)
		begun, cpu := time.Now(), cputime.Own()
		if _, err := store.Candidates(ctx, q); err != nil {
			return err
		}
		took := time.Since(begun)
		cpu = cputime.Own() - cpu
		begun = time.Now()
		read(memory)
		if i >= 5 { // not the first touches
			searches, reads = append(searches, took), append(reads, time.Since(begun))
			m.cpu += cpu / time.Duration(s.queries)
		}
	}
	slices.Sort(searches)
	slices.Sort(reads)
	m.p50, m.p99 = searches[len(searches)/2], searches[len(searches)*99/100]
	m.share = reads[len(reads)/2].Seconds() / m.p50.Seconds()
	m.bandwidth = float64(len(memory)) / reads[len(reads)/2].Seconds()
	var ratios []float64
	for range 5 {
		alone, err := s.turn(ctx, store, rng, 1)
		if err != nil {
			return err
		}
		together, err := s.turn(ctx, store, rng, s.together)
		if err != nil {
			return err
		}
		ratios = append(ratios, alone.Seconds()/together.Seconds())
	}
	slices.Sort(ratios)
	m.faster = ratios[len(ratios)/2]
	return nil
}

// turn makes some searches, so many at once.
func (s settings) turn(ctx context.Context, store *local.Store, rng *rand.Rand, atOnce int) (time.Duration, error) {
	queries := make(chan retriever.Query, 4*s.together)
	for range cap(queries) {
		queries <- query(rng)
	}
	close(queries)
	errs := make(chan error, atOnce)
	begun := time.Now()
	for range atOnce {
		go func() {
			var err error
			for q := range queries {
				if _, failed := store.Candidates(ctx, q); failed != nil {
					err = failed
				}
			}
			errs <- err
		}()
	}
	for range atOnce {
		if err := <-errs; err != nil {
			return 0, err
		}
	}
	return time.Since(begun), nil
}

func query(rng *rand.Rand) retriever.Query {
	return retriever.Query{Vector: vector(rng), Limit: limit, Weights: retriever.Weights{Landmark: 1}}
}

// opening is the median time until a store can be searched.
func opening(ctx context.Context, path string, turns int) (time.Duration, error) {
	var took []time.Duration
	for range turns {
		begun := time.Now()
		store, err := local.Open(ctx, path, &local.Options{ReadOnly: true})
		if err != nil {
			return 0, err
		}
		err = store.Load(ctx)
		took = append(took, time.Since(begun))
		store.Close()
		if err != nil {
			return 0, err
		}
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}
