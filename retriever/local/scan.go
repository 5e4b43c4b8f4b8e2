package local

import (
	"context"
	"math"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/waymark-rag/waymark/retriever"
)

const (
	// tileRows is how many rows all searches of a pass look at before the next:
	// few enough to stay in the cache of a core meanwhile.
	tileRows = 1024
	// shareRows is about how many rows a worker takes at a time.
	shareRows = 16 * tileRows
)

// search is a query on its way over the rows of a snapshot.
type search struct {
	ctx      context.Context
	snapshot *snapshot
	point    *point
	weights  retriever.Weights
	limit    int    // of candidates
	per      int    // of one document
	allowed  []bool // by entry
	done     chan struct{}
	found    []pick
}

// pick is a chunk that may be among the best.
type pick struct {
	high         float64 // its score is no higher
	entry, chunk int32
}

// scan returns, in no order, all chunks of the allowed entries that may be
// among the best for a query. There are few more than the query wants.
func (s *Store) scan(ctx context.Context, snap *snapshot, q retriever.Query, allowed []bool) ([]pick, error) {
	if snap.chunks.rows() == 0 { // of what dimension is perhaps not known yet
		return nil, ctx.Err()
	}
	one := &search{ctx: ctx, snapshot: snap, point: newPoint(q.Vector, snap.chunks.centre), weights: q.Weights,
		limit: q.Limit, per: q.PerDocument, allowed: allowed, done: make(chan struct{})}
	if one.per == 0 {
		one.per = one.limit
	}
	s.passes.join(one)
	if err := ctx.Err(); err != nil {
		return nil, err // the pass may still be at work on it
	}
	return one.found, nil
}

// pass takes searches of one snapshot over its rows together.
func pass(searches []*search) {
	snap := searches[0].snapshot
	rows := snap.chunks.rows()
	shares := (rows + shareRows - 1) / shareRows
	workers := make([]worker, min(runtime.GOMAXPROCS(0), shares))
	var next atomic.Int64
	var wg sync.WaitGroup
	for i := range workers {
		w := &workers[i]
		for _, s := range searches {
			w.gathers = append(w.gathers, &gather{search: s})
		}
		wg.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= shares {
					return
				}
				w.share(snap, snap.entryAt(n*shareRows), snap.entryAt(min((n+1)*shareRows, rows)))
			}
		})
	}
	wg.Wait()
	for i, s := range searches {
		all := workers[0].gathers[i]
		for _, w := range workers[1:] {
			all.merge(w.gathers[i])
		}
		all.prune()
		s.found = all.found
		close(s.done)
	}
}

// entryAt returns the first entry whose chunks start at a row or behind it.
func (s *snapshot) entryAt(row int) int {
	return sort.Search(len(s.entries), func(i int) bool { return int(s.firsts[i]) >= row })
}

// worker is a goroutine of a pass.
type worker struct {
	gathers          []*gather // by search
	chunks, document [2 * tileRows]int32
}

// share takes all searches over the chunks of the entries from..to.
func (w *worker) share(snap *snapshot, from, to int) {
	live := make([]*gather, 0, len(w.gathers))
	for _, g := range w.gathers {
		if g.ctx.Err() == nil {
			live = append(live, g)
		}
	}
	start, end := int(snap.firsts[from]), int(snap.firsts[to])
	for entry := from; start < end; start += tileRows {
		for int(snap.firsts[entry+1]) <= start {
			entry++
		}
		for _, g := range live {
			w.tile(g, entry, to, start, min(start+tileRows, end))
		}
	}
}

// tile takes one search over the rows start..end, which belong to entries
// before last and from entry on.
func (w *worker) tile(g *gather, entry, last, start, end int) {
	firsts := g.snapshot.firsts
	for entry < last && int(firsts[entry]) < end {
		if !g.allowed[entry] {
			entry++
			continue
		}
		run := entry + 1 // as many as lie side by side
		for run < last && run-entry < tileRows && int(firsts[run]) < end && g.allowed[run] {
			run++
		}
		from, to := max(start, int(firsts[entry])), min(end, int(firsts[run]))
		g.snapshot.chunks.dots(w.chunks[:], g.point, from, to)
		if g.weights.Document > 0 {
			g.snapshot.documents.dots(w.document[:], g.point, entry, run)
		}
		for i, row := entry, from; i < run; i++ {
			next := min(int(firsts[i+1]), to)
			var low, high float64
			if g.weights.Document > 0 {
				at := 2 * (i - entry)
				low, high = g.point.between(w.document[at], w.document[at+1], g.snapshot.documents.row(i))
			}
			g.offer(i, row, next, w.chunks[2*(row-from):], low*g.weights.Document, high*g.weights.Document)
			row = next
		}
		entry = run
	}
}

