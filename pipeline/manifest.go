package pipeline

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/waymark-rag/waymark/ingest"
)

// Manifest remembers what indexing runs made of each file, so that the next one need
// not read files whose size and time of change are the same. It is a help and never
// the truth: a file is taken for unchanged only if the store has its documents with
// the hashes noted, and losing the manifest costs no more than reading all files once.
// A Manifest serves one run at a time.
type Manifest struct {
	path  string
	maker string // the versions that made what is noted

	mu      sync.Mutex
	files   map[manifestKey]manifestEntry
	changed bool // since it was read or written
}

type manifestKey struct {
	Root string `json:"root"` // absolute
	File string `json:"file"` // its id
}

// manifestEntry is what a run made of a file.
type manifestEntry struct {
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	Read     time.Time `json:"read"` // when it was read
	// Documents are the hashes of the content that its documents were made from, by
	// their ids.
	Documents map[string]string `json:"documents,omitempty"`
	Skipped   []Skipped         `json:"skipped,omitempty"`
}

// manifestLine is a line of the file: a file's, or the first, which names the maker.
type manifestLine struct {
	Maker string `json:"maker,omitempty"`
	manifestKey
	manifestEntry
}

// settled is how long a file must have been left alone before it was read, for its
// time of change to tell of any later one: clocks of file systems are coarse.
const settled = 2 * time.Second

// OpenManifest reads the manifest at path; one that is not there, cannot be read or
// was made by other versions is empty. maker names everything that decides what a file
// becomes, such as the collection's fingerprint.
func OpenManifest(path, maker string) *Manifest {
	m := &Manifest{path: path, maker: fmt.Sprintf("%s reader/v%d", maker, ingest.Version), files: map[manifestKey]manifestEntry{}}
	f, err := os.Open(path)
	if err != nil {
		return m
	}
	defer f.Close()
	lines := json.NewDecoder(bufio.NewReader(f))
	var first manifestLine
	if lines.Decode(&first) != nil || first.Maker != m.maker {
		return m
	}
	for {
		var l manifestLine
		if lines.Decode(&l) != nil {
			return m // the end, or the rest cannot be read
		}
		m.files[l.manifestKey] = l.manifestEntry
	}
}

// unchanged returns what was made of a file that is as it was when it was last read.
func (m *Manifest) unchanged(root string, f ingest.File) (manifestEntry, bool) {
	if m == nil {
		return manifestEntry{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.files[manifestKey{root, f.ID}]
	return e, ok && !f.Modified.IsZero() && e.Size == f.Size && e.Modified.Equal(f.Modified) && !e.Modified.Add(settled).After(e.Read)
}

// skippedIn returns what was left out of a file when it was last read, if it held the
// same content then.
func (m *Manifest) skippedIn(root, id, hash string) []Skipped {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.files[manifestKey{root, id}]; e.Documents[id] == hash {
		return e.Skipped
	}
	return nil
}

// note remembers what a file became.
func (m *Manifest) note(root string, f ingest.File, e manifestEntry) {
	if m == nil {
		return
	}
	e.Size, e.Modified = f.Size, f.Modified
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[manifestKey{root, f.ID}] = e
	m.changed = true
}

// save writes the manifest without the files that are gone. A reader sees the old one
// or the new one, never a part.
func (m *Manifest) save(gone func(root, file string) bool) (err error) {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for key := range m.files {
		if gone(key.Root, key.File) {
			delete(m.files, key)
			m.changed = true
		}
	}
	if !m.changed {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(m.path), filepath.Base(m.path)+".*")
	if err != nil {
		return fmt.Errorf("manifest of files: %w", err)
	}
	defer func() {
		f.Close()
		if gone := os.Remove(f.Name()); err == nil && gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = gone
		}
	}()
	w := bufio.NewWriter(f)
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	err = lines.Encode(struct {
		Maker string `json:"maker"`
	}{m.maker})
	for key, e := range m.files {
		err = errors.Join(err, lines.Encode(manifestLine{manifestKey: key, manifestEntry: e}))
	}
	if err = errors.Join(err, w.Flush(), f.Close()); err == nil {
		err = os.Rename(f.Name(), m.path)
	}
	if err != nil {
		return fmt.Errorf("manifest of files: %w", err)
	}
	m.changed = false
	return nil
}
