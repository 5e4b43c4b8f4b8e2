package retriever

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// What a zero in a Request stands for. The weights were chosen on one set and
// confirmed on another: docs/results.md.
const (
	defaultK        = 10
	defaultLandmark = 0.8
	defaultDocument = 0.2
	defaultLexical  = 0.6
)

// Each source is asked for poolPerHit candidates for every hit wanted, and for
// at least minPool, so that fusing, merging and thinning have enough to choose
// from.
const (
	poolPerHit = 10
	minPool    = 100
)

// Request is what Search is asked for. The zero value of every field is its
// default; a vector, words or both must be given.
type Request struct {
	// Vector is the unit query vector; nil searches by words alone.
	Vector []float32
	// Words is plain text to match by BM25; empty searches by vector alone.
	Words string
	// K is the most hits returned; 0 means 10.
	K int
	// Level is what is ranked; empty means Both.
	Level Level
	// Weights combine the two dense scores at the level Both; zero means
	// 0.8 for the landmark and 0.2 for the document. The other levels fix them.
	Weights Weights
	// Lexical is the weight of the words' score where it is fused with the
	// vector's, whose weight is 1; 0 means 0.6, and a negative value leaves words
	// out when there is a vector.
	Lexical float64
	// Filter restricts the search to documents whose metadata matches.
	Filter Filter
	// MinScore drops candidates that score lower.
	MinScore MinScore
	// MMR, from 0 to 1, is the share of relevance in maximal marginal
	// relevance, the rest being unlikeness to the hits before; 0 turns it off.
	MMR float64
	// Neighbours is how many chunks each hit's text is widened by on each side.
	Neighbours int
	// PerDocument is the most hits of one document; 0 means no limit.
	PerDocument int
}

// MinScore holds the least score of each kind that a candidate needs; nil asks
// for none. Scores of a kind that the request does not produce are refused.
type MinScore struct {
	Value, Dense, Landmark, Document, Lexical *float64
}

// WithDefaults returns r with every zero replaced by its default.
func (r Request) WithDefaults() Request {
	r.K = cmp.Or(r.K, defaultK)
	r.Level = cmp.Or(r.Level, Both)
	r.Lexical = cmp.Or(r.Lexical, defaultLexical)
	r.Neighbours = min(r.Neighbours, math.MaxInt32) // so that adding to it does not overflow
	switch {
	case r.Level == ChunkLevel:
		r.Weights = Weights{Landmark: 1}
	case r.Level == DocumentLevel:
		r.Weights = Weights{Document: 1}
		r.PerDocument = 1
	case r.Weights == Weights{}:
		r.Weights = Weights{defaultLandmark, defaultDocument}
	}
	return r
}

// Validate reports the first setting that cannot be used.
func (r Request) Validate() error {
	r = r.WithDefaults()
	if r.K < 0 {
		return fmt.Errorf("search for %d hits: want 1 or more, or 0 for %d", r.K, defaultK)
	}
	if all := []Level{Both, ChunkLevel, DocumentLevel}; !slices.Contains(all, r.Level) {
		return fmt.Errorf("search level %q: want one of %q", r.Level, all)
	}
	if math.IsNaN(r.Lexical) || math.IsInf(r.Lexical, 0) {
		return fmt.Errorf("lexical weight %v: want a finite number", r.Lexical)
	}
	if !(r.MMR >= 0 && r.MMR <= 1) {
		return fmt.Errorf("MMR %v: want 0 to 1", r.MMR)
	}
	if r.Neighbours < 0 {
		return fmt.Errorf("%d neighbours: want 0 or more", r.Neighbours)
	}
	q := r.query()
	for _, least := range r.MinScore.kinds() {
		if least.min == nil {
			continue
		}
		if math.IsNaN(*least.min) {
			return fmt.Errorf("minimum %s score NaN: want a number", least.name)
		}
		if least.needs == "vector" && q.Vector == nil || least.needs == "words" && q.Words == "" {
			return fmt.Errorf("minimum %s score %v: the search has no %s to score by", least.name, *least.min, least.needs)
		}
	}
	return q.Validate(0)
}

// query is what the store is asked for.
func (r Request) query() Query {
	q := Query{
		Vector: r.Vector, Words: r.Words, Weights: r.Weights, Filter: r.Filter,
		Limit:       max(r.K*poolPerHit, minPool),
		PerDocument: r.PerDocument,
	}
	if r.Vector != nil && r.Lexical < 0 {
		q.Words = ""
	}
	if r.Level != DocumentLevel {
		q.PerDocument *= 3 // since neighbours will be merged into one hit
	}
	return q
}

// Search returns the best passages of a store, best first. Where both sources
// take part, what counts is the weighted mean of both scores, each put on a scale
// from 0 to 1 by what the query found. The K best chunks are merged where they touch in the document; places that
// this frees go to the next best that touch none.
//
// The same request on the same content gives the same hits in the same order.
// A document that changes during the search is shown as it is at the end.
func Search(ctx context.Context, store Store, req Request) ([]Hit, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	req = req.WithDefaults()
	const tries = 3
	for try := 1; ; try++ {
		hits, complete, err := search(ctx, store, req)
		if err != nil {
			return nil, err
		}
		// A passage that vanished in between left a gap: look again.
		if complete || try == tries {
			return hits, nil
		}
	}
}

// Rank returns the chunks that Search makes its hits of, best first and before any
// are merged: all that the sources found, of which the request's K sets how many.
func Rank(ctx context.Context, store Store, req Request) ([]Candidate, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	pool, err := rank(ctx, store, req.WithDefaults())
	if err != nil {
		return nil, err
	}
	out := make([]Candidate, len(pool))
	for i, f := range pool {
		out[i] = f.Candidate
	}
	return out, nil
}

// search is one try of Search; it is not complete if a document went missing
// between ranking and reading.
func search(ctx context.Context, store Store, req Request) (hits []Hit, complete bool, err error) {
	pool, err := rank(ctx, store, req)
	if err != nil {
		return nil, false, err
	}
	return passages(ctx, store, merge(pool, req), req)
}

func rank(ctx context.Context, store Store, req Request) ([]found, error) {
	q := req.query()
	candidates, err := store.Candidates(ctx, q)
	if err != nil {
		return nil, err
	}
	pool := fuse(candidates, q, req)
	pool = slices.DeleteFunc(pool, func(f found) bool { return !req.MinScore.allows(f.Score) })
	if req.MMR > 0 && len(pool) > 0 {
		return diversify(ctx, store, pool, req)
	}
	return pool, nil
}

type leastScore struct {
	name, needs string
	min         *float64
	of          func(Score) float64
}

func (m MinScore) kinds() []leastScore {
	return []leastScore{
		{"final", "", m.Value, func(s Score) float64 { return s.Value }},
		{"dense", "vector", m.Dense, func(s Score) float64 { return s.Dense }},
		{"landmark", "vector", m.Landmark, func(s Score) float64 { return s.Landmark }},
		{"document", "vector", m.Document, func(s Score) float64 { return s.Document }},
		{"lexical", "words", m.Lexical, func(s Score) float64 { return s.Lexical }},
	}
}

func (m MinScore) allows(s Score) bool {
	for _, k := range m.kinds() {
		if k.min != nil && k.of(s) < *k.min {
			return false
		}
	}
	return true
}
