package storetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/retriever"
)

func testFingerprint(t *testing.T, at Open) {
	kept := retriever.Fingerprint{
		Model: "model sha256:01", Pooling: "landmark/paper", Dim: 4, Prefixes: `"query: " ""`,
		Windows: "512/128", Chunker: `structure "v1"`, Reader: "v1",
	}
	s := open(t, at, "", kept)
	mustMismatch := func(when string) {
		t.Helper()
		for name, change := range map[string]func(*retriever.Fingerprint){
			"model": func(f *retriever.Fingerprint) { f.Model = "other sha256:02" }, "pooling": func(f *retriever.Fingerprint) { f.Pooling = "cls" },
			"dimension": func(f *retriever.Fingerprint) { f.Dim = 3 }, "prefixes": func(f *retriever.Fingerprint) { f.Prefixes = "" },
			"windows": func(f *retriever.Fingerprint) { f.Windows = "256/64" }, "chunker": func(f *retriever.Fingerprint) { f.Chunker = "fixed" },
			"reader": func(f *retriever.Fingerprint) { f.Reader = "v2" },
		} {
			other := kept
			change(&other)
			s, err := at("", other)
			if err == nil {
				s.Close()
			}
			var mismatch *retriever.MismatchError
			if !errors.As(err, &mismatch) {
				t.Errorf("%s, opened with another %s: %v, want a *MismatchError", when, name, err)
				continue
			}
			wantDiff(t, "have", kept, mismatch.Have)
			wantDiff(t, "want", other, mismatch.Want)
			if !strings.Contains(err.Error(), name) {
				t.Errorf("%s: the error does not name the %s: %v", when, name, err)
			}
		}
	}
	mustMismatch("while it is empty")
	letters(t, s)
	mustMismatch("while it is open")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	mustMismatch("once it is closed")
	for _, f := range []retriever.Fingerprint{kept, {}} {
		s := open(t, at, "", f)
		if docs, _ := stats(t, s); docs != 6 {
			t.Errorf("opened with %+v it holds %d documents, want 6", f, docs)
		}
	}
	if _, err := s.DeleteWhere(t.Context(), where("n", retriever.Gte, 0)); !errors.Is(err, retriever.ErrClosed) {
		t.Errorf("the closed handle: %v, want ErrClosed", err)
	}
	s = open(t, at, "", retriever.Fingerprint{})
	if n, err := s.DeleteWhere(t.Context(), where("n", retriever.Gte, 0)); n != 6 || err != nil {
		t.Fatal(n, err)
	}
	mustMismatch("once it is empty again")
}

// testFingerprintDim holds that the length of a vector is known before the
// first document, also to who opens the store as it is.
func testFingerprintDim(t *testing.T, at Open) {
	first := create(t, at, 4)
	short := document("short", []float32{1, 0, 0}, part{"text", []float32{1, 0, 0}})
	for name, s := range map[string]retriever.Store{"as made": first, "as it is": open(t, at, "", retriever.Fingerprint{})} {
		err := s.Upsert(t.Context(), []retriever.Document{short})
		if err == nil || !strings.Contains(err.Error(), `"short"`) || !strings.Contains(err.Error(), "want 4") {
			t.Errorf("opened %s, storing a shorter vector: %v, want a refusal that names the document and the length wanted", name, err)
		}
		q := retriever.Query{Vector: []float32{1, 0, 0}, Limit: 1, Weights: retriever.Weights{Landmark: 1}}
		if _, err := s.Candidates(t.Context(), q); err == nil {
			t.Errorf("opened %s, a shorter query vector was not refused", name)
		}
	}
	if docs, _ := stats(t, first); docs != 0 {
		t.Errorf("the store holds %d documents, want none", docs)
	}
}
