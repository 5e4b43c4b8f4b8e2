package local

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"

	"github.com/waymark-rag/waymark/retriever"
)

// snapshot is what a search needs in memory, as of one change of the store. It
// is never modified: a newer one shares its rows and adds to them.
type snapshot struct {
	change    int64
	entries   []entry // in order of ord
	gone      []bool  // by entry: replaced or deleted
	firsts    []int32 // by entry: row of its first chunk; and one more, where the last one's end
	documents matrix  // a row for each entry
	chunks    matrix  // the rows of each entry side by side
	sampled   int     // of how many chunks the matrices' centre is the mean
	keys      map[string]int
	// What is left when the gone are taken away.
	liveEntries, liveChunks int
}

// entry is one version of a document.
type entry struct {
	ord      int64
	id       string
	metadata *metadata
}

func newSnapshot(centre []float32, sampled int) *snapshot {
	return &snapshot{keys: map[string]int{}, firsts: []int32{0}, documents: matrix{centre: centre}, chunks: matrix{centre: centre}, sampled: sampled}
}

// count returns how many chunks an entry has.
func (s *snapshot) count(i int) int { return int(s.firsts[i+1] - s.firsts[i]) }

// find returns the index of the entry with an ord, if it is not gone.
func (s *snapshot) find(ord int64) (int, bool) {
	i := sort.Search(len(s.entries), func(i int) bool { return s.entries[i].ord >= ord })
	return i, i < len(s.entries) && s.entries[i].ord == ord && !s.gone[i]
}

// matching reports, by entry, which documents a filter lets through.
func (s *snapshot) matching(f retriever.Filter) ([]bool, error) {
	out := make([]bool, len(s.entries))
	if s.liveEntries > 0 {
		if err := f.CheckKeys(slices.Collect(maps.Keys(s.keys))); err != nil {
			return nil, err
		}
	}
	for i := range s.entries {
		out[i] = !s.gone[i] && (len(f.All) == 0 || f.Match(s.entries[i].metadata.get()))
	}
	return out, nil
}

// clone returns a copy that can be added to while s is in use: what it shares
// with s lies within the length of s's slices.
func (s *snapshot) clone() *snapshot {
	c := *s
	c.gone = slices.Clone(s.gone)
	c.keys = maps.Clone(s.keys)
	c.documents, c.chunks = s.documents.clone(), s.chunks.clone()
	return &c
}

func (s *snapshot) remove(i int) {
	s.gone[i] = true
	s.liveEntries--
	s.liveChunks -= s.count(i)
	for key := range s.entries[i].metadata.get() {
		if s.keys[key]--; s.keys[key] == 0 {
			delete(s.keys, key)
		}
	}
}

// mostlyGone reports whether it is time to read everything anew.
func (s *snapshot) mostlyGone() bool {
	const few = 1024 // not worth it
	live, all := s.liveEntries+s.liveChunks, len(s.entries)+s.chunks.rows()
	return all-live > live+few
}

// sampleRows is how many chunks the centre of the matrices is the mean of, and
// samplePlaces at how many places of the file they are.
const (
	sampleRows   = 1024
	samplePlaces = 32
)

// outgrown reports whether a store of so many chunks deserves another centre: a
// better one makes searches faster.
func (s *snapshot) outgrown(chunks int) bool {
	return s.sampled < sampleRows && chunks > 4*s.sampled
}

