package langchain_test

import (
	"encoding/json"
	"maps"
	"math"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/waymark-rag/waymark/langchain"
	"github.com/waymark-rag/waymark/retriever"
)

var berlin = time.FixedZone("", 2*60*60)

// values are one of every kind that must come back as it went in.
func values() map[string]any {
	return map[string]any{
		"string": "text", "empty": "", "bool": true, "false": false,
		"int": 7, "int8": int8(-8), "int16": int16(16), "int32": int32(-32), "int64": int64(math.MinInt64),
		"uint": uint(7), "uint8": uint8(255), "uint16": uint16(16), "uint32": uint32(32), "uint64": uint64(math.MaxUint64),
		"float32": float32(0.1), "float64": 0.1, "whole float": 3.0, "huge": math.MaxFloat64, "tiny": math.SmallestNonzeroFloat64,
		"number": json.Number("12345678901234567890.5"), "time": time.Date(2026, 9, 30, 12, 0, 0, 123456789, berlin), "utc": time.Unix(0, 0).UTC(),
		"nil": nil, "bytes": []byte{0, 255, 'a'},
		"strings": []string{"a", "b"}, "no strings": []string{}, "nil strings": []string(nil),
		"ints": []int{1, 2}, "floats": []float64{1, 2.5}, "bools": []bool{true}, "times": []time.Time{time.Unix(1e9, 5).UTC()},
		"any": []any{"a", 1, int64(2), 3.0, nil, true, []string{"x"}, map[string]any{"deep": uint8(1)}}, "no any": []any{}, "any strings": []any{"a", "b"},
		"map":        map[string]any{"a": 1, "b": map[string]any{"c": []int{3}, "when": time.Unix(5, 0).UTC(), "n": json.Number("1.0")}},
		"string map": map[string]string{"k": "v"}, "no map": map[string]any{}, "nil map": map[string]int(nil), "lists": map[string][]string{"x": {"y"}}, "list of lists": [][]int{{1}, nil, {}},
		"list of maps":               []map[string]any{{"a": int32(1)}, nil},
		"key with \"quotes\" and 世界": 1,
	}
}

func TestMetadataComesBackUnchanged(t *testing.T) {
	f := newFixture(t, nil)
	metadata := values()
	add(t, f, schema.Document{PageContent: "some text", Metadata: metadata})
	got := find(t, f, "some text", 1)[0].Metadata
	wantDiff(t, "metadata", values(), users(got))
	wantDiff(t, "the caller's map", values(), metadata)
	for key, want := range map[string]string{"time": "2026-09-30T12:00:00.123456789+02:00", "utc": "1970-01-01T00:00:00Z"} {
		if s := got[key].(time.Time).Format(time.RFC3339Nano); s != want {
			t.Errorf("%s is %s, want %s", key, s, want)
		}
	}

	// Nothing that is returned is shared: the next caller sees what was stored.
	got["strings"].([]string)[0] = "changed"
	got["map"].(map[string]any)["a"] = "changed"
	wantDiff(t, "metadata found again", values(), users(find(t, f, "some text", 1)[0].Metadata))
}

// Two passages of one document must not share lists either.
func TestPassagesShareNoMetadata(t *testing.T) {
	f := newFixture(t, nil)
	text := "# Top\n\nAmber is resin.\n\n" + strings.Repeat("Filler stands between them. ", 12) + "\n\nAmber is old."
	add(t, f, schema.Document{PageContent: text, Metadata: map[string]any{"tags": []string{"a"}, "format": "markdown"}})
	got := find(t, f, "amber", 2)
	if len(got) != 2 {
		t.Fatalf("found %q", texts(got))
	}
	got[0].Metadata["tags"].([]string)[0] = "changed"
	got[0].Metadata[langchain.MetaHeadings].([]string)[0] = "changed"
	wantDiff(t, "tags", []string{"a"}, got[1].Metadata["tags"])
	wantDiff(t, "headings", []string{"Top"}, got[1].Metadata[langchain.MetaHeadings])
}

type level string
type author struct {
	Name string `json:"name"`
	Born int64  `json:"born"`
}

