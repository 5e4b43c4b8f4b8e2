package local

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"github.com/waymark-rag/waymark/retriever"
)

// candidate is a chunk that a source found.
type candidate struct {
	*entry
	chunk int
	score retriever.Score
}

func (c candidate) key() int64 { return chunkKey(c.ord, c.chunk) }

// Candidates implements retriever.Store.
func (s *Store) Candidates(ctx context.Context, q retriever.Query) (retriever.Candidates, error) {
	if err := s.enter(); err != nil {
		return retriever.Candidates{}, err
	}
	defer s.leave()
	dense, lexical, err := s.candidates(ctx, q)
	if err != nil {
		return retriever.Candidates{}, translate(ctx, err)
	}
	return retriever.Candidates{Dense: export(dense), Lexical: export(lexical)}, nil
}

func (s *Store) candidates(ctx context.Context, q retriever.Query) (dense, lexical []candidate, err error) {
	tx, snap, err := s.view(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer tx.Rollback()
	if err := q.Validate(snap.chunks.dim()); err != nil {
		return nil, nil, err
	}
	allowed, err := snap.matching(q.Filter)
	if err != nil {
		return nil, nil, err
	}
	if q.Words != "" {
		if lexical, err = snap.lexical(ctx, tx, q, allowed); err != nil {
			return nil, nil, err
		}
		slices.SortFunc(lexical, byLexical)
		lexical = cut(lexical, q)
	}
	if q.Vector == nil {
		return nil, lexical, nil
	}
	picks, err := s.scan(ctx, snap, q, allowed)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range picks {
		dense = append(dense, candidate{entry: &snap.entries[p.entry], chunk: int(p.chunk)})
	}
	if err := s.scoreLandmarks(ctx, tx, q, dense, lexical); err != nil {
		return nil, nil, err
	}
	if q.Weights.Document > 0 {
		err = s.scoreDocuments(ctx, tx, q, dense, lexical)
	}
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(dense, byDense)
	dense = cut(dense, q)
	if q.Weights.Document == 0 { // for these alone, as it changes no order
		err = s.scoreDocuments(ctx, tx, q, dense, lexical)
	}
	return dense, lexical, err
}

func byDense(a, b candidate) int {
	return cmp.Or(
		cmp.Compare(b.score.Dense, a.score.Dense),
		cmp.Compare(b.score.Landmark, a.score.Landmark),
		byPlace(a, b),
	)
}

func byLexical(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.score.Lexical, a.score.Lexical), byPlace(a, b))
}

func byPlace(a, b candidate) int {
	return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.chunk, b.chunk))
}

// cut keeps the first of the ordered candidates that the query lets through.
func cut(ordered []candidate, q retriever.Query) []candidate {
	out := ordered[:0]
	of := make(map[int64]int)
	for _, c := range ordered {
		if len(out) == q.Limit {
			break
		}
		if of[c.ord]++; q.PerDocument == 0 || of[c.ord] <= q.PerDocument {
			out = append(out, c)
		}
	}
	return out
}

func export(found []candidate) []retriever.Candidate {
	out := make([]retriever.Candidate, len(found))
	for i, c := range found {
		out[i] = retriever.Candidate{Document: c.id, Chunk: c.chunk, Score: c.score}
	}
	return out
}

// scoreLandmarks fills in the landmarks' scores from the stored vectors, and
// their share of the dense scores.
func (s *Store) scoreLandmarks(ctx context.Context, tx *sql.Tx, q retriever.Query, lists ...[]candidate) error {
	scores, err := cosines(ctx, tx.StmtContext(ctx, s.chunkVectors), q.Vector, candidate.key, lists)
	if err != nil {
		return err
	}
	for _, list := range lists {
		for i := range list {
			c := &list[i]
			c.score.Landmark = scores[c.key()]
			c.score.Dense = q.Weights.Landmark * c.score.Landmark
		}
	}
	return nil
}

// scoreDocuments does the same with the documents' scores.
func (s *Store) scoreDocuments(ctx context.Context, tx *sql.Tx, q retriever.Query, lists ...[]candidate) error {
	ord := func(c candidate) int64 { return c.ord }
	scores, err := cosines(ctx, tx.StmtContext(ctx, s.documentVectors), q.Vector, ord, lists)
	if err != nil {
		return err
	}
	for _, list := range lists {
		for i := range list {
			c := &list[i]
			c.score.Document = scores[c.ord]
			c.score.Dense += q.Weights.Document * c.score.Document
		}
	}
	return nil
}

// What finds stored vectors by a list of keys in JSON.
const (
	selectChunkVectors    = `SELECT key, vector FROM chunks WHERE key IN (SELECT value FROM json_each(?))`
	selectDocumentVectors = `SELECT ord, vector FROM documents WHERE ord IN (SELECT value FROM json_each(?))`
)

// cosines returns the product of v with each vector that a query selects by the
// keys of candidates.
func cosines(ctx context.Context, query *sql.Stmt, v []float32, key func(candidate) int64, lists [][]candidate) (map[int64]float64, error) {
	out := make(map[int64]float64)
	var keys []int64
	for _, list := range lists {
		for _, c := range list {
			k := key(c)
			if _, there := out[k]; !there {
				out[k] = 0
				keys = append(keys, k)
			}
		}
	}
	slices.Sort(keys) // as they lie in the file
	list, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	rows, err := query.QueryContext(ctx, string(list)) // as bytes it would be taken for binary JSON
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var stored []float32
	for rows.Next() {
		var k int64
		var packed sql.RawBytes
		if err := rows.Scan(&k, &packed); err != nil {
			return nil, err
		}
		if stored, err = unpack(stored, packed, len(v)); err != nil {
			return nil, err
		}
		var sum float64
		for i, x := range stored {
			sum += float64(x) * float64(v[i])
		}
		out[k] = sum
	}
	return out, rows.Err()
}
