package ingest_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/ingest"
)

// all gives what comes of content: documents, and the words of what was passed over.
func all(t *testing.T, name, data string, opts *ingest.ReadOptions) (docs []chunker.Document, skips []string) {
	t.Helper()
	for l, err := range ingest.Parse(t.Context(), name, []byte(data), opts) {
		var skip *ingest.Skip
		switch {
		case errors.As(err, &skip):
			skips = append(skips, skip.Error())
		case err != nil:
			t.Fatal(err)
		default:
			checkLoaded(t, []byte(data), l)
			docs = append(docs, l.Document)
		}
	}
	return docs, skips
}

func TestJSONFields(t *testing.T) {
	line := `{"key": "k1", "name": "N", "meta": {"author": "Ada", "year": 1843}, "parts": ["one", "", "two"], "lead": "first", "x": "y"}` + "\n"
	for _, tc := range []struct {
		opts ingest.JSONOptions
		want chunker.Document
	}{
		{
			ingest.JSONOptions{ID: []string{"nothing", "key"}, Title: []string{"name"}, Text: []string{"lead", "parts"}, Metadata: []string{"meta.author", "meta.year", "none"}},
			chunker.Document{ID: "f.jsonl/k1", Title: "N", Text: "one\n\ntwo\n\nfirst", Metadata: map[string]any{"meta.author": "Ada", "meta.year": int64(1843)}},
		},
		{
			ingest.JSONOptions{Text: []string{"meta.author"}},
			chunker.Document{ID: "f.jsonl/line-1", Title: "line-1", Text: "Ada",
				Metadata: map[string]any{"key": "k1", "name": "N", "lead": "first", "x": "y", "parts": []string{"one", "", "two"}}},
		},
	} {
		docs, skips := all(t, "f.jsonl", line, &ingest.ReadOptions{JSON: tc.opts})
		if len(docs) != 1 || len(skips) > 0 {
			t.Errorf("%d documents, skips %q", len(docs), skips)
			continue
		}
		for _, key := range []string{"path", "format", "container"} {
			delete(docs[0].Metadata, key)
		}
		got := chunker.Document{ID: docs[0].ID, Title: docs[0].Title, Text: docs[0].Text, Metadata: docs[0].Metadata}
		if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(chunker.SourceMap{})); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	for _, opts := range []ingest.JSONOptions{{ID: []string{""}}, {Text: []string{"a", "a"}}} {
		if err := (ingest.ReadOptions{JSON: opts}).Validate(); err == nil || !strings.Contains(err.Error(), "want names, each once") {
			t.Errorf("%+v is valid: %v", opts, err)
		}
	}
}

// A file that ends in .json and has a record on each line is one of records.
func TestJSONLinesByContent(t *testing.T) {
	docs, skips := all(t, "reviews.json", "{\"id\": 1, \"text\": \"good\"}\n{\"id\": 2, \"text\": \"bad\"}\n", nil)
	if len(docs) != 2 || docs[1].ID != "reviews.json/2" || len(skips) > 0 {
		t.Errorf("%+v, %q", docs, skips)
	}
	docs, skips = all(t, "odd.json", "{not: 'json', // but text\n}\n", nil)
	if len(docs) != 1 || docs[0].Syntax != chunker.Code || len(skips) > 0 {
		t.Errorf("%+v, %q", docs, skips)
	}
}

// Lines that are no records are reported with their numbers, and the others read.
func TestJSONBadLines(t *testing.T) {
	docs, skips := all(t, "f.jsonl", "{\"text\": \"a\"}\r\n\r\n{\"text\": \r\n{\"text\": \"b\"}\r\n{\"text\": \"c\"} trailing\r\n{\"text\": \"d\"}", nil)
	want := []string{
		`skipped "f.jsonl/line-3": damaged: line 3: unexpected end of JSON input`,
		`skipped "f.jsonl/line-5": damaged: line 5: invalid character 't' after top-level value`,
	}
	if diff := cmp.Diff(want, skips); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var got []string
	for _, doc := range docs {
		first, last := doc.Lines(chunker.Range{End: len(doc.Text)})
		got = append(got, doc.ID+" "+doc.Text+" "+doc.Places[0].Place.String())
		if first != last || !strings.HasSuffix(doc.Places[0].Place.String(), string(rune('0'+first))) {
			t.Errorf("%s is on lines %d-%d", doc.ID, first, last)
		}
	}
	if diff := cmp.Diff([]string{"f.jsonl/line-1 a line 1", "f.jsonl/line-4 b line 4", "f.jsonl/line-6 d line 6"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Text leads to the bytes of the file that say it, escapes too.
func TestJSONSpans(t *testing.T) {
	file := "\xef\xbb\xbf{\"text\": \"skipped\"}\n{\"_id\": \"x\", \"text\": \"tab\\tcaf\\u00e9 \\ud83d\\ude00 end\"}\n"
	docs, _ := all(t, "f.jsonl", file, nil)
	doc := docs[1]
	for phrase, want := range map[string]string{"\tcaf": `\tcaf`, "é": `\u00e9`, "\U0001F600": `\ud83d\ude00`, " en": " en", "end": "end\"}"} {
		at := strings.Index(doc.Text, phrase)
		if got := doc.Source.Tile(chunker.Range{Start: at, End: at + len(phrase)}).Of(file); got != want {
			t.Errorf("%q stands at %q, want %q", phrase, got, want)
		}
	}
}

// What is done with the documents of a file is not counted as reading it.
func TestMaxTimeWithoutConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		for _, err := range ingest.Parse(t.Context(), "f.jsonl", []byte(strings.Repeat("{\"text\": \"a\"}\n", 5)), &ingest.ReadOptions{MaxTime: time.Second}) {
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute) // encoding it, say
			n++
		}
		if n != 5 {
			t.Errorf("%d documents, want 5", n)
		}
	})
}

// FuzzJSON compares the text of records with what encoding/json makes of them.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"text": "a\u00e9\ud83d\ude00\ud83d\n", "text": "twice", "x": [1, {"y": "]"}]}`, `{"te\u0078t": "\"\\\/\b\f\r\t"}`, "\t{ \"text\" :\r\n\"\\u0000\"}",
		`{"a": "\\", "text": "b"}`, `{"text": ["x", " ", "y"], "body": "z"}`, `[{"text": "x"}]`, `{"text": 1e999, "_id": -0.0}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		docs, _ := all(t, "f.json", data, nil)
		var fields map[string]any
		if !utf8.ValidString(data) || strings.ContainsAny(data, "\x00\x1b\ufeff") || json.Unmarshal([]byte(data), &fields) != nil {
			return
		}
		text, ok := fields["text"].(string)
		if !ok || strings.TrimSpace(text) == "" {
			return
		}
		want := strings.ReplaceAll(text, "\x00", "\uFFFD")
		if strings.TrimSpace(want) != "" && (len(docs) != 1 || docs[0].Text != want) {
			t.Errorf("%q gives %+v, want the text %q", data, docs, want)
		}
	})
}
