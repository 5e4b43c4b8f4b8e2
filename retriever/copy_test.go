package retriever_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
)

var copyPrint = retriever.Fingerprint{Model: "test", Dim: 8}

// watched is a store that keeps what it was asked.
type watched struct {
	retriever.FingerprintedStore
	fetched [][]string // with vectors
	stored  []int      // bytes of text of each Upsert
	// before is called before each Fetch with vectors and each Upsert.
	before func(call string) error
}

func (w *watched) Fetch(ctx context.Context, ids []string, want retriever.Want) ([]retriever.Document, error) {
	if want.Vectors {
		w.fetched = append(w.fetched, ids)
		if w.before != nil {
			if err := w.before("fetch"); err != nil {
				return nil, err
			}
		}
	}
	return w.FingerprintedStore.Fetch(ctx, ids, want)
}

func (w *watched) Upsert(ctx context.Context, docs []retriever.Document) error {
	if w.before != nil {
		if err := w.before("store"); err != nil {
			return err
		}
	}
	bytes := 0
	for i := range docs {
		bytes += len(docs[i].Text)
	}
	w.stored = append(w.stored, bytes)
	return w.FingerprintedStore.Upsert(ctx, docs)
}

func copyStore(t *testing.T, print retriever.Fingerprint, docs ...retriever.Document) *watched {
	t.Helper()
	s, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), &local.Options{Create: true, Fingerprint: print})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Upsert(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	return &watched{FingerprintedStore: s}
}

// copyDocument makes a document of the given text in chunks of one byte, or of one
// chunk if it is long.
func copyDocument(id, text string, metadata map[string]any) retriever.Document {
	rng := rand.New(rand.NewPCG(uint64(len(id)), uint64(len(text))))
	vector := func() []float32 {
		v := make([]float32, copyPrint.Dim)
		var sum float64
		for i := range v {
			v[i] = float32(rng.NormFloat64())
			sum += float64(v[i]) * float64(v[i])
		}
		for i := range v {
			v[i] /= float32(math.Sqrt(sum))
		}
		return v
	}
	d := retriever.Document{ID: id, Title: "title of " + id, Hash: "hash of " + text[:min(len(text), 20)], Text: text, Metadata: metadata, Vector: vector()}
	size := 1
	if len(text) > 100 {
		size = len(text)
	}
	for at := 0; at < len(text); at += size {
		r := chunker.Range{Start: at, End: at + size}
		d.Chunks = append(d.Chunks, retriever.Chunk{
			Text: r, Source: r, Lines: retriever.Lines{First: 1, Last: 2}, Tokens: 3, Headings: []string{"a", id}, Vector: vector(), Norm: 1.5,
		})
	}
	return d
}

func copyContents(t *testing.T, s retriever.Store) []retriever.Document {
	t.Helper()
	var out []retriever.Document
	for doc, err := range s.Scroll(t.Context(), retriever.Filter{}, retriever.Want{Text: true, Chunks: true, Vectors: true}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, doc)
	}
	return out
}

func copyReport(t *testing.T, from, to *watched, opts retriever.CopyOptions) string {
	t.Helper()
	from.fetched, to.stored = nil, nil
	r, err := retriever.Copy(t.Context(), from, to, opts)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d: %d copied, %d unchanged, %d gone, %d chunks", r.Documents, r.Copied, r.Unchanged, r.Gone, r.Chunks)
}

func TestCopy(t *testing.T) {
	from := copyStore(t, copyPrint,
		copyDocument("a", "abc", map[string]any{"s": "x", "n": int64(3), "f": 3.0, "b": true, "l": []string{"p", "q r"}}),
		copyDocument("b", "de", map[string]any{"n": int64(4)}),
		copyDocument("empty", "", nil),
		copyDocument("ü/日本", "fgh", map[string]any{"n": int64(5)}),
	)
	to := copyStore(t, copyPrint, copyDocument("a", "old", nil), copyDocument("only here", "x", nil))

	var steps []retriever.CopyReport
	if got, want := copyReport(t, from, to, retriever.CopyOptions{Progress: func(r retriever.CopyReport) { steps = append(steps, r) }}), "4: 4 copied, 0 unchanged, 0 gone, 8 chunks"; got != want {
		t.Errorf("first copy: %s, want %s", got, want)
	}
	if last := steps[len(steps)-1]; last.Done() != 4 || last.Documents != 4 {
		t.Errorf("the last progress was %+v", last)
	}
	want := copyContents(t, from)
	got := slices.DeleteFunc(copyContents(t, to), func(d retriever.Document) bool { return d.ID == "only here" })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-source +target):\n%s", diff)
	}
	if stats, err := to.Stats(t.Context()); err != nil || stats.Documents != 5 {
		t.Errorf("the target has %d documents, error %v, want 5", stats.Documents, err)
	}

	if got, want := copyReport(t, from, to, retriever.CopyOptions{}), "4: 0 copied, 4 unchanged, 0 gone, 0 chunks"; got != want {
		t.Errorf("second copy: %s, want %s", got, want)
	}
	if len(from.fetched) > 0 || len(to.stored) > 0 {
		t.Errorf("what was unchanged was read %v and stored %v", from.fetched, to.stored)
	}

	// Other content; other metadata, also of another type alone; no hash to go by.
	noHash := copyDocument("d", "xyz", nil)
	noHash.Hash = ""
	changed := copyDocument("a", "abc", map[string]any{"s": "x", "n": 3.0, "f": 3.0, "b": true, "l": []string{"p", "q r"}})
	if err := from.Upsert(t.Context(), []retriever.Document{changed, copyDocument("b", "other", map[string]any{"n": int64(4)}), noHash}); err != nil {
		t.Fatal(err)
	}
	if got, want := copyReport(t, from, to, retriever.CopyOptions{}), "5: 3 copied, 2 unchanged, 0 gone, 11 chunks"; got != want {
		t.Errorf("copy of changes: %s, want %s", got, want)
	}
	if got, want := copyReport(t, from, to, retriever.CopyOptions{}), "5: 1 copied, 4 unchanged, 0 gone, 3 chunks"; got != want {
		t.Errorf("without a hash: %s, want %s", got, want)
	}
}

