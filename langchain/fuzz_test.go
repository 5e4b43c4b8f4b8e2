package langchain

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/retriever"
)

// FuzzMetadata checks that whatever is put into metadata is refused, or can be stored
// and comes back, repaired where its bytes were bad.
func FuzzMetadata(f *testing.F) {
	f.Add("key", "value", int64(1), 1.5, []byte(`{"a":[1,2.5,"x",null,{"b":true}]}`))
	f.Add("k\xff\x00", "v\xfe\x00", int64(math.MinInt64), math.Inf(1), []byte(`"\u0000"`))
	f.Add("waymark.x", "", int64(0), math.Copysign(0, -1), []byte(`[]`))
	f.Add("", "\uFFFD", int64(math.MaxInt64), math.MaxFloat64, []byte(`1e400`))
	f.Fuzz(func(t *testing.T, key, s string, n int64, x float64, text []byte) {
		var parsed any
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if d.Decode(&parsed) != nil {
			parsed = nil
		}
		// value is what goes in and, with clean set, what is wanted back.
		value := func(clean bool) map[string]any {
			str, name, word, tree := s, key, key, parsed
			if clean {
				str, name, word, tree = repair(s), repairName(key), repair(key), cleaned(parsed)
			}
			return map[string]any{
				name: str, "n": int32(n), "f": x, "json": tree, "list": []string{str, word}, "bytes": []byte(s),
				"deep": map[string]any{name: []any{str, n, x, map[string][]string{name: {str}}}},
			}
		}
		in := value(false)
		stored, err := storeMetadata(in)
		if d := cmp.Diff(value(false), in); d != "" && !math.IsNaN(x) {
			t.Errorf("the caller's map was changed:\n%s", d)
		}
		if err != nil {
			return
		}
		doc := retriever.Document{ID: "x", Text: "x", Metadata: stored, Vector: []float32{1}, Chunks: []retriever.Chunk{{Text: chunker.Range{End: 1}, Vector: []float32{1}}}}
		if err := retriever.Check(&doc, 1); err != nil {
			t.Fatalf("cannot be stored: %v", err)
		}
		out, err := userMetadata(stored)
		if err != nil {
			t.Fatal(err)
		}
		want := value(true)
		for _, k := range ours {
			delete(want, k)
		}
		if d := cmp.Diff(want, out); d != "" {
			t.Errorf("came back changed:\n%s", d)
		}
	})
}

// cleaned repairs every string of a tree of JSON.
func cleaned(v any) any {
	switch v := v.(type) {
	case string:
		return repair(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = cleaned(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, e := range v {
			out[repairName(key)] = cleaned(e)
		}
		return out
	}
	return v
}
