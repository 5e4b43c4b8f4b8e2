package local

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/waymark-rag/waymark/retriever"
)

// scrollPage is how many documents Scroll reads in one transaction.
const scrollPage = 64

// Fetch implements retriever.Store.
func (s *Store) Fetch(ctx context.Context, ids []string, want retriever.Want) ([]retriever.Document, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	docs, err := s.fetch(ctx, ids, want)
	return docs, translate(ctx, err)
}

func (s *Store) fetch(ctx context.Context, ids []string, want retriever.Want) ([]retriever.Document, error) {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	// Columns that are not wanted are not read: a text may be long.
	one, err := tx.PrepareContext(ctx, `SELECT ord, title, hash, metadata,
		CASE WHEN ?2 THEN vector END, CASE WHEN ?3 THEN text ELSE '' END FROM documents WHERE id = ?1`)
	if err != nil {
		return nil, err
	}
	var out []retriever.Document
	for _, id := range ids {
		d := retriever.Document{ID: id}
		var ord int64
		var metadata, vector []byte
		err := one.QueryRowContext(ctx, id, want.Vectors, want.Text).Scan(&ord, &d.Title, &d.Hash, &metadata, &vector, &d.Text)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if d.Metadata, err = decodeMetadata(metadata); err != nil {
			return nil, err
		}
		if want.Vectors {
			d.Vector = decodeFloat16(nil, vector)
		}
		if want.Chunks {
			if d.Chunks, err = readChunks(ctx, tx, ord, want.Vectors); err != nil {
				return nil, err
			}
		}
		out = append(out, d)
	}
	return out, nil
}

func readChunks(ctx context.Context, tx *sql.Tx, ord int64, vectors bool) ([]retriever.Chunk, error) {
	rows, err := tx.QueryContext(ctx, `SELECT text_start, text_end, source_start, source_end, first_line, last_line,
		place, header_start, header_end, tokens, norm, headings, CASE WHEN ? THEN vector END FROM chunks WHERE key >= ? AND key < ? ORDER BY key`,
		vectors, chunkKey(ord, 0), chunkKey(ord+1, 0))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []retriever.Chunk
	for rows.Next() {
		var c retriever.Chunk
		var place, headings, vector sql.RawBytes
		if err := rows.Scan(&c.Text.Start, &c.Text.End, &c.Source.Start, &c.Source.End, &c.Lines.First, &c.Lines.Last,
			&place, &c.Header.Start, &c.Header.End, &c.Tokens, &c.Norm, &headings, &vector); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(headings, &c.Headings); err != nil {
			return nil, err
		}
		if len(place) > 0 {
			if err := json.Unmarshal(place, &c.Place); err != nil {
				return nil, err
			}
		}
		if vectors {
			c.Vector = decodeFloat16(nil, vector)
		}
		out = append(out, c)
	}
	return out, rows.Err()
}

// Scroll implements retriever.Store.
func (s *Store) Scroll(ctx context.Context, filter retriever.Filter, want retriever.Want) iter.Seq2[retriever.Document, error] {
	return func(yield func(retriever.Document, error) bool) {
		ids, err := s.list(ctx, filter)
		for err == nil && len(ids) > 0 {
			n := min(len(ids), scrollPage)
			var page []retriever.Document
			if page, err = s.Fetch(ctx, ids[:n], want); err != nil {
				break
			}
			ids = ids[n:]
			for _, d := range page {
				if !yield(d, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(retriever.Document{}, err)
		}
	}
}

// list returns the IDs of the documents that a filter matches, in order.
func (s *Store) list(ctx context.Context, filter retriever.Filter) ([]string, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, translate(ctx, err)
	}
	defer tx.Rollback()
	ids, err := matchingIDs(ctx, tx, filter)
	return ids, translate(ctx, err)
}

// matchingIDs reads the metadata of all documents from the file, so that no
// vectors need be in memory to list or delete documents.
func matchingIDs(ctx context.Context, tx *sql.Tx, filter retriever.Filter) ([]string, error) {
	if err := filter.Validate(); err != nil {
		return nil, err
	}
	rows, err := tx.QueryContext(ctx, `SELECT id, metadata FROM documents ORDER BY id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []string
	documents, known := 0, make(map[string]bool)
	for rows.Next() {
		var id string
		var packed sql.RawBytes
		if err := rows.Scan(&id, &packed); err != nil {
			return nil, err
		}
		metadata, err := decodeMetadata(packed)
		if err != nil {
			return nil, err
		}
		documents++
		for key := range metadata {
			known[key] = true
		}
		if filter.Match(metadata) {
			ids = append(ids, id)
		}
	}
	if err := rows.Err(); err != nil || documents == 0 {
		return nil, err
	}
	return ids, filter.CheckKeys(slices.Collect(maps.Keys(known)))
}
