package main

import (
	"math"
	"slices"
	"sync"
	"time"
)

// tally collects what became of requests of one kind.
type tally struct {
	mu      sync.Mutex
	offered int
	refused int // with 429 and when to try again
	failed  map[string]int
	took    []time.Duration // of those answered
	first   []time.Duration // till the first piece of a stream
}

// outcome is what became of one request.
type outcome struct {
	refused     bool
	failure     string // what went wrong, short, the same text for the same thing
	first, took time.Duration
	retry       time.Duration
}

func (t *tally) add(o outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.offered++
	switch {
	case o.failure != "":
		if t.failed == nil {
			t.failed = map[string]int{}
		}
		t.failed[o.failure]++
	case o.refused:
		t.refused++
	default:
		t.took = append(t.took, o.took)
		if o.first > 0 {
			t.first = append(t.first, o.first)
		}
	}
}

// percentile is the least of the values that p of them, 0 to 1, do not exceed; 0 if
// there are none.
func percentile(values []time.Duration, p float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(p * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}
