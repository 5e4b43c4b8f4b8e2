// Package storetest checks that a retriever.Store keeps its contract.
//
// In: a function that opens stores at a place where nothing is yet.
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
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/retriever"
)

// Open opens the store at one place, for one tenant, with the fingerprint of
// what makes the vectors; a zero fingerprint takes the place as it is. If
// nothing is there for the tenant, it makes an empty store that keeps the
// fingerprint; the suite's is never zero then and says the length of a vector.
// The suite closes what it opens, and has several open at a time.
type Open func(tenant string, fingerprint retriever.Fingerprint) (retriever.Store, error)

// New returns how to open a place of its own, where nothing is yet. What it
// needs is cleaned up by t.Cleanup.
type New func(t *testing.T) Open

// Test runs the whole suite.
func Test(t *testing.T, place New) {
	for _, test := range slices.Concat(tests, ordered) {
		t.Run(test.name, func(t *testing.T) { test.run(t, place(t)) })
	}
}

// TestApproximate runs the suite for a store that may miss candidates, as one
// does that searches an index: which they are is not held to the definition, but
// nearly all of the ten best must be among them.
func TestApproximate(t *testing.T, place New) {
	for _, test := range slices.Concat(tests, []test{{"Recall", testRecall}}) {
		t.Run(test.name, func(t *testing.T) { test.run(t, place(t)) })
	}
}

type test struct {
	name string
	run  func(*testing.T, Open)
}

// ordered are the tests of the one right order.
var ordered = []test{
	{"Ranking", testRanking},
	{"TiesAtTheCut", testTiesAtTheCut},
}

var tests = []test{
	{"Empty", testEmpty},
	{"RoundTrip", testRoundTrip},
	{"Replace", testReplace},
	{"SameIDTwice", testSameIDTwice},
	{"Refused", testRefused},
	{"MemoryIsNotShared", testMemory},
	{"MetadataTypes", testMetadataTypes},
	{"StrangeIDs", testStrangeIDs},
	{"EmptyText", testEmptyText},
	{"LargeDocument", testLargeDocument},
	{"LargeReplaced", testLargeReplaced},
	{"ChunkCounts", testChunkCounts},
	{"Delete", testDelete},
	{"DeleteEverything", testDeleteEverything},
	{"DeleteMany", testDeleteMany},
	{"DeleteWhere", testDeleteWhere},
	{"DeleteWhereExact", testDeleteWhereExact},
	{"Fetch", testFetch},
	{"FetchOnly", testFetchOnly},
	{"Scroll", testScroll},
	{"ScrollPages", testScrollPages},
	{"ScrollOrder", testScrollOrder},
	{"ScrollWhileWriting", testScrollWhileWriting},
	{"Stats", testStats},
	{"Reopen", testReopen},
	{"Fingerprint", testFingerprint},
	{"FingerprintDim", testFingerprintDim},
	{"Tenants", testTenants},
	{"TenantsDelete", testTenantsDelete},
	{"TenantsKeys", testTenantsKeys},
	{"TenantNames", testTenantNames},
	{"DenseScores", testDenseScores},
	{"Ties", testTies},
	{"PerDocument", testPerDocument},
	{"FilterBeforeCut", testFilterBeforeCut},
	{"FilterMeaning", testFilterMeaning},
	{"FilterKeys", testFilterKeys},
	{"FilterTogether", testFilterTogether},
	{"UnknownKey", testUnknownKey},
	{"QueryRefused", testQueryRefused},
	{"Words", testWords},
	{"WordsAreText", testWordsAreText},
	{"WordsUnicode", testWordsUnicode},
	{"WordsFilterAndCut", testWordsFilterAndCut},
	{"BothSources", testBothSources},
	{"AtomicReplace", testAtomicReplace},
	{"ConcurrentUse", testConcurrentUse},
	{"TwoWritersOneDocument", testTwoWritersOneDocument},
	{"TwoWriters", testTwoWriters},
	{"WriteAgainstDelete", testWriteAgainstDelete},
	{"Cancelled", testCancelled},
	{"Closed", testClosed},
}

// made is the fingerprint that the suite's stores are made with.
func made(dim int) retriever.Fingerprint {
	return retriever.Fingerprint{Model: "test", Pooling: "landmark", Dim: dim}
}

// open opens a tenant's store and closes it when the test ends.
func open(t *testing.T, at Open, tenant string, f retriever.Fingerprint) retriever.Store {
	t.Helper()
	s, err := at(tenant, f)
	if err != nil {
		t.Fatalf("opening tenant %q: %v", tenant, err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// create opens an empty store for vectors of length dim.
func create(t *testing.T, at Open, dim int) retriever.Store {
	t.Helper()
	return open(t, at, "", made(dim))
}

// reopen closes the store and opens it again as it is.
func reopen(t *testing.T, at Open, s retriever.Store) retriever.Store {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	return open(t, at, "", retriever.Fingerprint{})
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
		if c := &d.Chunks[i]; i > 0 { // the first knows neither
			c.Place = chunker.Place{Kind: chunker.RowPlace, In: "Sheet", First: fmt.Sprint(i), Last: fmt.Sprint(i + 1)}
			c.Header = chunker.Range{Start: 0, End: min(4, d.Chunks[0].Text.End)}
		}
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
