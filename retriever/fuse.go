package retriever

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// rrfK is the constant of reciprocal rank fusion: a rank r is worth 1/(rrfK+r).
const rrfK = 60

// found is a candidate with its rank, from 1, in each source; 0 if it is not
// there.
type found struct {
	Candidate
	dense, lexical int
	rule           string
}

// fuse makes one ranking of what the sources found.
func fuse(c Candidates, q Query, req Request) []found {
	pool := make([]found, 0, len(c.Dense)+len(c.Lexical))
	type key struct {
		document string
		chunk    int
	}
	at := make(map[key]int, cap(pool))
	place := func(c Candidate) *found {
		k := key{c.Document, c.Chunk}
		if req.Level == DocumentLevel {
			k.chunk = 0 // the document is ranked: its best chunks in both sources are one
		}
		i, ok := at[k]
		if !ok {
			i = len(pool)
			at[k] = i
			pool = append(pool, found{Candidate: c})
		}
		return &pool[i]
	}
	for i, c := range c.Dense {
		place(c).dense = i + 1
	}
	for i, c := range c.Lexical {
		f := place(c)
		f.lexical = i + 1
		f.Score.Lexical = c.Score.Lexical
	}
	hybrid := q.Vector != nil && q.Words != ""
	for i := range pool {
		f := &pool[i]
		switch {
		case hybrid:
			f.Score.Value = reciprocal(f.dense) + req.Lexical*reciprocal(f.lexical)
		case q.Vector != nil:
			f.Score.Value = f.Score.Dense
		default:
			f.Score.Value = f.Score.Lexical
		}
		f.rule = f.explain(hybrid, req)
	}
	slices.SortFunc(pool, func(a, b found) int {
		return cmp.Or(
			cmp.Compare(b.Score.Value, a.Score.Value),
			cmp.Compare(b.Score.Dense, a.Score.Dense),
			cmp.Compare(b.Score.Landmark, a.Score.Landmark),
			cmp.Compare(a.Document, b.Document),
			cmp.Compare(a.Chunk, b.Chunk),
		)
	})
	return pool
}

func reciprocal(rank int) float64 {
	if rank == 0 {
		return 0
	}
	return 1 / float64(rrfK+rank)
}

// explain says in words how the score came about.
func (f *found) explain(hybrid bool, req Request) string {
	var parts []string
	if f.dense > 0 {
		var terms []string
		term := func(weight float64, name string, score float64) {
			switch weight {
			case 0:
			case 1:
				terms = append(terms, fmt.Sprintf("%s %.3f", name, score))
			default:
				terms = append(terms, fmt.Sprintf("%.4g·%s %.3f", weight, name, score))
			}
		}
		term(req.Weights.Landmark, "landmark", f.Score.Landmark)
		term(req.Weights.Document, "document", f.Score.Document)
		parts = append(parts, fmt.Sprintf("dense #%d (%s)", f.dense, strings.Join(terms, " + ")))
	}
	if f.lexical > 0 {
		weight := ""
		if hybrid && req.Lexical != 1 {
			weight = fmt.Sprintf("%.4g·", req.Lexical)
		}
		parts = append(parts, fmt.Sprintf("%slexical #%d (bm25 %.2f)", weight, f.lexical, f.Score.Lexical))
	}
	rule := strings.Join(parts, ", ")
	if hybrid {
		return fmt.Sprintf("rrf(k=%d): %s", rrfK, rule)
	}
	return rule
}
