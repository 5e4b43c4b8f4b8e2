package local

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"

	"github.com/waymark-rag/waymark/retriever"
)

// Options says how a store is opened. The zero value opens an existing store
// for reading and writing.
type Options struct {
	// Tenant names whose documents these are. Every tenant has a file of its
	// own beside the one that Open is given, which is that of the tenant
	// without a name, and a fingerprint of its own. Valid UTF-8 without NUL.
	Tenant string
	// Fingerprint says what makes the vectors. It is kept when the store is
	// created; a store that was created with another is refused with a
	// *retriever.MismatchError. The zero value takes the store as it is.
	Fingerprint retriever.Fingerprint
	// Create makes the file, and its folder, if it is not there.
	Create bool
	// ReadOnly refuses every write.
	ReadOnly bool
	// WaitWriter is how long a write waits for another writer before it fails
	// with retriever.ErrBusy; 0 means 10 seconds, a negative value no wait.
	WaitWriter time.Duration
}

const (
	defaultWait = 10 * time.Second
	// busyTimeout is how long SQLite waits for locks that others hold for a
	// moment, such as recovery after a crash.
	busyTimeout = 5 * time.Second
)

// Store is a retriever.Store in one SQLite file. Beside the file stand, while
// it is open, a write-ahead log (-wal) and its index (-shm), always an empty or
// one-line file for the write lock (.lock), and, once there are many vectors, a
// copy of them that is mapped into memory (.vec), which may be removed.
//
// Several processes on one machine may have the same store open. Each sees
// what the others have written from the next call on.
type Store struct {
	path        string
	readOnly    bool
	fingerprint retriever.Fingerprint
	db          *sql.DB
	lock        *writeLock

	life   sync.RWMutex // held for reading by every call, for writing by Close
	closed bool

	current atomic.Pointer[snapshot]
	loading chan *loader // holds the one loader while nobody is loading
	passes  passes
	// Prepared once, as preparing takes longer than finding a few rows.
	chunkVectors, documentVectors *sql.Stmt

	wrote     atomic.Bool // since it was opened
	freshRows int
	unmap     func() error // the vector file; nil if it is not in use
}

var _ retriever.Store = (*Store)(nil)

var errNotStore = errors.New("it is no Waymark store")

// Open opens the store in the file at path. A store that is not there, unless
// it is to be created, is a retriever.ErrNotFound. The context is not kept.
func Open(ctx context.Context, path string, opts *Options) (*Store, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	s, err := open(ctx, path, o)
	switch {
	case err != nil && o.Tenant != "":
		return nil, fmt.Errorf("store %q, tenant %q: %w", path, o.Tenant, err)
	case err != nil:
		return nil, fmt.Errorf("store %q: %w", path, err)
	}
	return s, nil
}

func open(ctx context.Context, path string, o Options) (*Store, error) {
	if o.Create && o.ReadOnly {
		return nil, errors.New("a store cannot be created for reading only")
	}
	path, err := filepath.Abs(path) // the working directory may change
	if err != nil {
		return nil, err
	}
	if path, err = tenantFile(path, o.Tenant); err != nil {
		return nil, err
	}
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return nil, errors.New("it is a folder, want a file")
	case errors.Is(err, fs.ErrNotExist) && !o.Create:
		return nil, retriever.ErrNotFound
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	if o.WaitWriter == 0 {
		o.WaitWriter = defaultWait
	}
	db, err := sql.Open("sqlite", dataSource(path, o))
	if err != nil {
		return nil, err
	}
	conns := max(maxTogether, runtime.GOMAXPROCS(0))
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	s := &Store{path: path, readOnly: o.ReadOnly, db: db, lock: newWriteLock(path+lockSuffix, o.WaitWriter),
		loading: make(chan *loader, 1), freshRows: freshRows}
	if err := s.prepare(ctx, o); err != nil {
		db.Close()
		return nil, translate(ctx, err)
	}
	empty := newSnapshot(nil, 0)
	empty.change = -1
	s.current.Store(empty)
	s.loading <- &loader{}
	return s, nil
}

