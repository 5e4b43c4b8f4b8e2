package eval

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Result is what a system did on a set.
type Result struct {
	Set    *Set
	System string
	// Values has a row for each of the set's questions with a column for each of
	// Metrics; not a number where a metric does not apply.
	Values [][]float64
	// Run are the documents that were ranked.
	Run Run
}

// Evaluate runs the questions of a set through a system. progress, if not nil, is
// told how many of all are done.
func Evaluate(ctx context.Context, set *Set, system System, progress func(done, all int)) (*Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	rankings := make([]Ranking, len(set.Queries))
	var next atomic.Int64
	var wg sync.WaitGroup
	var mu sync.Mutex
	finished := 0
	done := func() {
		mu.Lock()
		defer mu.Unlock()
		if finished++; progress != nil {
			progress(finished, len(set.Queries))
		}
	}
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(set.Queries) {
					return
				}
				var err error
				if rankings[i], err = system.Rank(ctx, &set.Queries[i]); err != nil {
					cancel(err)
				}
				done()
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return score(set, system.Name(), rankings), nil
}

// EvaluateRun scores rankings that somebody else made. Questions that were judged
// and that the run lacks count with nothing found, as with trec_eval's -c.
func EvaluateRun(name string, qrels Qrels, run Run) *Result {
	set := &Set{Name: name}
	var rankings []Ranking
	for _, id := range sortedKeys(qrels) {
		set.Queries = append(set.Queries, Query{ID: id, Gains: qrels[id]})
		rankings = append(rankings, Ranking{Documents: run[id]})
	}
	return score(set, name, rankings)
}

func score(set *Set, system string, rankings []Ranking) *Result {
	r := &Result{Set: set, System: system, Run: Run{}}
	for i := range set.Queries {
		q := &set.Queries[i]
		row := make([]float64, len(Metrics))
		for k, m := range Metrics {
			row[k] = m.Of(q, rankings[i])
		}
		r.Values = append(r.Values, row)
		r.Run[q.ID] = rankings[i].Documents
	}
	return r
}

// Column is a metric's value for each question.
func (r *Result) Column(metric int) []float64 { return column(r.Values, metric) }

func column(rows [][]float64, n int) []float64 {
	out := make([]float64, len(rows))
	for i, row := range rows {
		out[i] = row[n]
	}
	return out
}

// of are the values of some questions.
func (s Slice) of(column []float64) []float64 {
	out := make([]float64, len(s.Queries))
	for i, n := range s.Queries {
		out[i] = column[n]
	}
	return out
}
