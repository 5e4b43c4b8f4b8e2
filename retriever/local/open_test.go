package local

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/retriever"
)

// testDocument makes a document of chunks that are all the same.
func testDocument(id string, chunks int, vector ...float32) retriever.Document {
	d := retriever.Document{ID: id, Title: id, Vector: vector}
	for range chunks {
		start := len(d.Text)
		d.Text += "some words "
		d.Chunks = append(d.Chunks, retriever.Chunk{Text: chunker.Range{Start: start, End: len(d.Text)}, Vector: vector})
	}
	return d
}

func TestOpenMissing(t *testing.T) {
	dir := t.TempDir()
	for _, opts := range []*Options{nil, {ReadOnly: true}} {
		path := filepath.Join(dir, "no", "store.db")
		_, err := Open(t.Context(), path, opts)
		if !errors.Is(err, retriever.ErrNotFound) || !strings.Contains(err.Error(), path) {
			t.Errorf("Open with %+v: %v, want ErrNotFound with the path", opts, err)
		}
		empty := filepath.Join(dir, "empty.db")
		if err := os.WriteFile(empty, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), empty, opts); !errors.Is(err, retriever.ErrNotFound) {
			t.Errorf("Open of an empty file with %+v: %v, want ErrNotFound", opts, err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("opening a missing store left %v", left)
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "x"), &Options{Create: true, ReadOnly: true}); err == nil {
		t.Error("creating for reading only was not refused")
	}
}

func TestOpenOther(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, statements ...string) string {
		path := filepath.Join(dir, name)
		db, err := sql.Open("sqlite", "file:"+path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, s := range statements {
			if _, err := db.Exec(s); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database\n", 100)), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:                                      "folder",
		text:                                     "no Waymark store",
		write("a.db", `CREATE TABLE t(x)`):       "no Waymark store",
		write("b.db", `PRAGMA user_version = 3`): "no Waymark store",
		write("c.db", `PRAGMA application_id = 1464683313`, `CREATE TABLE t(x)`):       "format 0",
		write("d.db", `PRAGMA application_id = 1464683313`, `PRAGMA user_version = 2`): "newer waymark",
	} {
		before, _ := os.ReadFile(path)
		for _, opts := range []*Options{nil, {Create: true}} {
			_, err := Open(t.Context(), path, opts)
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
				t.Errorf("Open(%q): %v, want %q and the path", path, err, want)
			}
		}
		if after, _ := os.ReadFile(path); string(before) != string(after) {
			t.Errorf("Open changed %q, which is not its own", path)
		}
	}
}

func TestOpenStrangePath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a?b=c&mode=memory", "50% #1 '\"é\n")
	path := filepath.Join(dir, "store.db")
	s := openTest(t, path, &Options{Create: true})
	if err := s.Upsert(t.Context(), []retriever.Document{testDocument("a", 1, 1, 0)}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	t.Chdir(dir)
	relative := openTest(t, "store.db", &Options{ReadOnly: true})
	if st, err := relative.Stats(t.Context()); err != nil || st.Documents != 1 || st.Bytes == 0 {
		t.Errorf("opened by a relative path: %+v, %v", st, err)
	}
}