// What a name cannot tell comes back as its JSON.
func TestMetadataOfOtherTypes(t *testing.T) {
	f := newFixture(t, nil)
	text := "a"
	add(t, f, schema.Document{PageContent: "some text", Metadata: map[string]any{
		"level": level("high"), "author": &author{"Ada", 1<<60 + 1}, "pointer": &text, "no pointer": (*author)(nil),
		"duration": time.Second, "raw": json.RawMessage(`{"a":[1,2.5]}`), "array": [2]bool{true, false}, "keys": map[int]string{1: "one"},
		"query": url.Values{"q": {"x"}},
	}})
	wantDiff(t, "metadata", map[string]any{
		"level": "high", "author": map[string]any{"name": "Ada", "born": int64(1<<60 + 1)}, "pointer": "a", "no pointer": nil,
		"duration": int64(time.Second), "raw": map[string]any{"a": []any{int64(1), 2.5}}, "array": []any{true, false}, "keys": map[string]any{"1": "one"},
		"query": map[string]any{"q": []any{"x"}},
	}, users(find(t, f, "some text", 1)[0].Metadata))
	if got := find(t, f, "some text", 1, vectorstores.WithFilters(map[string]any{"level": level("high"), "pointer": "a"})); len(got) != 1 {
		t.Error("a string type of one's own cannot be filtered by")
	}
}

type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("no JSON today") }

func TestMetadataThatCannotBeKept(t *testing.T) {
	f := newFixture(t, nil)
	loop := map[string]any{}
	loop["self"] = loop
	list := []any{nil}
	list[0] = list
	for key, v := range map[string]any{
		"panic": panics{}, "function": func() {}, "channel": make(chan int), "complex": 1i, "NaN": math.NaN(), "infinity": float32(math.Inf(1)),
		"inside": map[string]any{"a": []any{math.Inf(-1)}}, "loop": loop, "list": list, "long ago": time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		_, err := f.AddDocuments(t.Context(), []schema.Document{{PageContent: "x", Metadata: map[string]any{"good": 1, key: v}}})
		t.Log(err)
		wantError(t, err, `metadata "`+key+`"`)
	}
}

// users.md 5: bad bytes and NULs are repaired as package ingest does, never a panic and
// never the end of a batch.
func TestBadBytesAreRepaired(t *testing.T) {
	f := newFixture(t, nil)
	text := "caf\xe9 \x00 end"
	ids := add(t, f,
		schema.Document{PageContent: text, Metadata: map[string]any{
			"s": "a\xffb\x00c", "list": []string{"\xfe", "ok"}, "deep": map[string]any{"k\xff": "\x00", "m": map[string]string{"\x00": "\xff"}},
			"key\xff": 1, "key\xfe": 2, "key\x00": 3, "id": "doc\xff\x00",
		}},
		schema.Document{PageContent: "\uFEFFafter a mark", Metadata: map[string]any{"id": "mark"}},
	)
	wantDiff(t, "ids", []string{"doc%FF%00", "mark"}, ids)
	got := find(t, f, "caf end", 1)[0]
	if got.PageContent != "caf\uFFFD \uFFFD end" {
		t.Errorf("text %q", got.PageContent)
	}
	// The source is the text as it was given, in which the bad bytes are single ones.
	wantDiff(t, "source", []any{0, len(text)}, []any{got.Metadata[langchain.MetaSourceStart], got.Metadata[langchain.MetaSourceEnd]})
	wantDiff(t, "metadata", map[string]any{
		"s": "a\uFFFDb\uFFFDc", "list": []string{"\uFFFD", "ok"}, "deep": map[string]any{"k%FF": "\uFFFD", "m": map[string]string{"%00": "\uFFFD"}},
		"key%FF": 1, "key%FE": 2, "key%00": 3, "id": "doc\uFFFD\uFFFD",
	}, users(got.Metadata))
	if d := stored(t, f.store, "mark"); d.Text != "after a mark" {
		t.Errorf("a byte order mark is part of the text %q", d.Text)
	}
	found := find(t, f, "caf\xe9 \x00", 1, vectorstores.WithFilters(map[string]any{"s": "a\xffb\x00c", "key\xff": 1}))
	if len(found) != 1 {
		t.Error("a filter with the same bad bytes finds nothing")
	}
}

func TestEqualKeysAfterRepair(t *testing.T) {
	f := newFixture(t, nil)
	_, err := f.AddDocuments(t.Context(), []schema.Document{{PageContent: "x", Metadata: map[string]any{"a\xff": 1, "a%FF": 2}}})
	wantError(t, err, `another key is "a%FF" already`)
	_, err = f.AddDocuments(t.Context(), []schema.Document{{PageContent: "x", Metadata: map[string]any{"deep": map[string]int{"a\xff": 1, "a%FF": 2}}}})
	wantError(t, err, `metadata "deep": two of its keys are "a%FF"`)
}

func TestOwnKeysHideNoOthers(t *testing.T) {
	f := newFixture(t, nil)
	mine := map[string]any{"document": "mine", "score": 5, "chunk": "c", "title": "T", "text": "t", "content": "c"}
	add(t, f, schema.Document{PageContent: "words", Metadata: maps.Clone(mine)})
	got := find(t, f, "words", 1)[0]
	wantDiff(t, "metadata", mine, users(got.Metadata))

	// What was found can be added elsewhere: keys of the search are dropped.
	other := newFixture(t, nil)
	add(t, other, got)
	again := find(t, other, "words", 1)[0]
	wantDiff(t, "metadata", mine, users(again.Metadata))
	if again.Metadata[langchain.MetaDocument] == got.Metadata[langchain.MetaDocument] {
		t.Error("the document in the other store has the id of the first")
	}
}

