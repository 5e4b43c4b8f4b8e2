package local

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/waymark-rag/waymark/retriever"
)

// What the header of the file says: that it is ours, and the format's version.
const (
	applicationID = 0x57_4d_4b_31 // "WMK1"
	formatVersion = 1
)

// schema is format 1; docs/store-format.md explains it.
//
// A document's ord is never used twice and a new version of a document gets a
// new one, so that ord also orders everything by the time it was written. The
// key of a chunk is its document's ord and its index in one number (see
// chunkKey), which keeps the chunks of a document side by side without an
// index and names them in the full-text table too. Large columns come last
// because SQLite walks through a row from its start.
const schema = `
CREATE TABLE state (
	one         INTEGER PRIMARY KEY CHECK (one = 1),
	change      INTEGER NOT NULL,
	documents   INTEGER NOT NULL,
	chunks      INTEGER NOT NULL,
	dim         INTEGER NOT NULL,
	fingerprint TEXT NOT NULL
);
CREATE TABLE documents (
	ord      INTEGER PRIMARY KEY AUTOINCREMENT,
	id       TEXT NOT NULL UNIQUE,
	chunks   INTEGER NOT NULL,
	title    TEXT NOT NULL,
	hash     TEXT NOT NULL,
	metadata TEXT NOT NULL,
	vector   BLOB NOT NULL,
	text     TEXT NOT NULL
);
CREATE TABLE chunks (
	key          INTEGER PRIMARY KEY,
	text_start   INTEGER NOT NULL,
	text_end     INTEGER NOT NULL,
	source_start INTEGER NOT NULL,
	source_end   INTEGER NOT NULL,
	first_line   INTEGER NOT NULL,
	last_line    INTEGER NOT NULL,
	place        TEXT NOT NULL,
	header_start INTEGER NOT NULL,
	header_end   INTEGER NOT NULL,
	tokens       INTEGER NOT NULL,
	norm         REAL NOT NULL,
	headings     TEXT NOT NULL,
	vector       BLOB NOT NULL
);
CREATE VIRTUAL TABLE words USING fts5(
	text, headings,
	content = '', contentless_delete = 1,
	tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* M* Co'"
);
`

// The lowest chunkBits of a chunk's key are its index.
const (
	chunkBits = 20
	maxChunks = 1 << chunkBits
	indexMask = maxChunks - 1
)

// chunkKey is the key of the chunk with an index in the document with an ord.
func chunkKey(ord int64, index int) int64 { return ord<<chunkBits | int64(index) }

// splitKey is the inverse of chunkKey.
func splitKey(key int64) (ord int64, index int) { return key >> chunkBits, int(key & indexMask) }

// state is the one row of the table of that name.
type state struct {
	change            int64 // counts the writes
	documents, chunks int
	dim               int // 0 until it is known
	fingerprint       retriever.Fingerprint
}

// querier is a connection, a pool of them or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func readState(ctx context.Context, q querier) (state, error) {
	var s state
	var fingerprint []byte
	err := q.QueryRowContext(ctx, `SELECT change, documents, chunks, dim, fingerprint FROM state`).
		Scan(&s.change, &s.documents, &s.chunks, &s.dim, &fingerprint)
	if err != nil {
		return state{}, err
	}
	return s, json.Unmarshal(fingerprint, &s.fingerprint)
}

func (s state) write(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `UPDATE state SET change = ?, documents = ?, chunks = ?, dim = ?`,
		s.change, s.documents, s.chunks, s.dim)
	return err
}

// inspect reports whether the file is still empty, and an error if it is
// anything but a store of this format.
func inspect(ctx context.Context, q querier) (empty bool, err error) {
	var id, version, tables int
	err = q.QueryRowContext(ctx, `SELECT
		(SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version),
		(SELECT count(*) FROM sqlite_schema)`).Scan(&id, &version, &tables)
	switch {
	case err != nil:
		return false, err
	case id == 0 && version == 0 && tables == 0:
		return true, nil
	case id != applicationID:
		return false, errNotStore
	case version > formatVersion:
		return false, fmt.Errorf("it has format %d and this program reads up to %d: use a newer waymark", version, formatVersion)
	case version < 1:
		return false, fmt.Errorf("it has format %d: want %d", version, formatVersion)
	}
	return false, nil
}

// create fills an empty file.
func create(ctx context.Context, db *sql.DB, f retriever.Fingerprint) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	// Neither can be set within a transaction; both stay with the file. Larger
	// pages waste less on rows that hold a vector.
	for _, pragma := range []string{`PRAGMA page_size = 8192`, `PRAGMA journal_mode = WAL`} {
		if _, err := conn.ExecContext(ctx, pragma); err != nil {
			return err
		}
	}
	fingerprint, err := json.Marshal(f)
	if err != nil {
		return err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	_, err = tx.ExecContext(ctx, schema+fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d;`, applicationID, formatVersion))
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO state VALUES (1, 0, 0, 0, ?, ?)`, f.Dim, string(fingerprint)); err != nil {
		return err
	}
	return tx.Commit()
}
