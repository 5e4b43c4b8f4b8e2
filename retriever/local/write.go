package local

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/waymark-rag/waymark/retriever"
)

// write runs one write in a transaction while no other writer, in this or
// another process, is at work. change returns whether it changed anything and
// keeps the counts in st.
func (s *Store) write(ctx context.Context, change func(tx *sql.Tx, st *state) (changed bool, err error)) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if s.readOnly {
		return fmt.Errorf("store %q was opened for reading only", s.path)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	release, err := s.lock.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	return translate(ctx, s.transact(ctx, change))
}

func (s *Store) transact(ctx context.Context, change func(tx *sql.Tx, st *state) (bool, error)) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	st, err := readState(ctx, tx)
	if err != nil {
		return err
	}
	if changed, err := change(tx, &st); err != nil || !changed {
		return err
	}
	st.change++
	if err := st.write(ctx, tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	s.wrote.Store(true)
	return nil
}

// Upsert implements retriever.Store. All documents of a call are stored in one
// transaction.
func (s *Store) Upsert(ctx context.Context, docs []retriever.Document) error {
	return s.write(ctx, func(tx *sql.Tx, st *state) (bool, error) {
		for i := range docs {
			if st.dim == 0 {
				st.dim = len(docs[i].Vector)
			}
			if err := retriever.Check(&docs[i], st.dim); err != nil {
				return false, err
			}
			if n := len(docs[i].Chunks); n > maxChunks {
				return false, fmt.Errorf("document %q: %d chunks, want %d at most; use larger chunks or split it", docs[i].ID, n, maxChunks)
			}
		}
		w, err := newWriter(ctx, tx, st)
		if err != nil {
			return false, err
		}
		for i := range docs {
			if _, err := w.remove(docs[i].ID); err != nil {
				return false, err
			}
			if err := w.insert(&docs[i]); err != nil {
				return false, fmt.Errorf("document %q: %w", docs[i].ID, err)
			}
		}
		return len(docs) > 0, nil
	})
}

// Delete implements retriever.Store.
func (s *Store) Delete(ctx context.Context, ids []string) (int, error) {
	removed := 0
	err := s.write(ctx, func(tx *sql.Tx, st *state) (changed bool, err error) {
		removed, err = removeAll(ctx, tx, st, ids)
		return removed > 0, err
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}

// DeleteWhere implements retriever.Store.
func (s *Store) DeleteWhere(ctx context.Context, filter retriever.Filter) (int, error) {
	if len(filter.All) == 0 {
		return 0, errors.New("delete by an empty filter would delete everything: want at least one condition")
	}
	removed := 0
	err := s.write(ctx, func(tx *sql.Tx, st *state) (bool, error) {
		ids, err := matchingIDs(ctx, tx, filter)
		if err != nil {
			return false, err
		}
		removed, err = removeAll(ctx, tx, st, ids)
		return removed > 0, err
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}

func removeAll(ctx context.Context, tx *sql.Tx, st *state, ids []string) (int, error) {
	w, err := newWriter(ctx, tx, st)
	if err != nil {
		return 0, err
	}
	removed := 0
	for _, id := range ids {
		found, err := w.remove(id)
		if err != nil {
			return 0, err
		}
		if found {
			removed++
		}
	}
	return removed, nil
}

// writer holds the statements of one transaction and counts what they do.
type writer struct {
	ctx   context.Context
	state *state

	find, dropDocument, dropChunks, dropWords *sql.Stmt
	addDocument, addChunk, addWords           *sql.Stmt
}

func newWriter(ctx context.Context, tx *sql.Tx, st *state) (*writer, error) {
	w := &writer{ctx: ctx, state: st}
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&w.find, `SELECT ord, chunks FROM documents WHERE id = ?`},
		{&w.dropDocument, `DELETE FROM documents WHERE ord = ?`},
		{&w.dropChunks, `DELETE FROM chunks WHERE key >= ? AND key < ?`},
		{&w.dropWords, `DELETE FROM words WHERE rowid >= ? AND rowid < ?`},
		{&w.addDocument, `INSERT INTO documents (id, chunks, title, hash, metadata, vector, text) VALUES (?, ?, ?, ?, ?, ?, ?)`},
		{&w.addChunk, `INSERT INTO chunks (key, text_start, text_end, source_start, source_end, first_line, last_line,
			place, header_start, header_end, tokens, norm, headings, vector) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&w.addWords, `INSERT INTO words (rowid, text, headings) VALUES (?, ?, ?)`},
	} {
		var err error
		if *p.stmt, err = tx.PrepareContext(ctx, p.text); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// remove takes a document away with all its parts and reports whether it was
// there.
func (w *writer) remove(id string) (bool, error) {
	var ord int64
	var chunks int
	err := w.find.QueryRowContext(w.ctx, id).Scan(&ord, &chunks)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if _, err := w.dropDocument.ExecContext(w.ctx, ord); err != nil {
		return false, err
	}
	for _, drop := range []*sql.Stmt{w.dropChunks, w.dropWords} {
		if _, err := drop.ExecContext(w.ctx, chunkKey(ord, 0), chunkKey(ord+1, 0)); err != nil {
			return false, err
		}
	}
	w.state.documents--
	w.state.chunks -= chunks
	return true, nil
}

// insert adds a document that is not there.
func (w *writer) insert(d *retriever.Document) error {
	metadata, err := encodeMetadata(d.Metadata)
	if err != nil {
		return err
	}
	result, err := w.addDocument.ExecContext(w.ctx, d.ID, len(d.Chunks), d.Title, d.Hash, string(metadata), encodeFloat16(d.Vector), d.Text)
	if err != nil {
		return err
	}
	ord, err := result.LastInsertId()
	if err != nil {
		return err
	}
	for i := range d.Chunks {
		c := &d.Chunks[i]
		headings, err := json.Marshal(c.Headings)
		if err != nil {
			return err
		}
		place := []byte{}
		if !c.Place.IsZero() {
			if place, err = json.Marshal(c.Place); err != nil {
				return err
			}
		}
		key := chunkKey(ord, i)
		_, err = w.addChunk.ExecContext(w.ctx, key, c.Text.Start, c.Text.End, c.Source.Start, c.Source.End,
			c.Lines.First, c.Lines.Last, string(place), c.Header.Start, c.Header.End, c.Tokens, float64(c.Norm), string(headings), encodeFloat16(c.Vector))
		if err != nil {
			return err
		}
		above := d.Title + "\n" + strings.Join(c.Headings, "\n")
		if _, err := w.addWords.ExecContext(w.ctx, key, indexText(c.Text.Of(d.Text)), indexText(above)); err != nil {
			return err
		}
	}
	w.state.documents++
	w.state.chunks += len(d.Chunks)
	return nil
}
