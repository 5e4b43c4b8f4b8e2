package qdrant

import (
	"cmp"
	"context"
	"math"
	"reflect"
	"slices"
	"strings"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/waymark-rag/waymark/retriever"
)

// Candidates implements retriever.Store.
//
// The server finds parts; one further call gives the scores of their documents,
// and with them the versions that are there, so that parts of no version, or of
// one that was replaced meanwhile, are left out. Where a part has several
// landmarks, they come with it and the best ones are told apart here: the server
// does not say which landmark won.
func (s *Store) Candidates(ctx context.Context, q retriever.Query) (retriever.Candidates, error) {
	if err := s.enter(ctx); err != nil {
		return retriever.Candidates{}, err
	}
	defer s.leave()
	if err := q.Validate(s.fingerprint.Dim); err != nil {
		return retriever.Candidates{}, err
	}
	conditions, empty, err := s.conditions(ctx, q.Filter)
	if err != nil || empty {
		return retriever.Candidates{}, err
	}
	out, err := s.candidates(ctx, &search{Store: s, q: q, conditions: conditions, terms: terms(q.Words)})
	if err != nil {
		return retriever.Candidates{}, err
	}
	if len(q.Filter.All) > 0 && (len(out.Dense)+len(out.Lexical) == 0 || meetsMissing(q.Filter)) {
		err = s.checkKeys(ctx, q.Filter)
	}
	return out, err
}

// candidates asks for more and more parts until there are enough candidates. What
// is replaced while the search reads it is searched again. What is left out twice,
// for the same version, is what a writer that died has left behind.
func (s *Store) candidates(ctx context.Context, r *search) (retriever.Candidates, error) {
	reach := max(r.q.Limit, s.opts.Search.Candidates)
	var left []leftover
	for again := 0; ; {
		if err := r.round(ctx, reach); err != nil {
			return retriever.Candidates{}, err
		}
		if len(r.left) > 0 && !reflect.DeepEqual(r.left, left) && again < attempts {
			left = r.left
			again++
			if err := pause(ctx, again); err != nil {
				return retriever.Candidates{}, err
			}
			continue
		}
		dense, enough := r.dense()
		lexical, enoughWords := r.lexical()
		if enough && enoughWords {
			return retriever.Candidates{Dense: dense, Lexical: lexical}, nil
		}
		reach *= 4
	}
}

// search is one call of Candidates.
type search struct {
	*Store
	q          retriever.Query
	conditions []*pb.Condition
	terms      []string

	// What the last round found.
	parts     map[string]*part // by point
	documents map[string]*head
	left      []leftover // what was left out
	// The best that a chunk which no part has can score, -Inf if there is none.
	denseBound, lexicalBound float64
}

// dense ranks the chunks that the vector found. enough is false if there may be
// better ones, or more where there are too few.
func (r *search) dense() (list []retriever.Candidate, enough bool) {
	if r.q.Vector == nil {
		return nil, true
	}
	for _, p := range r.parts {
		for i := range p.landmarks {
			if p.byVector {
				list = append(list, r.candidate(p, i))
			}
		}
	}
	list = r.cut(list, func(s retriever.Score) float64 { return s.Dense })
	for i := range list {
		list[i].Score.Lexical = 0
	}
	return list, r.enough(list, r.denseBound, func(s retriever.Score) float64 { return s.Dense })
}

// lexical ranks the chunks that the words found.
func (r *search) lexical() (list []retriever.Candidate, enough bool) {
	for _, p := range r.parts {
		for i, score := range p.lexical {
			if score > 0 {
				list = append(list, r.candidate(p, i))
			}
		}
	}
	list = r.cut(list, func(s retriever.Score) float64 { return s.Lexical })
	return list, r.enough(list, r.lexicalBound, func(s retriever.Score) float64 { return s.Lexical })
}

// enough reports whether a ranking stands: nothing was left that is not in it or,
// where it is as long as asked, in exact search nothing that could be better.
func (r *search) enough(list []retriever.Candidate, bound float64, score func(retriever.Score) float64) bool {
	if math.IsInf(bound, -1) {
		return true
	}
	if len(list) < r.q.Limit {
		return false
	}
	return !r.opts.Search.Exact || score(list[len(list)-1].Score) > bound+slack
}

// slack is more than the rounding of scores in single precision.
const slack = 1e-5

func (r *search) candidate(p *part, i int) retriever.Candidate {
	c := retriever.Candidate{Document: p.document, Chunk: p.first + i}
	if p.lexical != nil {
		c.Score.Lexical = p.lexical[i]
	}
	if r.q.Vector != nil {
		c.Score.Landmark = p.landmarks[i]
		c.Score.Document = r.documents[p.document].score
		c.Score.Dense = r.q.Weights.Landmark*c.Score.Landmark + r.q.Weights.Document*c.Score.Document
	}
	return c
}

// cut orders candidates as a Store has to and keeps those that the query allows.
func (r *search) cut(list []retriever.Candidate, score func(retriever.Score) float64) []retriever.Candidate {
	slices.SortFunc(list, func(a, b retriever.Candidate) int {
		return cmp.Or(cmp.Compare(score(b.Score), score(a.Score)), cmp.Compare(b.Score.Landmark, a.Score.Landmark),
			strings.Compare(a.Document, b.Document), cmp.Compare(a.Chunk, b.Chunk))
	})
	of := make(map[string]int)
	kept := list[:0]
	for _, c := range list {
		if len(kept) == r.q.Limit {
			break
		}
		if of[c.Document]++; r.q.PerDocument == 0 || of[c.Document] <= r.q.PerDocument {
			kept = append(kept, c)
		}
	}
	return slices.Clip(kept)
}
