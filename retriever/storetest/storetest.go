// Package storetest checks that a retriever.Store keeps its contract.
//
// In: a function that opens an empty store.
//
// Out: a subtest for each sentence of the contract, so that every store,
// whatever is behind it, means the same by the same call.
//
// Never: looks at anything but the interface.
package storetest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/retriever"
)

// Open returns an empty store for vectors of length dim and a function that
// closes it and opens the same place again. What is still open when the test
// ends, Open closes by t.Cleanup. Each call opens a place of its own.
type Open func(t *testing.T, dim int) (store retriever.Store, reopen func() retriever.Store)

// Test runs the whole suite.
func Test(t *testing.T, open Open) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, Open)
	}{
		{"Empty", testEmpty},
		{"RoundTrip", testRoundTrip},
		{"Replace", testReplace},
		{"SameIDTwice", testSameIDTwice},
		{"Refused", testRefused},
		{"MemoryIsNotShared", testMemory},
		{"MetadataTypes", testMetadataTypes},
		{"StrangeIDs", testStrangeIDs},
		{"LargeDocument", testLargeDocument},
		{"EmptyText", testEmptyText},
		{"Delete", testDelete},
		{"DeleteWhere", testDeleteWhere},
		{"Fetch", testFetch},
		{"Scroll", testScroll},
		{"ScrollWhileWriting", testScrollWhileWriting},
		{"Stats", testStats},
		{"Reopen", testReopen},
		{"DenseScores", testDenseScores},
		{"Ties", testTies},
		{"PerDocument", testPerDocument},
		{"FilterBeforeCut", testFilterBeforeCut},
		{"FilterMeaning", testFilterMeaning},
		{"UnknownKey", testUnknownKey},
		{"QueryRefused", testQueryRefused},
		{"Words", testWords},
		{"WordsAreText", testWordsAreText},
		{"WordsUnicode", testWordsUnicode},
		{"WordsFilterAndCut", testWordsFilterAndCut},
		{"BothSources", testBothSources},
		{"Ranking", testRanking},
		{"AtomicReplace", testAtomicReplace},
		{"ConcurrentUse", testConcurrentUse},
		{"Cancelled", testCancelled},
		{"Closed", testClosed},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open) })
	}
}

// tolerance is how far a score may be from the one in full precision: stores
// may keep vectors as 16-bit floats.
const tolerance = 1e-3

// all wants every part of a document.
var all = retriever.Want{Text: true, Chunks: true, Vectors: true}

// part is a chunk of a test document.
type part struct {
	text   string
	vector []float32
}

// unit returns x scaled to length 1.
func unit(x ...float32) []float32 {
	var sum float64
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(float64(v) / math.Sqrt(sum))
	}
	return out
}

// axis returns the unit vector of length 4 along one axis.
func axis(i int) []float32 {
	v := make([]float32, 4)
	v[i] = 1
	return v
}

// document makes a document whose chunks lie on a line each.
func document(id string, vector []float32, parts ...part) retriever.Document {
	d := retriever.Document{ID: id, Title: "Title of " + id, Hash: "hash-" + id, Vector: vector}
	for i, p := range parts {
		r := chunker.Range{Start: len(d.Text), End: len(d.Text) + len(p.text)}
		d.Text += p.text
		d.Chunks = append(d.Chunks, retriever.Chunk{
			Text:     r,
			Source:   chunker.Range{Start: r.Start + 3, End: r.End + 3},
			Lines:    retriever.Lines{First: i + 1, Last: i + 1},
			Tokens:   len(strings.Fields(p.text)),
			Headings: []string{"Part", fmt.Sprint(i)},
			Vector:   p.vector,
			Norm:     float32(i) + 0.5,
		})
	}
	return d
}

// with returns d with the metadata.
func with(d retriever.Document, metadata map[string]any) retriever.Document {
	d.Metadata = metadata
	return d
}

// where makes a filter of one condition.
func where(key string, op retriever.Op, value any) retriever.Filter {
	return retriever.Filter{All: []retriever.Condition{{Key: key, Op: op, Value: value}}}
}

func upsert(t *testing.T, s retriever.Store, docs ...retriever.Document) {
	t.Helper()
	if err := s.Upsert(t.Context(), docs); err != nil {
		t.Fatalf("Upsert: %v", err)
	}
}

func fetch(t *testing.T, s retriever.Store, want retriever.Want, ids ...string) []retriever.Document {
	t.Helper()
	docs, err := s.Fetch(t.Context(), ids, want)
	if err != nil {
		t.Fatalf("Fetch(%q): %v", ids, err)
	}
	return docs
}

func candidates(t *testing.T, s retriever.Store, q retriever.Query) retriever.Candidates {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 10
	}
	if q.Weights == (retriever.Weights{}) {
		q.Weights = retriever.Weights{Landmark: 1}
	}
	c, err := s.Candidates(t.Context(), q)
	if err != nil {
		t.Fatalf("Candidates: %v", err)
	}
	return c
}

func stats(t *testing.T, s retriever.Store) (documents, chunks int) {
	t.Helper()
	st, err := s.Stats(t.Context())
	if err != nil {
		t.Fatalf("Stats: %v", err)
	}
	return st.Documents, st.Chunks
}

func scroll(ctx context.Context, s retriever.Store, f retriever.Filter) ([]string, error) {
	var ids []string
	for d, err := range s.Scroll(ctx, f, retriever.Want{}) {
		if err != nil {
			return ids, err
		}
		ids = append(ids, d.ID)
	}
	return ids, nil
}

// places lists candidates as "document/chunk".
func places(list []retriever.Candidate) []string {
	out := make([]string, len(list))
	for i, c := range list {
		out[i] = fmt.Sprintf("%s/%d", c.Document, c.Chunk)
	}
	return out
}

// diff compares, with vectors to within the precision of 16 bits and without
// telling an empty list or map from none.
func diff(want, got any) string {
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.Comparer(func(a, b float32) bool {
		return math.Abs(float64(a)-float64(b)) < tolerance
	}))
}

func wantDiff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := diff(want, got); d != "" {
		t.Errorf("%s: want -, got +:\n%s", what, d)
	}
}