// What is found can be added to another store, and is known by its file there too,
// unless its text is not what the metadata gives the place of.
func TestPlacesAreTakenOver(t *testing.T) {
	f := guideFixture(t)
	for name, tt := range map[string]struct {
		opts langchain.RetrieverOptions
		file string
	}{
		"a passage":    {langchain.RetrieverOptions{}, guide},
		"a document":   {langchain.RetrieverOptions{Request: retriever.Request{Level: retriever.DocumentLevel}}, guide},
		"with a label": {langchain.RetrieverOptions{Labels: true}, "Passage [1] Guide > Boat (guide.md, lines 9-11)\n" + guide[strings.Index(guide, "## Boat"):]},
	} {
		tt.opts.Request.K = 1
		d := relevant(t, f.retriever(t, &tt.opts), "key of the boat house")[0]
		text, err := json.Marshal(d.Metadata)
		if err != nil {
			t.Fatal(err)
		}
		viaJSON := schema.Document{PageContent: d.PageContent}
		if err := json.Unmarshal(text, &viaJSON.Metadata); err != nil { // which makes floats of all numbers
			t.Fatal(err)
		}
		for _, d := range []schema.Document{d, viaJSON} {
			other := newFixture(t, nil)
			add(t, other, d)
			got := find(t, other, "key of the boat house", 1)[0]
			start, end := got.Metadata[langchain.MetaSourceStart].(int), got.Metadata[langchain.MetaSourceEnd].(int)
			line := 1 + strings.Count(tt.file[:strings.Index(tt.file, "The key")], "\n")
			first, last := got.Metadata[langchain.MetaFirstLine].(int), got.Metadata[langchain.MetaLastLine].(int)
			if tt.file[start:end] != got.PageContent || !strings.Contains(got.PageContent, "kitchen door") || first > line || last < line || last-first > 3 {
				t.Errorf("%s: %q at bytes %d-%d, lines %d-%d of %q", name, got.PageContent, start, end, first, last, tt.file)
			}
		}
	}
}

func TestNativeValuesCanBeFilteredBy(t *testing.T) {
	f := newFixture(t, nil)
	add(t, f, schema.Document{PageContent: "some text", Metadata: values()}, schema.Document{PageContent: "other text"})
	for key, v := range values() {
		switch v.(type) {
		case string, bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, float32, float64, json.Number, time.Time:
			got := find(t, f, "text", 2, vectorstores.WithFilters(map[string]any{key: v}))
			if len(got) != 1 || got[0].PageContent != "some text" {
				t.Errorf("filter by %s %v of type %T: %q", key, v, v, texts(got))
			}
		}
	}
	for _, filter := range []map[string]any{
		{"strings": "b"}, {"any strings": "b"}, {"strings": map[string]any{"$contains": "a"}},
		{"time": map[string]any{"$gte": time.Date(2026, 9, 30, 10, 0, 0, 0, time.UTC), "$lt": time.Date(2026, 9, 30, 10, 0, 1, 0, time.UTC)}},
		{"time": map[string]any{"$prefix": "2026-09-30T10:00"}},
	} {
		if got := find(t, f, "text", 2, vectorstores.WithFilters(filter)); len(got) != 1 {
			t.Errorf("filter by %v: %q", filter, texts(got))
		}
	}
}

// Documents that were indexed without this package have metadata too.
func TestMetadataOfDocumentsStoredOtherwise(t *testing.T) {
	f := newFixture(t, nil)
	ids := add(t, f, schema.Document{PageContent: "text"})
	d := stored(t, f.store, ids[0])
	d.Metadata = map[string]any{"n": int64(1), "f": 2.0, "tags": []string{"a"}}
	if err := f.store.Upsert(t.Context(), []retriever.Document{d}); err != nil {
		t.Fatal(err)
	}
	wantDiff(t, "metadata", map[string]any{"n": int64(1), "f": 2.0, "tags": []string{"a"}}, users(find(t, f, "text", 1)[0].Metadata))

	d.Metadata["waymark.values"] = "{"
	if err := f.store.Upsert(t.Context(), []retriever.Document{d}); err != nil {
		t.Fatal(err)
	}
	_, err := f.SimilaritySearch(t.Context(), "text", 1)
	wantError(t, err, `document "`+ids[0]+`"`, `metadata "waymark.values"`)
}
