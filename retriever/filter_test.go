package retriever_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/retriever"
)

func where(key string, op retriever.Op, value any) retriever.Filter {
	return retriever.Filter{All: []retriever.Condition{{Key: key, Op: op, Value: value}}}
}

func TestMatch(t *testing.T) {
	metadata := map[string]any{
		"s": "guide/a.md", "empty": "", "b": true, "i": int64(2020), "n": 7, "f": 2.5, "whole": 3.0,
		"l": []string{"go", "golang"}, "none": []string{}, "big": int64(math.MaxInt64),
	}
	for _, test := range []struct {
		key   string
		op    retriever.Op
		value any
		want  bool
	}{
		{"s", retriever.Eq, "guide/a.md", true},
		{"s", retriever.Eq, "guide", false},
		{"s", retriever.Eq, 1, false},
		{"s", retriever.Ne, "x", true},
		{"s", retriever.Ne, "guide/a.md", false},
		{"s", retriever.Ne, 1, true},
		{"s", retriever.In, []string{"x", "guide/a.md"}, true},
		{"s", retriever.In, []any{"x", 1.0}, false},
		{"s", retriever.Prefix, "guide/", true},
		{"s", retriever.Prefix, "a.md", false},
		{"s", retriever.Contains, "e/a", true},
		{"s", retriever.Contains, "E/A", false},
		{"s", retriever.Lt, "guide/b", true},
		{"s", retriever.Gt, "guide/b", false},
		{"s", retriever.Gte, 0, false},
		{"empty", retriever.Eq, "", true},
		{"empty", retriever.Exists, true, true},
		{"b", retriever.Eq, true, true},
		{"b", retriever.Eq, "true", false},
		{"b", retriever.Ne, false, true},
		{"b", retriever.In, []any{false, true}, true},
		{"b", retriever.Lt, 1, false},
		{"i", retriever.Eq, 2020, true},
		{"i", retriever.Eq, 2020.0, true},
		{"i", retriever.Eq, 2020.5, false},
		{"i", retriever.Gt, 2019.5, true},
		{"i", retriever.Lt, 2020.5, true},
		{"i", retriever.Lte, int64(2020), true},
		{"i", retriever.Gt, 2020, false},
		{"i", retriever.In, []float64{1, 2020}, true},
		{"i", retriever.In, []int64{1, 2020}, true},
		{"n", retriever.Eq, 7.0, true},
		{"f", retriever.Eq, 2.5, true},
		{"f", retriever.Gt, 2, true},
		{"f", retriever.Lt, int64(3), true},
		{"whole", retriever.Eq, int64(3), true},
		{"big", retriever.Eq, int64(math.MaxInt64), true},
		{"big", retriever.Eq, int64(math.MaxInt64 - 1), false},
		{"big", retriever.Lt, math.Pow(2, 63), true},
		{"big", retriever.Eq, math.Pow(2, 63), false},
		{"big", retriever.Gt, -1e300, true},
		{"l", retriever.Eq, "go", true},
		{"l", retriever.Eq, "gol", false},
		{"l", retriever.Ne, "go", false},
		{"l", retriever.Ne, "rust", true},
		{"l", retriever.In, []string{"rust", "golang"}, true},
		{"l", retriever.Prefix, "gol", true},
		{"l", retriever.Contains, "golang", true},
		{"l", retriever.Contains, "ang", false},
		{"l", retriever.Gt, "god", true},
		{"l", retriever.Exists, true, true},
		{"none", retriever.Contains, "", false},
		{"none", retriever.Ne, "x", true},
		{"none", retriever.Exists, true, true},
		{"missing", retriever.Eq, "", false},
		{"missing", retriever.Ne, "x", true},
		{"missing", retriever.Lt, 5, false},
		{"missing", retriever.Contains, "", false},
		{"missing", retriever.Exists, true, false},
		{"missing", retriever.Exists, false, true},
		{"s", retriever.Exists, false, false},
		// What Validate refuses is never met.
		{"s", "", "guide/a.md", false},
		{"s", "like", "guide/a.md", false},
		{"s", retriever.Ne, []string{"x"}, false},
		{"s", retriever.Exists, "true", false},
		{"f", retriever.Lt, math.NaN(), false},
	} {
		if got := where(test.key, test.op, test.value).Match(metadata); got != test.want {
			t.Errorf("%s %s %#v: %v, want %v", test.key, test.op, test.value, got, test.want)
		}
	}
	both := retriever.Filter{All: append(where("b", retriever.Eq, true).All, where("i", retriever.Lt, 0).All...)}
	if both.Match(metadata) {
		t.Error("one condition of two is met, yet the filter matches")
	}
	if !(retriever.Filter{}).Match(nil) {
		t.Error("the zero filter does not match a document without metadata")
	}
}

