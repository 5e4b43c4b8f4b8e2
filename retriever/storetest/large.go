package storetest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/waymark-rag/waymark/retriever"
)

// long makes a document of n chunks, each with a word and a vector of its own.
func long(id string, n int, label string) retriever.Document {
	parts := make([]part, n)
	for i := range parts {
		angle := float64(i) / float64(n)
		parts[i] = part{fmt.Sprintf("%s%d of many. ", label, i), unit(float32(math.Cos(angle)), float32(math.Sin(angle)), 0, 0)}
	}
	return document(id, axis(2), parts...)
}

func testLargeDocument(t *testing.T, at Open) {
	const n = 3000
	s := create(t, at, 4)
	d := long("large", n, "passage")
	small := document("small", axis(2), part{"passage of one", axis(1)})
	upsert(t, s, d, small)
	got := fetch(t, s, all, "large")
	if len(got) != 1 || len(got[0].Chunks) != n {
		t.Fatalf("the large document came back with other than %d chunks", n)
	}
	wantDiff(t, "the large document", d, got[0])
	c := candidates(t, s, retriever.Query{Vector: axis(0), Words: "passage2999", Limit: 5})
	wantDiff(t, "by words", []string{"large/2999"}, places(c.Lexical))
	if len(c.Dense) != 5 || c.Dense[0].Chunk > 30 {
		t.Errorf("by vector: %q, want chunks from the start", places(c.Dense))
	}
	c = candidates(t, s, retriever.Query{Vector: axis(0), Limit: n + 10})
	if len(c.Dense) != n+1 {
		t.Errorf("asked for all, got %d candidates, want %d", len(c.Dense), n+1)
	}
	upsert(t, s, document("large", axis(2), part{"shrunk", axis(3)}))
	if docs, chunks := stats(t, s); docs != 2 || chunks != 2 {
		t.Errorf("after replacing it the store holds %d documents with %d chunks, want 2 with 2", docs, chunks)
	}
}

// testLargeReplaced stores versions of all sizes of one document: all of each
// is there, and nothing of the one before.
func testLargeReplaced(t *testing.T, at Open) {
	s := create(t, at, 4)
	bystander := long("other", 200, "bystander")
	upsert(t, s, bystander)
	before := ""
	for i, n := range []int{500, 130, 1000, 64, 65, 1, 300} {
		label := fmt.Sprintf("version%dchunk", i)
		d := with(long("large", n, label), map[string]any{"chunks": n})
		upsert(t, s, d)
		for _, want := range []retriever.Want{{}, {Text: true}, {Chunks: true}, {Vectors: true}, {Chunks: true, Vectors: true}, all} {
			expected := d
			expected.Metadata = map[string]any{"chunks": int64(n)}
			if !want.Text {
				expected.Text = ""
			}
			if !want.Vectors {
				expected.Vector = nil
			}
			expected.Chunks = nil
			if want.Chunks {
				expected.Chunks = slices.Clone(d.Chunks)
				for c := range expected.Chunks {
					if !want.Vectors {
						expected.Chunks[c].Vector = nil
					}
				}
			}
			wantDiff(t, fmt.Sprintf("%d chunks with %+v", n, want), []retriever.Document{expected}, fetch(t, s, want, "large"))
		}
		if docs, chunks := stats(t, s); docs != 2 || chunks != n+200 {
			t.Errorf("with a version of %d chunks the store holds %d documents with %d chunks, want 2 with %d", n, docs, chunks, n+200)
		}
		last := d.Chunks[n-1]
		c := candidates(t, s, retriever.Query{Vector: last.Vector, Words: fmt.Sprint(label, n-1), Limit: n + 200})
		wantDiff(t, fmt.Sprintf("%d chunks by a word of the last", n), []string{fmt.Sprintf("large/%d", n-1)}, places(c.Lexical))
		if len(c.Dense) != n+200 {
			t.Errorf("%d chunks: found %d by vector, want them and the other document's 200", n, len(c.Dense))
		}
		if before != "" {
			if old := candidates(t, s, retriever.Query{Words: before}).Lexical; len(old) != 0 {
				t.Errorf("a word of the version before %d chunks finds %q", n, places(old))
			}
		}
		before = label + "0"
	}
	if n, err := s.Delete(t.Context(), []string{"large"}); n != 1 || err != nil {
		t.Errorf("Delete = %d, %v, want 1", n, err)
	}
	if docs, chunks := stats(t, s); docs != 1 || chunks != 200 {
		t.Errorf("once it is deleted the store holds %d documents with %d chunks, want 1 with 200", docs, chunks)
	}
	if c := candidates(t, s, retriever.Query{Vector: axis(0), Words: before, Limit: 1000}); len(c.Dense) != 200 || len(c.Lexical) != 0 {
		t.Errorf("once it is deleted %d and %d chunks are found, want the other document's 200 and 0", len(c.Dense), len(c.Lexical))
	}
	wantDiff(t, "the other document", []retriever.Document{bystander}, fetch(t, s, all, "other"))
}

// testChunkCounts stores documents of every size around those at which a store
// may begin a new record.
func testChunkCounts(t *testing.T, at Open) {
	s := create(t, at, 4)
	var docs []retriever.Document
	var ids []string
	chunks := 0
	for _, n := range []int{1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257} {
		id := fmt.Sprintf("%03d chunks", n)
		ids, docs, chunks = append(ids, id), append(docs, long(id, n, fmt.Sprintf("count%dchunk", n))), chunks+n
	}
	upsert(t, s, docs...)
	wantDiff(t, "documents", docs, fetch(t, s, all, ids...))
	if d, c := stats(t, s); d != len(docs) || c != chunks {
		t.Errorf("the store holds %d documents with %d chunks, want %d with %d", d, c, len(docs), chunks)
	}
	for _, d := range docs {
		n := len(d.Chunks)
		q := retriever.Query{Vector: d.Chunks[n-1].Vector, Words: fmt.Sprintf("count%dchunk%d", n, n-1), Limit: chunks}
		c := candidates(t, s, q)
		wantDiff(t, "by a word of the last chunk", []string{fmt.Sprintf("%s/%d", d.ID, n-1)}, places(c.Lexical))
		if len(c.Dense) != chunks {
			t.Errorf("found %d chunks, want all %d", len(c.Dense), chunks)
		}
	}
}
