package retriever

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// found is a candidate with its rank, from 1, in each source; 0 if it is not
// there.
type found struct {
	Candidate
	dense, lexical   int
	onDense, onWords float64 // where both sources take part: its scores on their scales
	pick             int     // of MMR, from 1
}

// scale takes the scores of a source to those from 0 to 1 that can be added to
// another source's.
type scale struct{ zero, one float64 }

func (s scale) of(x float64) float64 {
	switch {
	case x <= s.zero:
		return 0
	case x >= s.one:
		return 1
	}
	return (x - s.zero) / (s.one - s.zero)
}

// minSpread is the least difference of cosines that the whole scale stands for.
// Where all are closer, as with a few passages of one file or in a language that
// the model does not know, the vector tells little apart and words count more.
const minSpread = 0.08

// denseScale has the best candidate at 1 and the one at the depth that every search
// asks for at 0, so that it is the same however many hits are wanted. How far
// cosines lie apart differs between models and queries, which this evens out.
func denseScale(list []Candidate, w Weights) scale {
	if len(list) == 0 {
		return scale{}
	}
	best, last := list[0].Score.Dense, list[min(len(list), minPool)-1].Score.Dense
	return scale{min(last, best-minSpread*(w.Landmark+w.Document)), best}
}

// lexicalScale has the best candidate at 1; BM25 itself starts at 0, where no word
// is held, which is also taken of candidates beyond the list.
func lexicalScale(list []Candidate) scale {
	if len(list) == 0 {
		return scale{}
	}
	return scale{0, list[0].Score.Lexical}
}

// fuse makes one ranking of what the sources found. With both, the value is the
// weighted mean of the two scores on their scales, from 0 to 1
// (docs/decisions/0011-fusion.md).
func fuse(c Candidates, q Query, req Request) []found {
	pool := make([]found, 0, len(c.Dense)+len(c.Lexical))
	type key struct {
		document string
		chunk    int
	}
	at := make(map[key]int, cap(pool))
	entry := func(c Candidate) *found {
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
		entry(c).dense = i + 1
	}
	for i, c := range c.Lexical {
		f := entry(c)
		f.lexical = i + 1
		f.Score.Lexical = c.Score.Lexical
	}
	dense, lexical := denseScale(c.Dense, req.Weights), lexicalScale(c.Lexical)
	for i := range pool {
		f := &pool[i]
		switch {
		case q.hybrid():
			f.onDense, f.onWords = dense.of(f.Score.Dense), lexical.of(f.Score.Lexical)
			f.Score.Value = (f.onDense + req.Lexical*f.onWords) / (1 + req.Lexical)
		case q.Vector != nil:
			f.Score.Value = f.Score.Dense
		default:
			f.Score.Value = f.Score.Lexical
		}
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

// hybrid reports whether both sources take part.
func (q Query) hybrid() bool { return q.Vector != nil && q.Words != "" }

// rule says in words how the score came about.
func (f *found) rule(req Request) string {
	q := req.query()
	var parts []string
	if q.Vector != nil {
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
		parts = append(parts, fmt.Sprintf("dense%s (%s)", place(f.dense), strings.Join(terms, " + ")))
	}
	if f.lexical > 0 {
		parts = append(parts, fmt.Sprintf("lexical%s (bm25 %.2f)", place(f.lexical), f.Score.Lexical))
	}
	rule := strings.Join(parts, ", ")
	if q.hybrid() {
		rule = fmt.Sprintf("fused (%.3f + %.4g·%.3f)/%.4g: %s", f.onDense, req.Lexical, f.onWords, 1+req.Lexical, rule)
	}
	if f.pick > 0 {
		rule = fmt.Sprintf("mmr(λ=%.4g) pick %d of %s", req.MMR, f.pick, rule)
	}
	return rule
}

// place names a rank; a candidate that another source found has none.
func place(rank int) string {
	if rank == 0 {
		return ""
	}
	return fmt.Sprintf(" #%d", rank)
}
