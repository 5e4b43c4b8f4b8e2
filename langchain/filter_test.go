package langchain_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/waymark-rag/waymark/langchain"
	"github.com/waymark-rag/waymark/retriever"
)

func TestFilter(t *testing.T) {
	when := time.Date(2026, 9, 30, 12, 0, 0, 0, berlin)
	one := func(key string, op retriever.Op, value any) []retriever.Condition {
		return []retriever.Condition{{Key: key, Op: op, Value: value}}
	}
	for _, tt := range []struct {
		filters any
		want    []retriever.Condition
	}{
		{nil, nil},
		{map[string]any{}, nil},
		{retriever.Filter{}, nil},
		{map[string]any{"lang": "go"}, one("lang", retriever.Eq, "go")},
		{map[string]any{"n": 3}, one("n", retriever.Eq, int64(3))},
		{map[string]any{"n": uint8(3)}, one("n", retriever.Eq, int64(3))},
		{map[string]any{"f": float32(0.5)}, one("f", retriever.Eq, 0.5)},
		{map[string]any{"n": json.Number("12")}, one("n", retriever.Eq, int64(12))},
		{map[string]any{"draft": false}, one("draft", retriever.Eq, false)},
		{map[string]any{"when": when}, one("when", retriever.Eq, "2026-09-30T10:00:00.000000000Z")},
		{map[string]any{"lang": []string{"go", "python"}}, one("lang", retriever.In, []any{"go", "python"})},
		{map[string]any{"n": []int{1, 2}}, one("n", retriever.In, []any{int64(1), int64(2)})},
		{map[string]any{"n": [2]any{"a", 1}}, one("n", retriever.In, []any{"a", int64(1)})},
		{map[string]any{"n": map[string]any{"$eq": 1}}, one("n", retriever.Eq, int64(1))},
		{map[string]any{"n": map[string]any{"$ne": "x"}}, one("n", retriever.Ne, "x")},
		{map[string]any{"n": map[string]any{"$in": []any{1.5, true}}}, one("n", retriever.In, []any{1.5, true})},
		{map[string]any{"n": map[string]string{"$prefix": "guide/"}}, one("n", retriever.Prefix, "guide/")},
		{map[string]any{"n": map[string]any{"$contains": "x"}}, one("n", retriever.Contains, "x")},
		{map[string]any{"n": map[string]any{"$exists": false}}, one("n", retriever.Exists, false)},
		{map[string]any{"n": map[string]any{"$lt": 1}}, one("n", retriever.Lt, int64(1))},
		{map[string]any{"n": map[string]any{"$lte": 1}}, one("n", retriever.Lte, int64(1))},
		{map[string]any{"year": map[string]int{"$gte": 2020, "$lt": 2030}, "a": 1}, []retriever.Condition{
			{Key: "a", Op: retriever.Eq, Value: int64(1)}, {Key: "year", Op: retriever.Gte, Value: int64(2020)}, {Key: "year", Op: retriever.Lt, Value: int64(2030)},
		}},
		{map[string]any{"n": map[string]any{"$gt": when}}, one("n", retriever.Gt, "2026-09-30T10:00:00.000000000Z")},
		{retriever.Filter{All: one("n", retriever.Eq, int32(3))}, one("n", retriever.Eq, int64(3))},
	} {
		got, err := langchain.Filter(tt.filters)
		if err != nil {
			t.Errorf("%v: %v", tt.filters, err)
		}
		wantDiff(t, "conditions", tt.want, got.All)
	}
}

// users.md 10: what is not understood is refused by name, and never matches all.
func TestUnknownOperatorIsRefused(t *testing.T) {
	for _, tt := range []struct {
		filters any
		want    []string
	}{
		{map[string]any{"year": map[string]any{"$gtt": 2020}}, []string{`filter on "year": unknown operator "$gtt"`, `"$gte"`}},
		{map[string]any{"year": map[string]any{"gte": 2020}}, []string{`unknown operator "gte"`}},
		{map[string]any{"year": map[string]any{}}, []string{`filter on "year": an empty map`}},
		{map[string]any{"year": map[string]any{"$gte": true}}, []string{`filter on "year": operation "gte" cannot take true`}},
		{map[string]any{"year": map[string]any{"$in": 3}}, []string{`operation "in" cannot take 3`}},
		{map[string]any{"year": []int{}}, []string{`operation "in"`, "at least one"}},
		{map[string]any{"year": struct{}{}}, []string{`operation "eq" cannot take struct {}{}`}},
		{map[string]any{"year": nil}, []string{`filter on "year"`, `{"$exists": false}`}},
		{map[string]any{"year": map[int]int{1: 2}}, []string{`filter on "year"`, "cannot take map[int]int"}},
		{map[string]any{"$or": []any{}}, []string{`filter "$or"`, "all conditions must hold"}},
		{map[string]any{"": 1}, []string{"key is empty"}},
		{map[string]string{"a": "b"}, []string{"filters of type map[string]string: want a map[string]any or a retriever.Filter"}},
		{retriever.Filter{All: []retriever.Condition{{Key: "n", Op: "like", Value: "x"}}}, []string{`unknown operation "like"`}},
	} {
		got, err := langchain.Filter(tt.filters)
		wantError(t, err, tt.want...)
		if len(got.All) > 0 && err == nil {
			t.Errorf("%v gave %v", tt.filters, got)
		}
	}
}

func TestWithFilters(t *testing.T) {
	f := newFixture(t, &langchain.VectorStoreOptions{Request: retriever.Request{
		Filter: retriever.Filter{All: []retriever.Condition{{Key: "draft", Op: retriever.Ne, Value: true}}},
	}})
	for _, d := range []struct {
		lang  string
		year  int
		draft bool
	}{{"go", 2019, false}, {"go", 2024, false}, {"python", 2024, false}, {"go", 2025, true}} {
		add(t, f, schema.Document{PageContent: "a page", Metadata: map[string]any{"lang": d.lang, "year": d.year, "draft": d.draft}})
	}
	for _, tt := range []struct {
		filters any
		want    int
	}{
		{nil, 3},
		{map[string]any{"lang": "go"}, 2},
		{map[string]any{"lang": "go", "year": map[string]any{"$gte": 2020}}, 1},
		{map[string]any{"lang": []string{"python", "c"}}, 1},
		{map[string]any{"lang": map[string]any{"$ne": "go"}}, 1},
		{map[string]any{"draft": true}, 0}, // the template's filter holds too
		{retriever.Filter{All: []retriever.Condition{{Key: "year", Op: retriever.Lt, Value: 2020}}}, 1},
	} {
		if got := find(t, f, "page", 9, vectorstores.WithFilters(tt.filters)); len(got) != tt.want {
			t.Errorf("%v: %d documents, want %d", tt.filters, len(got), tt.want)
		}
	}
}

func TestFilterLeavesTheMapAlone(t *testing.T) {
	list := []string{"a", "b"}
	filters := map[string]any{"l": list, "n": map[string]any{"$gt": 1}}
	got, err := langchain.Filter(filters)
	if err != nil {
		t.Fatal(err)
	}
	got.All[0].Value.([]any)[0] = "changed"
	wantDiff(t, "filters", map[string]any{"l": []string{"a", "b"}, "n": map[string]any{"$gt": 1}}, filters)
}
