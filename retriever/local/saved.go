package local

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"io"
	"os"
)

// The vector file beside the store is a snapshot to begin with instead of
// reading every vector from the store. It is never the truth: without it, or
// with one that is damaged or another store's, everything is as it is but for
// the time that the first search takes.
//
// Which file is right is the store's to say: it holds the name, a random token,
// of the last one that was written for it. The ords of documents are never used
// twice, so a snapshot of any earlier state of this store plus the documents
// with higher ords less what is not there any more is the present state. A store
// that was copied or put back from a copy holds the token of its own time.
const vectorSuffix = ".vec"

// freshRows is how many rows, beside a quarter of all, may be missing in the
// vector file before it is written again.
const freshRows = 1024

// token names one vector file.
type token [16]byte

// readToken returns the token of the vector file that belongs to the store as
// the transaction sees it, or no rows.
func readToken(ctx context.Context, tx *sql.Tx) (token, error) {
	var there int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE name = 'vectors'`).Scan(&there); err != nil {
		return token{}, err
	}
	if there == 0 {
		return token{}, sql.ErrNoRows
	}
	var name []byte
	if err := tx.QueryRowContext(ctx, `SELECT token FROM vectors`).Scan(&name); err != nil {
		return token{}, err
	}
	if len(name) != len(token{}) {
		return token{}, sql.ErrNoRows
	}
	return token(name), nil
}

// openVectors returns the snapshot in the vector file if that belongs to the
// state that the transaction sees, and otherwise nil.
func (s *Store) openVectors(ctx context.Context, tx *sql.Tx, st state) (*snapshot, error) {
	want, err := readToken(ctx, tx)
	if errors.Is(err, sql.ErrNoRows) || !littleEndian() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(s.path + vectorSuffix)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() < headerSize || int64(int(info.Size())) != info.Size() {
		return nil, nil
	}
	data, release, err := mapFile(f, int(info.Size()))
	if err != nil {
		return nil, nil
	}
	h, err := readHeader(data)
	if err != nil || h.Token != want || int(h.Dim) != st.dim || h.Change > st.change {
		return nil, release()
	}
	snap, err := readVectors(data, h)
	if err != nil { // it is damaged: without it, Close writes another
		if !s.readOnly {
			os.Remove(s.path + vectorSuffix)
		}
		return nil, release()
	}
	s.unmap = release
	return snap, nil
}

// saveVectors writes the vector file anew if the store has changed enough and
// nobody is writing, who would do it later.
func (s *Store) saveVectors(ctx context.Context) error {
	if !littleEndian() {
		return nil
	}
	release, err := newWriteLock(s.path+lockSuffix, -1).acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	if stale, err := s.vectorsStale(ctx); err != nil || !stale {
		return err
	}
	tx, snap, err := s.view(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var name token
	rand.Read(name[:])
	// The name is shorter than the lock's, which is known to be possible.
	temp := s.path + "~"
	if err := writeFile(temp, func(f *os.File) error { return writeVectors(f, snap, name) }); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if err := os.Rename(temp, s.path+vectorSuffix); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	tx.Rollback()
	if tx, err = s.db.BeginTx(ctx, nil); err != nil {
		return err
	}
	defer tx.Rollback()
	for _, statement := range []string{`CREATE TABLE IF NOT EXISTS vectors (token BLOB NOT NULL)`, `DELETE FROM vectors`} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO vectors VALUES (?)`, name[:]); err != nil {
		return err
	}
	return tx.Commit()
}

// writeFile makes a file that is on the disk when it returns.
func writeFile(path string, write func(f *os.File) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// vectorsStale reports whether much of the store is not in the vector file, or
// much of the file not in the store.
func (s *Store) vectorsStale(ctx context.Context) (bool, error) {
	tx, st, err := s.beginRead(ctx)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	if st.chunks < s.freshRows {
		return false, nil
	}
	var h vectorHeader
	if want, err := readToken(ctx, tx); err == nil {
		if h = s.vectorHeader(); h.Token != want {
			h = vectorHeader{}
		}
	} else if !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	var newer int
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(sum(chunks), 0) FROM documents WHERE ord > ?`, h.LastOrd).Scan(&newer); err != nil {
		return false, err
	}
	gone := int(h.Chunks) + newer - st.chunks
	return newer+gone > s.freshRows+st.chunks/4, nil
}

// vectorHeader reads the header of the vector file, the zero one if there is
// none.
func (s *Store) vectorHeader() vectorHeader {
	f, err := os.Open(s.path + vectorSuffix)
	if err != nil {
		return vectorHeader{}
	}
	defer f.Close()
	data := make([]byte, headerSize)
	if _, err := io.ReadFull(f, data); err != nil {
		return vectorHeader{}
	}
	h, err := readHeader(data)
	if err != nil {
		return vectorHeader{}
	}
	return h
}