// dataSource is the address of the file in the driver's form.
func dataSource(path string, o Options) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter
	}
	mode := "rw"
	if o.Create {
		mode = "rwc"
	} else if o.ReadOnly {
		mode = "ro"
	}
	q := url.Values{"mode": {mode}, "_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
		// With the log flushed at every commit, neither a killed process nor a
		// power failure loses anything that a call has reported done.
		"synchronous(FULL)",
		// What a large write leaves behind is cut back at the next checkpoint.
		"journal_size_limit(67108864)",
	}}
	return "file://" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}

// prepare makes sure that the file is a store made by what o names.
func (s *Store) prepare(ctx context.Context, o Options) error {
	empty, err := inspect(ctx, s.db)
	if err != nil {
		return err
	}
	if empty {
		if !o.Create {
			return retriever.ErrNotFound
		}
		if err := s.createOnce(ctx, o.Fingerprint); err != nil {
			return err
		}
	}
	st, err := readState(ctx, s.db)
	if err != nil {
		return err
	}
	s.fingerprint = st.fingerprint
	if s.chunkVectors, err = s.db.PrepareContext(ctx, selectChunkVectors); err != nil {
		return err
	}
	if s.documentVectors, err = s.db.PrepareContext(ctx, selectDocumentVectors); err != nil {
		return err
	}
	if !o.Fingerprint.IsZero() && o.Fingerprint != st.fingerprint {
		return &retriever.MismatchError{Have: st.fingerprint, Want: o.Fingerprint}
	}
	return nil
}

// createOnce fills the file unless another process was faster.
func (s *Store) createOnce(ctx context.Context, f retriever.Fingerprint) error {
	release, err := s.lock.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	empty, err := inspect(ctx, s.db)
	if err != nil || !empty {
		return err
	}
	return create(ctx, s.db, f)
}

// Fingerprint returns what the store was created with.
func (s *Store) Fingerprint() retriever.Fingerprint { return s.fingerprint }

// Stats counts what the store holds.
func (s *Store) Stats(ctx context.Context) (retriever.Stats, error) {
	if err := s.enter(); err != nil {
		return retriever.Stats{}, err
	}
	defer s.leave()
	st, err := readState(ctx, s.db)
	if err != nil {
		return retriever.Stats{}, translate(ctx, err)
	}
	out := retriever.Stats{Documents: st.documents, Chunks: st.chunks}
	for _, name := range []string{s.path, s.path + "-wal", s.path + vectorSuffix} {
		if info, err := os.Stat(name); err == nil {
			out.Bytes += info.Size()
		}
	}
	return out, nil
}

// Close waits for calls in progress and closes the file. When much was written
// it saves the vectors for a quick start first, which takes about as long as
// Load.
func (s *Store) Close() error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.passes.wait()
	if s.wrote.Load() {
		_ = s.saveVectors(context.Background()) // where it cannot be written, the next start is slower
	}
	s.current.Store(nil)
	err := s.db.Close()
	if s.unmap != nil {
		err = errors.Join(err, s.unmap())
	}
	return err
}

// enter begins a call; leave ends it.
func (s *Store) enter() error {
	s.life.RLock()
	if s.closed {
		s.life.RUnlock()
		return retriever.ErrClosed
	}
	return nil
}

func (s *Store) leave() { s.life.RUnlock() }

// The primary result codes of SQLite that mean something to a caller.
const (
	codeBusy   = 5
	codeNotADB = 26
)

// translate turns what the driver reports into what a Store reports.
func translate(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // which shows as many different errors
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case codeBusy:
		return fmt.Errorf("%w: %w", retriever.ErrBusy, err)
	case codeNotADB:
		return errNotStore
	}
	return err
}
