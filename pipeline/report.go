package pipeline

import (
	"sync"
	"time"
)

// Report says what became of every document of an indexing run.
type Report struct {
	Added     int       `json:"added"`
	Changed   int       `json:"changed"`
	Moved     int       `json:"moved"` // new names of what the store had, not encoded again
	Unchanged int       `json:"unchanged"`
	Removed   int       `json:"removed"`
	Skipped   []Skipped `json:"skipped"`
	// Chunks, Tokens and Encoded count what was encoded in this run: chunks,
	// the documents' own tokens, and all positions that went through the model,
	// special tokens and overlaps included.
	Chunks  int `json:"chunks"`
	Tokens  int `json:"tokens"`
	Encoded int `json:"encoded"`
	// Bytes is the size of the files that were read.
	Bytes int64 `json:"bytes"`
	// Elapsed is how long the run took, Encoding how long of that at least one
	// document was being encoded.
	Elapsed  time.Duration `json:"elapsed_ns"`
	Encoding time.Duration `json:"encoding_ns"`
	// DryRun is set when nothing was encoded or stored: Added, Changed and Removed
	// then say what would be, Chunks and Tokens what would be encoded.
	DryRun bool `json:"dry_run,omitempty"`
}

// Plus is the report of two runs together.
func (r Report) Plus(s Report) Report {
	r.Added += s.Added
	r.Changed += s.Changed
	r.Moved += s.Moved
	r.Unchanged += s.Unchanged
	r.Removed += s.Removed
	r.Skipped = append(r.Skipped[:len(r.Skipped):len(r.Skipped)], s.Skipped...)
	r.Chunks += s.Chunks
	r.Tokens += s.Tokens
	r.Encoded += s.Encoded
	r.Bytes += s.Bytes
	r.Elapsed += s.Elapsed
	r.Encoding += s.Encoding
	return r
}

// Skipped is a file or folder that could not be indexed, and why.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Progress is how far a run has come.
type Progress struct {
	Files, DoneFiles int
	Bytes, DoneBytes int64
	Tokens           int    // encoded so far
	Current          string // the document last finished
}

// tally is a Report and a Progress that several goroutines write.
type tally struct {
	mu       sync.Mutex
	report   Report
	progress Progress
	tell     func(Progress)

	open    int // Encode calls under way
	started time.Time
}

func (t *tally) update(f func(*Report)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.report)
}

func (t *tally) skip(path, reason string) {
	t.update(func(r *Report) { r.Skipped = append(r.Skipped, Skipped{path, reason}) })
}

// done counts a document, and with ends its file, as finished and tells whoever
// watches.
func (t *tally) done(name string, bytes int64, tokens int, ends bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ends {
		t.progress.DoneFiles++
	}
	t.progress.DoneBytes += bytes
	t.progress.Tokens += tokens
	t.progress.Current = name
	if t.tell != nil {
		t.tell(t.progress)
	}
}

// encoding measures the time in which at least one call of f is under way.
func (t *tally) encoding(f func()) {
	t.mu.Lock()
	if t.open++; t.open == 1 {
		t.started = time.Now()
	}
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.open--; t.open == 0 {
			t.report.Encoding += time.Since(t.started)
		}
	}()
	f()
}
