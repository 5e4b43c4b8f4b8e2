package local

import (
	"math"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func FuzzMetadata(f *testing.F) {
	f.Add("key", "value", int64(1), 1.0, true)
	f.Add("", "\u2028<&>", int64(math.MinInt64), math.Copysign(0, -1), false)
	f.Add("k", "", int64(1)<<53+1, 1e300, false)
	f.Fuzz(func(t *testing.T, key, text string, i int64, x float64, b bool) {
		if math.IsNaN(x) || math.IsInf(x, 0) || !utf8.ValidString(key) || !utf8.ValidString(text) {
			return // retriever.Check refuses them
		}
		want := map[string]any{"s" + key: text, "i" + key: i, "x" + key: x, "b" + key: b, "l" + key: []string{text, key}}
		packed, err := encodeMetadata(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeMetadata(packed)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: want -, got +:\n%s", packed, d)
		}
	})
}

func TestDecodeMetadata(t *testing.T) {
	if got, err := decodeMetadata([]byte(`{}`)); got != nil || err != nil {
		t.Errorf("no metadata came back as %v, %v", got, err)
	}
	for _, damaged := range []string{``, `[]`, `{"a":99999999999999999999}`, `{"a":1e999}`} {
		if got, err := decodeMetadata([]byte(damaged)); err == nil {
			t.Errorf("decodeMetadata(%s) = %v, want an error", damaged, got)
		}
	}
}
