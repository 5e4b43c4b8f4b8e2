package local

import (
	"context"
	"database/sql"
	"strings"

	"github.com/waymark-rag/waymark/retriever"
)

// lexical returns at least the candidates by words that cut will keep, if there
// are as many. It reads on through equal scores, so that cut sees all of them.
func (s *snapshot) lexical(ctx context.Context, tx *sql.Tx, q retriever.Query, allowed []bool) ([]candidate, error) {
	telling, err := s.telling(ctx, tx, terms(q.Words))
	if err != nil || len(telling) == 0 {
		return nil, err
	}
	// A word in the headings counts half as much as one in the text.
	rows, err := tx.QueryContext(ctx, `SELECT rowid, -rank FROM words
		WHERE words MATCH ? AND rank MATCH 'bm25(1.0, 0.5)' ORDER BY rank`, strings.Join(telling, " OR "))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []candidate
	kept, of := 0, make(map[int64]int)
	for rows.Next() {
		var key int64
		var score float64
		if err := rows.Scan(&key, &score); err != nil {
			return nil, err
		}
		if kept >= q.Limit && score < out[len(out)-1].score.Lexical {
			break
		}
		ord, chunk := splitKey(key)
		i, ok := s.find(ord)
		if !ok || !allowed[i] {
			continue
		}
		if of[ord]++; q.PerDocument == 0 || of[ord] <= q.PerDocument {
			kept++
		}
		out = append(out, candidate{&s.entries[i], chunk, retriever.Score{Lexical: score}})
	}
	return out, rows.Err()
}

// telling leaves out the terms that more than half of all chunks hold, unless
// nothing else would be found: BM25 gives them no weight, yet scoring all those
// chunks takes ten times as long as all the rest of a question. Counting them
// is quick.
func (s *snapshot) telling(ctx context.Context, tx *sql.Tx, terms []string) ([]string, error) {
	count, err := tx.PrepareContext(ctx, `SELECT count(*) FROM words WHERE words MATCH ?`)
	if err != nil {
		return nil, err
	}
	var rare, common []string
	for _, term := range terms {
		var chunks int
		if err := count.QueryRowContext(ctx, term).Scan(&chunks); err != nil {
			return nil, err
		}
		switch {
		case chunks > s.liveChunks/2:
			common = append(common, term)
		case chunks > 0:
			rare = append(rare, term)
		}
	}
	if len(rare) == 0 {
		return common, nil
	}
	return rare, nil
}