func TestCopyFilter(t *testing.T) {
	from := copyStore(t, copyPrint, copyDocument("a", "abc", map[string]any{"n": int64(3)}), copyDocument("b", "de", map[string]any{"n": int64(4)}))
	to := copyStore(t, copyPrint)
	filter := retriever.Filter{All: []retriever.Condition{{Key: "n", Op: retriever.Gt, Value: 3}}}
	if got, want := copyReport(t, from, to, retriever.CopyOptions{Filter: filter}), "1: 1 copied, 0 unchanged, 0 gone, 2 chunks"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	filter.All[0].Key = "m"
	var unknown *retriever.UnknownKeyError
	if _, err := retriever.Copy(t.Context(), from, to, retriever.CopyOptions{Filter: filter}); !errors.As(err, &unknown) {
		t.Errorf("unknown key: error %v", err)
	}
}

func TestCopyRefusesAnotherFingerprint(t *testing.T) {
	from := copyStore(t, copyPrint, copyDocument("a", "abc", nil))
	other := copyPrint
	other.Model = "other"
	to := copyStore(t, other)
	var mismatch *retriever.MismatchError
	if _, err := retriever.Copy(t.Context(), from, to, retriever.CopyOptions{}); !errors.As(err, &mismatch) || mismatch.Have != other || mismatch.Want != copyPrint {
		t.Errorf("error %v", err)
	}
	if got := copyContents(t, to); len(got) > 0 {
		t.Errorf("%d documents were copied", len(got))
	}
}

// Little is in memory at once, and a run that ends early leaves whole documents and
// goes on where it ended.
func TestCopyInParts(t *testing.T) {
	var docs []retriever.Document
	for i := range 24 {
		docs = append(docs, copyDocument(fmt.Sprintf("%02d", i), fmt.Sprintf("%02d%s", i, strings.Repeat("x", 600<<10)), nil))
	}
	from, to := copyStore(t, copyPrint, docs...), copyStore(t, copyPrint)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	to.before = func(call string) error {
		if len(to.stored) == 1 {
			cancel()
		}
		return nil
	}
	report, err := retriever.Copy(ctx, from, to, retriever.CopyOptions{})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want context.Canceled", err)
	}
	stored := copyContents(t, to)
	if report.Copied != len(stored) || report.Copied == 0 || report.Copied == 24 {
		t.Errorf("%d documents are said to be copied, %d are there", report.Copied, len(stored))
	}
	to.before = nil
	if got, want := copyReport(t, from, to, retriever.CopyOptions{}), fmt.Sprintf("24: %d copied, %d unchanged, 0 gone, %[1]d chunks", 24-len(stored), len(stored)); got != want {
		t.Errorf("going on: %s, want %s", got, want)
	}
	if diff := cmp.Diff(copyContents(t, from), copyContents(t, to)); diff != "" {
		t.Errorf("(-source +target):\n%s", diff)
	}
	for _, ids := range from.fetched {
		if len(ids) > 16 {
			t.Errorf("%d documents were read at once", len(ids))
		}
	}
	for _, bytes := range to.stored {
		if bytes > 18<<20 { // 8 MiB and what one call reads
			t.Errorf("%d bytes were stored at once", bytes)
		}
	}
}

func TestCopyReportsWhatEndsIt(t *testing.T) {
	from, to := copyStore(t, copyPrint, copyDocument("a", "abc", nil), copyDocument("b", "de", nil)), copyStore(t, copyPrint)
	broken := errors.New("disk full")
	to.before = func(string) error { return broken }
	report, err := retriever.Copy(t.Context(), from, to, retriever.CopyOptions{})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), `storing 2 documents from "a" on`) || report.Copied != 0 {
		t.Errorf("%+v, error %v", report, err)
	}
	// A document that goes while the others are being copied.
	to.before = nil
	from.before = func(string) error {
		_, err := from.Delete(t.Context(), []string{"a"})
		return err
	}
	if got, want := copyReport(t, from, to, retriever.CopyOptions{}), "2: 1 copied, 0 unchanged, 1 gone, 2 chunks"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