func TestFilterValidate(t *testing.T) {
	for _, test := range []struct {
		key   string
		op    retriever.Op
		value any
		want  string // in the error; empty for none
	}{
		{"k", retriever.Eq, "x", ""},
		{"k", retriever.Ne, 1.5, ""},
		{"k", retriever.In, []any{"x", 1.0, true}, ""},
		{"k", retriever.In, []int64{1}, ""},
		{"k", retriever.Lt, "2020-01-01", ""},
		{"k", retriever.Exists, false, ""},
		{"", retriever.Eq, "x", "key is empty"},
		{"k", "", "x", "unknown operation"},
		{"k", "like", "x", "unknown operation"},
		{"k", retriever.Eq, nil, "cannot take"},
		{"k", retriever.Eq, []string{"x"}, "cannot take"},
		{"k", retriever.Eq, math.NaN(), "finite"},
		{"k", retriever.Gt, math.Inf(1), "finite"},
		{"k", retriever.Gt, true, "cannot take"},
		{"k", retriever.In, "x", "a list"},
		{"k", retriever.In, []any{}, "at least one"},
		{"k", retriever.In, []any{"x", []any{}}, "a list"},
		{"k", retriever.In, []float64{math.NaN()}, "finite"},
		{"k", retriever.Prefix, 5, "a string"},
		{"k", retriever.Contains, []string{"x"}, "a string"},
		{"k", retriever.Exists, "true", "true or false"},
	} {
		err := where(test.key, test.op, test.value).Validate()
		if test.want == "" {
			if err != nil {
				t.Errorf("%v", err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), fmt.Sprintf("%q", test.op)) ||
			test.key != "" && !strings.Contains(err.Error(), `"k"`) {
			t.Errorf("%q %q %#v: %v, want %q with the key and the operation", test.key, test.op, test.value, err, test.want)
		}
	}
}

// TestFilterJSON checks that a filter means the same after a trip through JSON.
func TestFilterJSON(t *testing.T) {
	f := retriever.Filter{All: []retriever.Condition{
		{Key: "year", Op: retriever.Gte, Value: int64(2020)}, {Key: "lang", Op: retriever.In, Value: []string{"go", "rust"}},
		{Key: "n", Op: retriever.In, Value: []int64{1, 2}}, {Key: "draft", Op: retriever.Ne, Value: true},
	}}
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var g retriever.Filter
	if err := json.Unmarshal(b, &g); err != nil {
		t.Fatal(err)
	}
	if err := g.Validate(); err != nil {
		t.Errorf("%s: %v", b, err)
	}
	for year := range int64(4) {
		m := map[string]any{"year": 2018 + year, "lang": "go", "n": year, "draft": false}
		if f.Match(m) != g.Match(m) {
			t.Errorf("%s: %v matches otherwise: %v", b, m, g.Match(m))
		}
	}
}

func TestCheckKeys(t *testing.T) {
	f, err := retriever.ParseFilter("b=1 zz=2")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.CheckKeys([]string{"zz", "b"}); err != nil {
		t.Error(err)
	}
	var unknown *retriever.UnknownKeyError
	if err := f.CheckKeys([]string{"z", "b", "a"}); !errors.As(err, &unknown) {
		t.Fatalf("%v, want an *UnknownKeyError", err)
	}
	if d := cmp.Diff(&retriever.UnknownKeyError{Key: "zz", Known: []string{"a", "b", "z"}}, unknown); d != "" {
		t.Error(d)
	}
	for _, e := range []*retriever.UnknownKeyError{unknown, {Key: "zz"}} {
		if !strings.Contains(e.Error(), `"zz"`) {
			t.Errorf("the error does not name the key: %v", e)
		}
	}
}
