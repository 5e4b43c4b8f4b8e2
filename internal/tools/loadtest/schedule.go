package main

import (
	"context"
	"math/rand/v2"
	"time"
)

// arrivals are the times from the start at which requests are due, at random as of
// many people who know nothing of each other: a Poisson process.
func arrivals(perSecond float64, within time.Duration, rng *rand.Rand) []time.Duration {
	var out []time.Duration
	if perSecond <= 0 {
		return out
	}
	for at := 0.0; ; {
		at += rng.ExpFloat64() / perSecond
		due := time.Duration(at * float64(time.Second))
		if due >= within {
			return out
		}
		out = append(out, due)
	}
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
