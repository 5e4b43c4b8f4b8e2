package storetest

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/retriever"
)

// tagged makes one document for each metadata map; their IDs are in order.
func tagged(metadata ...map[string]any) []retriever.Document {
	docs := make([]retriever.Document, len(metadata))
	for i, m := range metadata {
		docs[i] = with(document(fmt.Sprintf("%03d", i), axis(0), part{"text", axis(0)}), m)
	}
	return docs
}

// checkScroll holds what Scroll finds against Filter.Match, which defines it.
func checkScroll(t *testing.T, s retriever.Store, docs []retriever.Document, f retriever.Filter) {
	t.Helper()
	ids, err := scroll(t.Context(), s, f)
	if err != nil {
		t.Errorf("Scroll by%s: %v", show(f), err)
		return
	}
	wantDiff(t, "Scroll by"+show(f), matching(docs, f), ids)
}

// checkFilter holds what all reading calls find against Filter.Match.
func checkFilter(t *testing.T, s retriever.Store, docs []retriever.Document, all ...retriever.Condition) {
	t.Helper()
	f := retriever.Filter{All: all}
	checkScroll(t, s, docs, f)
	c, err := s.Candidates(t.Context(), retriever.Query{Vector: axis(0), Words: "text", Limit: len(docs), Weights: retriever.Weights{Landmark: 1}, Filter: f})
	if err != nil {
		t.Errorf("Candidates by%s: %v", show(f), err)
		return
	}
	want := matching(docs, f)
	for i := range want {
		want[i] += "/0"
	}
	wantDiff(t, "dense Candidates by"+show(f), want, places(c.Dense))
	wantDiff(t, "lexical Candidates by"+show(f), want, places(c.Lexical))
}