func TestFingerprint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	f := retriever.Fingerprint{Model: "m", Pooling: "landmark/paper", Dim: 2, Chunker: "structure"}
	s := openTest(t, path, &Options{Create: true, Fingerprint: f})
	if err := s.Upsert(t.Context(), []retriever.Document{testDocument("a", 1, 1, 0, 0)}); err == nil {
		t.Error("the first document's vectors are longer than the fingerprint says, yet it was stored")
	}
	for _, opts := range []*Options{nil, {ReadOnly: true}, {Fingerprint: f}, {Create: true, Fingerprint: f}} {
		if got := openTest(t, path, opts).Fingerprint(); got != f {
			t.Errorf("Fingerprint = %+v, want %+v", got, f)
		}
	}
	other := f
	other.Model = "another"
	var mismatch *retriever.MismatchError
	_, err := Open(t.Context(), path, &Options{Create: true, Fingerprint: other})
	if !errors.As(err, &mismatch) || mismatch.Have != f || mismatch.Want != other {
		t.Errorf("opened with another fingerprint: %v, want a *MismatchError with both", err)
	}
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	w := openTest(t, path, &Options{Create: true})
	r := openTest(t, path, &Options{ReadOnly: true})
	docs := []retriever.Document{testDocument("a", 1, 1, 0)}
	if err := w.Upsert(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	q := retriever.Query{Vector: []float32{1, 0}, Words: "words", Limit: 5, Weights: retriever.Weights{Landmark: 1}}
	if c, err := r.Candidates(t.Context(), q); err != nil || len(c.Dense) != 1 || len(c.Lexical) != 1 {
		t.Errorf("a reader found %v, %v", c, err)
	}
	if err := r.Upsert(t.Context(), docs); err == nil || !strings.Contains(err.Error(), "reading only") {
		t.Errorf("Upsert: %v, want a refusal", err)
	}
	if _, err := r.Delete(t.Context(), []string{"a"}); err == nil {
		t.Error("Delete was not refused")
	}
}

// TestReadersDoNotWait searches while another holds the write lock and has a
// write transaction open.
func TestReadersDoNotWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := openTest(t, path, &Options{Create: true, WaitWriter: -1})
	if err := s.Upsert(t.Context(), []retriever.Document{testDocument("a", 1, 1, 0)}); err != nil {
		t.Fatal(err)
	}
	other := openTest(t, path, &Options{WaitWriter: -1})
	err := other.write(t.Context(), func(*sql.Tx, *state) (bool, error) {
		q := retriever.Query{Vector: []float32{1, 0}, Limit: 5, Weights: retriever.Weights{Landmark: 1}}
		if c, err := s.Candidates(t.Context(), q); err != nil || len(c.Dense) != 1 {
			t.Errorf("beside a writer Candidates = %v, %v", c, err)
		}
		err := s.Upsert(t.Context(), []retriever.Document{testDocument("b", 1, 1, 0)})
		if !errors.Is(err, retriever.ErrBusy) {
			t.Errorf("a second writer: %v, want ErrBusy", err)
		}
		return false, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Upsert(t.Context(), []retriever.Document{testDocument("b", 1, 1, 0)}); err != nil {
		t.Errorf("once the writer is gone: %v", err)
	}
}

func TestDamage(t *testing.T) {
	for name, statement := range map[string]string{
		"a chunk is missing":    `DELETE FROM chunks WHERE key = (SELECT max(key) FROM chunks)`,
		"a vector is cut short": `UPDATE chunks SET vector = x'00' WHERE key = (SELECT max(key) FROM chunks)`,
		"the counts are wrong":  `UPDATE state SET documents = 7`,
	} {
		s := openTest(t, filepath.Join(t.TempDir(), "store.db"), &Options{Create: true})
		if err := s.Upsert(t.Context(), []retriever.Document{testDocument("a", 3, 1, 0)}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.db.Exec(statement); err != nil {
			t.Fatal(err)
		}
		if err := s.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: Load: %v, want it to say that the file is damaged", name, err)
		}
	}
}

func TestWaitWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	first, second := newWriteLock(path, time.Minute), newWriteLock(path, time.Minute)
	release, err := first.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	for _, l := range []*writeLock{first, second} { // within the process and, as it were, from another
		go func() {
			release, err := l.acquire(t.Context())
			if err == nil {
				release()
			}
			got <- err
		}()
	}
	release()
	for range 2 {
		if err := <-got; err != nil {
			t.Errorf("a waiting writer: %v, want the lock once it is free", err)
		}
	}
}

func TestSearchBeforeTheDimensionIsKnown(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "new.db"), &Options{Create: true})
	found, err := s.Candidates(t.Context(), retriever.Query{Vector: []float32{1, 0}, Words: "anything", Limit: 10, Weights: retriever.Weights{Landmark: 1}})
	if err != nil || len(found.Dense)+len(found.Lexical) != 0 {
		t.Errorf("found %+v, %v", found, err)
	}
}