// mean returns the mean of some chunks' vectors, and of how many.
func mean(ctx context.Context, tx *sql.Tx, dim int) (centre []float32, sampled int, err error) {
	sums := make([]float64, dim)
	var last int64
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(key), 0) FROM chunks`).Scan(&last); err != nil {
		return nil, 0, err
	}
	from := int64(0)
	for i := range int64(samplePlaces) {
		from, err = addSample(ctx, tx, sums, max(from, last/samplePlaces*i), &sampled)
		if err != nil {
			return nil, 0, err
		}
	}
	centre = make([]float32, dim)
	for i, sum := range sums {
		centre[i] = float32(sum / float64(max(1, sampled)))
	}
	return centre, sampled, nil
}

// addSample adds the chunks of one place and returns the key behind them.
func addSample(ctx context.Context, tx *sql.Tx, sums []float64, from int64, sampled *int) (int64, error) {
	rows, err := tx.QueryContext(ctx, `SELECT key, vector FROM chunks WHERE key >= ? ORDER BY key LIMIT ?`, from, sampleRows/samplePlaces)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var vector []float32
	for rows.Next() {
		var packed sql.RawBytes
		if err := rows.Scan(&from, &packed); err != nil {
			return 0, err
		}
		if vector, err = unpack(vector, packed, len(sums)); err != nil {
			return 0, err
		}
		for i, x := range vector {
			sums[i] += float64(x)
		}
		*sampled++
		from++
	}
	return from, rows.Err()
}

// loader brings snapshots up to date. There is one, used by one goroutine at a
// time.
type loader struct {
	// byID is the live entry of each document in the newest snapshot; nil when
	// it must be made again.
	byID map[string]int
}

// view begins a transaction and returns it with the snapshot of exactly the
// state that the transaction sees. The caller rolls the transaction back.
func (s *Store) view(ctx context.Context) (*sql.Tx, *snapshot, error) {
	tx, st, err := s.beginRead(ctx)
	if err != nil {
		return nil, nil, err
	}
	if snap := s.current.Load(); snap.change == st.change {
		return tx, snap, nil
	}
	// Whoever waits to load holds no connection: the pool may have no other
	// for the one who loads.
	tx.Rollback()
	var l *loader
	select {
	case l = <-s.loading:
		defer func() { s.loading <- l }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	if tx, st, err = s.beginRead(ctx); err != nil {
		return nil, nil, err
	}
	snap := s.current.Load()
	if snap.change != st.change {
		if snap, err = s.newer(ctx, l, tx, st, snap); err != nil {
			tx.Rollback()
			return nil, nil, fmt.Errorf("load vectors: %w", err)
		}
		s.current.Store(snap)
	}
	return tx, snap, nil
}

// newer returns the snapshot of st, which the transaction sees, given an older
// one; the first begins with the vector file.
func (s *Store) newer(ctx context.Context, l *loader, tx *sql.Tx, st state, old *snapshot) (*snapshot, error) {
	if old.change < 0 && s.unmap == nil {
		saved, err := s.openVectors(ctx, tx, st)
		if err != nil {
			return nil, err
		}
		if saved != nil && saved.change == st.change && saved.liveEntries == st.documents && saved.liveChunks == st.chunks {
			return saved, nil
		}
		if saved != nil {
			if snap, err := l.advance(ctx, tx, st, saved); err == nil || ctx.Err() != nil {
				return snap, err
			}
		}
	}
	return l.advance(ctx, tx, st, old)
}

// beginRead begins a transaction that sees one state from here on.
func (s *Store) beginRead(ctx context.Context) (*sql.Tx, state, error) {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, state{}, err
	}
	st, err := readState(ctx, tx)
	if err != nil {
		tx.Rollback()
		return nil, state{}, err
	}
	return tx, st, nil
}

// Load makes all vectors ready for searching, or what was written since the last
// time. The first search does it otherwise; a search that is cancelled during it
// leaves it to the next.
func (s *Store) Load(ctx context.Context) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	tx, _, err := s.view(ctx)
	if err != nil {
		return translate(ctx, err)
	}
	return tx.Rollback()
}

// advance returns the snapshot of st, which the transaction sees, given an
// older one.
func (l *loader) advance(ctx context.Context, tx *sql.Tx, st state, old *snapshot) (*snapshot, error) {
	if old.mostlyGone() || old.chunks.dim() != st.dim || old.outgrown(st.chunks) {
		centre, sampled, err := mean(ctx, tx, st.dim)
		if err != nil {
			return nil, err
		}
		old, l.byID = newSnapshot(centre, sampled), nil
	}
	if l.byID == nil {
		l.byID = make(map[string]int, st.documents)
		for i, e := range old.entries {
			if !old.gone[i] {
				l.byID[e.id] = i
			}
		}
	}
	next := old.clone()
	next.change = st.change
	err := l.addDocuments(ctx, tx, next)
	if err == nil {
		err = addChunks(ctx, tx, next, len(old.entries))
	}
	// Everything new is there and every replaced version gone. If that is still
	// more than the store holds, the rest was deleted.
	if err == nil && next.liveEntries != st.documents {
		err = l.removeDeleted(ctx, tx, next)
	}
	if err == nil && (next.liveEntries != st.documents || next.liveChunks != st.chunks) {
		err = fmt.Errorf("the file holds %d documents and %d chunks but counts %d and %d: it is damaged, index again",
			next.liveEntries, next.liveChunks, st.documents, st.chunks)
	}
	if err != nil {
		l.byID = nil
		return nil, err
	}
	return next, nil
}

// addDocuments adds the documents that are newer than the last entry.
func (l *loader) addDocuments(ctx context.Context, tx *sql.Tx, s *snapshot) error {
	var after int64
	if n := len(s.entries); n > 0 {
		after = s.entries[n-1].ord
	}
	rows, err := tx.QueryContext(ctx, `SELECT ord, id, chunks, metadata, vector FROM documents WHERE ord > ? ORDER BY ord`, after)
	if err != nil {
		return err
	}
	defer rows.Close()
	var vector []float32
	for rows.Next() {
		var e entry
		var count int32
		var packed, packedVector sql.RawBytes
		if err := rows.Scan(&e.ord, &e.id, &count, &packed, &packedVector); err != nil {
			return err
		}
		decoded, err := decodeMetadata(packed)
		if err != nil {
			return err
		}
		e.metadata = &metadata{decoded: decoded}
		if old, ok := l.byID[e.id]; ok {
			s.remove(old)
		}
		l.byID[e.id] = len(s.entries)
		s.entries = append(s.entries, e)
		s.gone = append(s.gone, false)
		s.firsts = append(s.firsts, s.firsts[len(s.firsts)-1]+count)
		s.liveEntries++
		s.liveChunks += int(count)
		for key := range decoded {
			s.keys[key]++
		}
		if vector, err = unpack(vector, packedVector, s.documents.dim()); err != nil {
			return err
		}
		s.documents.add(vector)
	}
	return rows.Err()
}

// addChunks adds the chunks of the entries from first on.
func addChunks(ctx context.Context, tx *sql.Tx, s *snapshot, first int) error {
	if first == len(s.entries) {
		return nil
	}
	want := int(s.firsts[len(s.entries)])
	rows, err := tx.QueryContext(ctx, `SELECT vector FROM chunks WHERE key >= ? ORDER BY key`, chunkKey(s.entries[first].ord, 0))
	if err != nil {
		return err
	}
	defer rows.Close()
	var vector []float32
	for rows.Next() {
		var packed sql.RawBytes
		if err := rows.Scan(&packed); err != nil {
			return err
		}
		if vector, err = unpack(vector, packed, s.chunks.dim()); err != nil {
			return err
		}
		s.chunks.add(vector)
	}
	if s.chunks.rows() != want {
		return errors.Join(rows.Err(), errors.New("chunks are missing: the file is damaged, index again"))
	}
	return rows.Err()
}

func (l *loader) removeDeleted(ctx context.Context, tx *sql.Tx, s *snapshot) error {
	rows, err := tx.QueryContext(ctx, `SELECT ord FROM documents ORDER BY ord`)
	if err != nil {
		return err
	}
	defer rows.Close()
	there := make([]bool, len(s.entries))
	for rows.Next() {
		var ord int64
		if err := rows.Scan(&ord); err != nil {
			return err
		}
		if i, ok := s.find(ord); ok {
			there[i] = true
		}
	}
	for i, e := range s.entries {
		if !there[i] && !s.gone[i] {
			s.remove(i)
			delete(l.byID, e.id)
		}
	}
	return rows.Err()
}

// unpack decodes a stored vector into dst, whose content is lost.
func unpack(dst []float32, packed []byte, dim int) ([]float32, error) {
	if len(packed) != 2*dim {
		return nil, fmt.Errorf("a vector takes %d bytes, want %d: the file is damaged, index again", len(packed), 2*dim)
	}
	return decodeFloat16(dst[:0], packed), nil
}