// matching returns the IDs of the documents that a filter matches.
func matching(docs []retriever.Document, f retriever.Filter) []string {
	var ids []string
	for _, d := range docs {
		if f.Match(d.Metadata) {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

// show writes a filter with the types of its values.
func show(f retriever.Filter) string {
	var out strings.Builder
	for _, c := range f.All {
		fmt.Fprintf(&out, " [%q %s %#v]", c.Key, c.Op, c.Value)
	}
	return out.String()
}

// exact is the largest number up to which every int64 is a float64 too.
const exact = int64(1) << 53

// testFilterMeaning tries every operation with values of every type on
// metadata of every type.
func testFilterMeaning(t *testing.T, at Open) {
	s := create(t, at, 4)
	stored := []any{
		"", "a", "ab", "b", "A", "9", "10", "3", "true", "2024-05-01", "2024-11-30", "ü", "日本", `quote " and \`, "two words",
		true, false,
		int64(0), int64(-1), int64(3), int64(10), exact, exact + 1, -exact, -exact - 1,
		int64(math.MaxInt64), int64(math.MaxInt64) - 1, int64(math.MinInt64), int64(math.MinInt64) + 1,
		0.0, 3.0, 3.5, -0.5, 5e-324, 1e300, -1e300, float64(exact), float64(1 << 62), float64(math.MaxInt64), float64(math.MinInt64),
		[]string{}, []string{"a"}, []string{"b", "ab"}, []string{"A", "10", "two words"}, []string{""},
	}
	var metadata []map[string]any
	for _, v := range stored {
		metadata = append(metadata, map[string]any{"v": v})
	}
	docs := tagged(append(metadata, nil, map[string]any{"other": "a"})...)
	upsert(t, s, docs...)

	asked := []any{
		"", "a", "ab", "a ", "B", "3", "10", "true", "2024-06", "ü", "日", `"`, `\`, "words",
		true, false,
		0, 3, int64(-1), exact, exact + 1, -exact - 1, int64(math.MaxInt64), int64(math.MaxInt64) - 1, int64(math.MinInt64),
		3.0, 3.25, -0.5, 1e-320, float64(exact), float64(exact) + 2, 1e300, -1e301, float64(math.MaxInt64), float64(math.MinInt64),
	}
	for _, value := range asked {
		_, isString := value.(string)
		_, isBool := value.(bool)
		for _, op := range []retriever.Op{retriever.Eq, retriever.Ne} {
			checkFilter(t, s, docs, retriever.Condition{Key: "v", Op: op, Value: value})
		}
		if !isBool {
			for _, op := range []retriever.Op{retriever.Lt, retriever.Lte, retriever.Gt, retriever.Gte} {
				checkFilter(t, s, docs, retriever.Condition{Key: "v", Op: op, Value: value})
			}
		}
		if isString {
			for _, op := range []retriever.Op{retriever.Prefix, retriever.Contains} {
				checkFilter(t, s, docs, retriever.Condition{Key: "v", Op: op, Value: value})
			}
		}
	}
	for _, list := range []any{
		[]string{"a"}, []string{"b", "nosuch", "10"}, []int64{3, exact + 1}, []float64{3, 3.5}, []any{true},
		[]any{false, "true", int64(math.MaxInt64)}, []any{"", -0.5}, []any{"nosuch"},
	} {
		checkFilter(t, s, docs, retriever.Condition{Key: "v", Op: retriever.In, Value: list})
	}
	for _, there := range []bool{true, false} {
		checkFilter(t, s, docs, retriever.Condition{Key: "v", Op: retriever.Exists, Value: there})
	}
}

// testFilterKeys uses keys that mean something in one query language or
// another, or that a store may use for itself.
func testFilterKeys(t *testing.T, at Open) {
	s := create(t, at, 4)
	keys := []string{
		"a", "A", "a.b", "a.b.c", ".", "a b", " a", "a[0]", "a[]", "[]", `a"b`, `"a"`, "a'b", "a`b", `a\b`, "a/b", "a{b}", "a:b", "$a", "%41",
		"a\nb", "ключ", "名前", "é", "e\u0301", "🙂", strings.Repeat("long", 50),
		"id", "title", "hash", "text", "doc", "document", "metadata", "tenant", "part", "chunks", "landmarks", "vector", "norms", "_",
	}
	var metadata []map[string]any
	everywhere := make(map[string]any)
	for i, key := range keys {
		metadata = append(metadata, map[string]any{key: "x"})
		everywhere[key] = fmt.Sprint("y", i)
	}
	docs := tagged(append(metadata, everywhere, nil)...)
	upsert(t, s, docs...)
	for i, key := range keys {
		checkFilter(t, s, docs, retriever.Condition{Key: key, Op: retriever.Eq, Value: "x"})
		checkScroll(t, s, docs, where(key, retriever.Ne, "x"))
		checkScroll(t, s, docs, where(key, retriever.Contains, fmt.Sprint(i)))
		checkScroll(t, s, docs, where(key, retriever.Exists, false))
	}
	for i, d := range fetch(t, s, retriever.Want{}, docs[len(docs)-2].ID) {
		wantDiff(t, fmt.Sprint("metadata of document ", i), everywhere, d.Metadata)
	}
	_, err := scroll(t.Context(), s, where("a.b.c.d", retriever.Eq, "x"))
	var unknown *retriever.UnknownKeyError
	if !errors.As(err, &unknown) {
		t.Fatalf("an unknown key: %v, want an *UnknownKeyError", err)
	}
	wantDiff(t, "the known keys", slices.Sorted(maps.Keys(everywhere)), unknown.Known)
}

func testFilterTogether(t *testing.T, at Open) {
	s := create(t, at, 4)
	docs := tagged(
		map[string]any{"path": "guide/a.md", "year": int64(2019), "draft": false, "tags": []string{"go", "rag"}, "score": 0.5},
		map[string]any{"path": "guide/b.md", "year": int64(2020), "draft": true, "tags": []string{"golang"}, "score": 1.0},
		map[string]any{"path": "other/guide.md", "year": 2020.5, "tags": []string{}},
		map[string]any{"path": "2020", "year": "2020", "draft": "true", "tags": "go", "score": int64(1)},
		map[string]any{"path": "über/c.md", "year": exact + 1, "score": -3.25},
		nil,
	)
	upsert(t, s, docs...)
	one := func(key string, op retriever.Op, value any) retriever.Condition {
		return retriever.Condition{Key: key, Op: op, Value: value}
	}
	for _, all := range [][]retriever.Condition{
		nil,
		{one("year", retriever.Gte, 2019), one("year", retriever.Lt, 2020.5)},
		{one("year", retriever.Gt, exact), one("year", retriever.Lte, exact+1)},
		{one("year", retriever.Eq, 2020), one("year", retriever.Eq, "2020")},
		{one("tags", retriever.Eq, "go"), one("tags", retriever.Eq, "rag")}, // each by some element
		{one("tags", retriever.Contains, "go"), one("tags", retriever.Prefix, "r")},
		{one("path", retriever.Prefix, "guide/"), one("path", retriever.Contains, "b."), one("draft", retriever.Eq, true)},
		{one("path", retriever.Contains, "guide"), one("draft", retriever.Ne, true)},
		{one("draft", retriever.Exists, false), one("year", retriever.Exists, true)},
		{one("score", retriever.Eq, 1), one("path", retriever.Ne, "2020"), one("year", retriever.In, []any{2019, 2020.0})},
		{one("tags", retriever.Exists, false), one("score", retriever.Exists, false)},
		{one("path", retriever.Prefix, "guide/"), one("path", retriever.Prefix, "other/")},
	} {
		checkFilter(t, s, docs, all...)
	}
}

func testFilterBeforeCut(t *testing.T, at Open) {
	s := create(t, at, 4)
	var docs []retriever.Document
	for i := range 1000 {
		x, kind := unit(10, float32(i)/100, 0, 0), "common"
		if i%100 == 99 {
			x, kind = unit(-1, float32(i)/100, 0, 0), "rare" // the worst of all
		}
		docs = append(docs, with(document(fmt.Sprintf("%03d", i), x, part{"word and " + kind, x}), map[string]any{"kind": kind}))
	}
	upsert(t, s, docs...)
	q := retriever.Query{Vector: axis(0), Words: "word", Limit: 8, Filter: where("kind", retriever.Eq, "rare")}
	c := candidates(t, s, q)
	want := []string{"999/0", "899/0", "799/0", "699/0", "599/0", "499/0", "399/0", "299/0"}
	wantDiff(t, "dense", want, places(c.Dense))
	if len(c.Lexical) != 8 {
		t.Errorf("lexical: %d candidates, want 8", len(c.Lexical))
	}
	for _, c := range append(c.Dense, c.Lexical...) {
		if c.Document[1:] != "99" {
			t.Errorf("%q does not match the filter", c.Document)
		}
	}
	q.Limit = 50
	if c = candidates(t, s, q); len(c.Dense) != 10 || len(c.Lexical) != 10 {
		t.Errorf("%d and %d candidates, want the 10 that match", len(c.Dense), len(c.Lexical))
	}
	q.Filter = where("kind", retriever.Eq, "none of them")
	if c = candidates(t, s, q); len(c.Dense)+len(c.Lexical) != 0 {
		t.Errorf("a filter that matches nothing found %v", c)
	}
}

func testUnknownKey(t *testing.T, at Open) {
	s := create(t, at, 4)
	letters(t, s)
	q := retriever.Query{Vector: axis(0), Words: "letter", Limit: 3, Weights: retriever.Weights{Landmark: 1}}
	for _, op := range []retriever.Op{retriever.Eq, retriever.Ne} {
		q.Filter = where("evne", op, "x")
		_, err := s.Candidates(t.Context(), q)
		var unknown *retriever.UnknownKeyError
		if !errors.As(err, &unknown) {
			t.Fatalf("%s: Candidates: %v, want an *UnknownKeyError", op, err)
		}
		wantDiff(t, "the error", &retriever.UnknownKeyError{Key: "evne", Known: []string{"even", "n"}}, unknown)
	}
	q.Filter = where("n", retriever.Eq, 1)
	if n, err := s.DeleteWhere(t.Context(), where("n", retriever.Gte, 0)); n != 6 || err != nil {
		t.Fatal(n, err)
	}
	if _, err := s.Candidates(t.Context(), q); err != nil {
		t.Errorf("once the store is empty: %v, want no error", err)
	}
	upsert(t, s, document("plain", axis(0), part{"letter", axis(0)}))
	if _, err := s.Candidates(t.Context(), q); err == nil {
		t.Error("a key that only deleted documents had was not refused")
	}
}
