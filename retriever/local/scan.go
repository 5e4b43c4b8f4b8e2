package local

import (
	"context"
	"runtime"
	"sort"
	"sync"

	"github.com/waymark-rag/waymark/retriever"
)

const (
	// rescored is how many chunks at least are scored exactly after the scan,
	// and rescoredPerHit how many for each one wanted. The scan's error is
	// about a thousandth of a cosine, so what belongs to the best is among them.
	rescored       = 256
	rescoredPerHit = 4
	// spare is how many chunks of a document beyond PerDocument are scored
	// exactly, as the best of a document may change places too.
	spare = 3
	// rowsPerWorker is how many rows make another goroutine worth its while.
	rowsPerWorker = 4096
	// rowsPerCheck is how many rows are scanned between looks at the context.
	rowsPerCheck = 8192
	// maxCosine is more than any approximate cosine.
	maxCosine = 1.05
)

// pick is a chunk with its approximate scores.
type pick struct {
	score, landmark float32
	entry, chunk    int32
}

// scan returns the chunks of the allowed entries that may be among the best for
// a query, in no order.
func (s *snapshot) scan(ctx context.Context, q retriever.Query, allowed []bool) ([]pick, error) {
	limit, perDocument := max(rescored, rescoredPerHit*q.Limit), 0
	if q.PerDocument > 0 {
		perDocument = q.PerDocument + spare
		limit = (limit*perDocument + q.PerDocument - 1) / q.PerDocument
	}
	limit = min(limit, s.chunks.rows())
	if limit == 0 {
		return nil, ctx.Err()
	}
	workers := min(runtime.GOMAXPROCS(0), s.chunks.rows()/rowsPerWorker+1)
	tops := make([]top, workers)
	vector := quantiseQuery(q.Vector)
	var wg sync.WaitGroup
	for w := range workers {
		from, to := s.entryAt(s.chunks.rows()*w/workers), s.entryAt(s.chunks.rows()*(w+1)/workers)
		tops[w] = top{snapshot: s, limit: limit}
		wg.Go(func() { s.scanEntries(ctx, &tops[w], from, to, vector, q.Weights, perDocument, allowed) })
	}
	wg.Wait()
	all := tops[0]
	for _, t := range tops[1:] {
		for _, p := range t.picks {
			all.offer(p)
		}
	}
	return all.picks, ctx.Err()
}

// entryAt returns the first entry whose chunks start at a row or behind it.
func (s *snapshot) entryAt(row int) int {
	return sort.Search(len(s.entries), func(i int) bool { return s.entries[i].first >= row })
}

// scanEntries offers the chunks of the entries from..to, at most perDocument of
// each unless that is 0.
func (s *snapshot) scanEntries(ctx context.Context, best *top, from, to int, q quantised, w retriever.Weights, perDocument int, allowed []bool) {
	ofDocument := top{snapshot: s, limit: perDocument}
	unchecked := 0
	for e := from; e < to; e++ {
		if !allowed[e] {
			continue
		}
		first, count := s.entries[e].first, s.entries[e].count
		if unchecked += count; unchecked > rowsPerCheck {
			if unchecked = 0; ctx.Err() != nil {
				return
			}
		}
		var document float32
		if w.Document > 0 {
			document = float32(w.Document) * s.documents.dot(e, q)
		}
		if best.full() && document+float32(w.Landmark)*maxCosine < best.picks[0].score {
			continue // no chunk of it can come in
		}
		into := best
		if perDocument > 0 {
			into = &ofDocument
			into.picks = into.picks[:0]
		}
		for i := range count {
			landmark := s.chunks.dot(first+i, q)
			into.offer(pick{float32(w.Landmark)*landmark + document, landmark, int32(e), int32(i)})
		}
		if perDocument > 0 {
			for _, p := range into.picks {
				best.offer(p)
			}
		}
	}
}

// top keeps the best picks offered: a binary heap with the worst of them at its
// root.
type top struct {
	snapshot *snapshot
	limit    int
	picks    []pick
}

func (t *top) full() bool { return len(t.picks) == t.limit }

func (t *top) offer(p pick) {
	switch {
	case !t.full():
		t.picks = append(t.picks, p)
		t.rise(len(t.picks) - 1)
	case t.before(p, t.picks[0]):
		t.picks[0] = p
		t.sink(0)
	}
}

// rise moves the pick at i up past those that rank before it.
func (t *top) rise(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !t.before(t.picks[parent], t.picks[i]) {
			return
		}
		t.picks[parent], t.picks[i] = t.picks[i], t.picks[parent]
		i = parent
	}
}

// sink moves the pick at i down below those that rank after it.
func (t *top) sink(i int) {
	for {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(t.picks); child++ {
			if t.before(t.picks[worst], t.picks[child]) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		t.picks[worst], t.picks[i] = t.picks[i], t.picks[worst]
		i = worst
	}
}

// before reports whether a ranks before b.
func (t *top) before(a, b pick) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	if a.landmark != b.landmark {
		return a.landmark > b.landmark
	}
	if a.entry != b.entry {
		return t.snapshot.entries[a.entry].id < t.snapshot.entries[b.entry].id
	}
	return a.chunk < b.chunk
}