// gather keeps what a worker finds for a search.
type gather struct {
	*search
	lows  heap   // the limit highest of the scores that chunks reach at least
	found []pick // all that may reach the lowest of lows
	room  int    // of found before it is pruned again
	// While the chunks of a document with more than per are looked at:
	inside     heap // the per highest of its landmark scores, at least
	contenders []contender
}

// contender is a chunk of a document with more than per chunks.
type contender struct {
	low, high float64 // of the landmark's score
	chunk     int32
}

// bar is what a score must reach to count.
func (g *gather) bar() float64 { return g.lows.bar(g.limit) }

// offer takes the products of the rows from..to, which all belong to an entry
// whose part of the score lies between low and high.
func (g *gather) offer(entry, from, to int, products []int32, low, high float64) {
	first, end := int(g.snapshot.firsts[entry]), int(g.snapshot.firsts[entry+1])
	crowded, share := end-first > g.per, g.weights.Landmark
	bar := g.bar()
	for row := from; row < to; row++ {
		at := 2 * (row - from)
		l, h := g.point.between(products[at], products[at+1], g.snapshot.chunks.row(row))
		if high+share*h < bar {
			continue
		}
		if crowded {
			if !(h < g.inside.bar(g.per)) {
				g.inside.push(l, g.per)
				g.contenders = append(g.contenders, contender{l, h, int32(row - first)})
			}
			continue
		}
		g.found = append(g.found, pick{high + share*h, int32(entry), int32(row - first)})
		if g.lows.push(low+share*l, g.limit) {
			bar = g.bar()
		}
	}
	if crowded && to == end {
		// Within a document the landmarks decide.
		inside := g.inside.bar(g.per)
		for _, c := range g.contenders {
			if !(c.high < inside) {
				g.found = append(g.found, pick{high + share*c.high, int32(entry), c.chunk})
			}
		}
		for _, l := range g.inside {
			g.lows.push(low+share*l, g.limit)
		}
		g.inside, g.contenders = g.inside[:0], g.contenders[:0]
	}
	if len(g.found) > g.room {
		g.prune()
		g.room = 2*len(g.found) + 4096
	}
}

// prune drops what is known by now not to be among the best.
func (g *gather) prune() {
	kept, bar := g.found[:0], g.bar()
	for _, p := range g.found {
		if !(p.high < bar) {
			kept = append(kept, p)
		}
	}
	g.found = kept
}

func (g *gather) merge(other *gather) {
	g.found = append(g.found, other.found...)
	for _, l := range other.lows {
		g.lows.push(l, g.limit)
	}
}

// heap is a binary heap of the highest scores seen, the lowest at its root.
type heap []float64

// bar returns what a score must exceed to enter a heap of a size.
func (h heap) bar(size int) float64 {
	if len(h) < size {
		return math.Inf(-1)
	}
	return h[0]
}

// push keeps a score if it is among the highest and reports whether it is.
func (h *heap) push(x float64, size int) bool {
	a := *h
	if len(a) < size {
		a = append(a, x)
		i := len(a) - 1
		for ; i > 0 && a[(i-1)/2] > x; i = (i - 1) / 2 {
			a[i] = a[(i-1)/2]
		}
		a[i] = x
		*h = a
		return true
	}
	if !(x > a[0]) {
		return false
	}
	i := 0
	for child := 1; child < len(a); child = 2*i + 1 {
		if child+1 < len(a) && a[child+1] < a[child] {
			child++
		}
		if a[child] >= x {
			break
		}
		a[i] = a[child]
		i = child
	}
	a[i] = x
	return true
}
