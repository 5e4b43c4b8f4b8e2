package local

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/retriever"
)

var update = flag.Bool("update", false, "write testdata/v1.db anew; only for as long as format 1 has not been released")

var fixtureFingerprint = retriever.Fingerprint{
	Model: "fixture sha256:00", Pooling: "landmark/paper", Dim: 4, Prefixes: `"query: " ""`,
	Windows: "512/128", Chunker: "structure/128/4096/v1", Reader: "v1",
}

// fixture is what testdata/v1.db holds. The numbers of its vectors are powers
// of two, so that 16-bit floats hold them exactly.
func fixture() []retriever.Document {
	second := "Second paragraph: 世界.\n"
	a := retriever.Document{
		ID: "guide/a.md", Title: "First guide", Hash: "sha256:0a", Text: "First paragraph.\n" + second,
		Metadata: map[string]any{"format": "markdown", "year": int64(2033), "weight": 2.0, "draft": false, "tags": []string{"go", "rag"}},
		Vector:   []float32{0.5, 0.5, 0.5, 0.5},
		Chunks: []retriever.Chunk{{
			Text: chunker.Range{Start: 0, End: 17}, Source: chunker.Range{Start: 3, End: 20}, Lines: retriever.Lines{First: 1, Last: 1},
			Tokens: 3, Headings: []string{"Guide", "Start"}, Vector: []float32{1, 0, 0, 0}, Norm: 7.5,
		}, {
			Text: chunker.Range{Start: 17, End: 17 + len(second)}, Source: chunker.Range{Start: 20, End: 20 + len(second)},
			Lines: retriever.Lines{First: 2, Last: 2}, Place: chunker.Place{Kind: chunker.PagePlace, First: "2", Last: "3"},
			Header: chunker.Range{Start: 0, End: 5}, Tokens: 5, Vector: []float32{0, 0, 0, -1}, Norm: 8,
		}},
	}
	return []retriever.Document{a, {ID: "empty.txt", Vector: []float32{0, 1, 0, 0}}}
}

// TestFormat1 opens a store that was written when format 1 was new. The file
// stays as it is for good: later versions must read it.
func TestFormat1(t *testing.T) {
	const kept = "testdata/v1.db"
	if *update {
		writeFixture(t, kept)
	}
	content, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	if len(content) > 100<<10 {
		t.Errorf("%s has %d bytes, want less than 100 kB", kept, len(content))
	}
	path := filepath.Join(t.TempDir(), "v1.db")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, opts := range []*Options{{ReadOnly: true}, {Fingerprint: fixtureFingerprint}} {
		s := openTest(t, path, opts)
		docs, err := s.Fetch(t.Context(), []string{"guide/a.md", "empty.txt"}, retriever.Want{Text: true, Chunks: true, Vectors: true})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(fixture(), docs); d != "" {
			t.Errorf("want -, got +:\n%s", d)
		}
		if d := cmp.Diff(fixtureFingerprint, s.Fingerprint()); d != "" {
			t.Errorf("fingerprint: want -, got +:\n%s", d)
		}
		c, err := s.Candidates(t.Context(), retriever.Query{
			Vector: []float32{0, 0, 0, -1}, Words: "世界", Limit: 1, Weights: retriever.Weights{Landmark: 0.5, Document: 0.5},
		})
		if err != nil {
			t.Fatal(err)
		}
		want := retriever.Candidate{Document: "guide/a.md", Chunk: 1, Score: retriever.Score{Dense: 0.25, Landmark: 1, Document: -0.5}}
		if d := cmp.Diff([]retriever.Candidate{want}, c.Dense); d != "" {
			t.Errorf("dense: want -, got +:\n%s", d)
		}
		if len(c.Lexical) != 1 || c.Lexical[0].Chunk != 1 {
			t.Errorf("lexical: %v, want the second chunk", c.Lexical)
		}
	}
}

func writeFixture(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path, &Options{Create: true, Fingerprint: fixtureFingerprint})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Upsert(t.Context(), fixture()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
}
