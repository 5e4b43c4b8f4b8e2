package qdrant

import (
	"math"
	"slices"
	"testing"

	"github.com/waymark-rag/waymark/retriever"
)

func TestTokens(t *testing.T) {
	for _, test := range []struct {
		value any
		want  []string
	}{
		{"a", []string{"?", "s:a"}},
		{"", []string{"?", "s:"}},
		{[]string{"a", ""}, []string{"?", "l:a", "l:"}},
		{[]string{}, []string{"?"}},
		{true, []string{"?", "b:true"}},
		{7, []string{"?", "n:7"}},
		{int64(math.MaxInt64), []string{"?", "n:9223372036854775807"}},
		{7.0, []string{"?", "n:7"}},
		{-0.5, []string{"?", "n:-0.5"}},
		{1e300, []string{"?", "n:1e+300"}},
	} {
		if got := tokens(test.value); !slices.Equal(got, test.want) {
			t.Errorf("tokens(%#v) = %q, want %q", test.value, got, test.want)
		}
	}
}

// FuzzTokens holds tokens against the meaning of a filter: two values share one
// just when the one is found by the other, and a token gives its value back.
func FuzzTokens(f *testing.F) {
	f.Add("a", "b", int64(3), 3.0, true)
	f.Add("s:", "l:", int64(1)<<60, float64(1<<60), false)
	f.Add("3", "true", int64(math.MinInt64), math.MinInt64+0.0, true)
	f.Fuzz(func(t *testing.T, a, b string, i int64, x float64, yes bool) {
		values := []any{a, b, i, yes}
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			values = append(values, x)
		}
		for _, have := range append(slices.Clone(values), []string{a, b}) {
			stored := tokens(have)
			for _, want := range values {
				equal := retriever.Filter{All: []retriever.Condition{{Key: "k", Op: retriever.Eq, Value: want}}}.Match(map[string]any{"k": have})
				share := slices.ContainsFunc(equals(want), func(s string) bool { return slices.Contains(stored, s) })
				if share != equal {
					t.Errorf("%#v has the tokens %q and %#v is found by %q: %t, want %t", have, stored, want, equals(want), share, equal)
				}
			}
			for _, token := range stored[1:] {
				v, ok := untoken(token)
				if !ok || !slices.Contains(tokens(v), token) {
					t.Errorf("token %q of %#v stands for %#v", token, have, v)
				}
			}
		}
	})
}

// FuzzFieldName gives every key a name of its own that is no path.
func FuzzFieldName(f *testing.F) {
	for _, key := range []string{"", "lang", "a.b", "a[0]", "a_b", "_", "ключ ✓", "\"", "a\xff"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		name := fieldName(key)
		for _, c := range name {
			if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
				t.Errorf("fieldName(%q) = %q has %q", key, name, c)
			}
		}
		if back, ok := keyOf(name); !ok || back != key {
			t.Errorf("keyOf(fieldName(%q)) = %q, %t", key, back, ok)
		}
		keyOf(key) // whatever a server says is there
	})
}

func TestMetadataValue(t *testing.T) {
	if _, err := metadataValue(map[string]any{"k": struct{}{}}); err == nil {
		t.Error("a struct was taken")
	}
	v, err := metadataValue(nil)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := readMetadata(v); back != nil || err != nil {
		t.Errorf("no metadata came back as %v, %v", back, err)
	}
}
