package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/ingest"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/landmarktest"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
)

// bench is a pipeline on the fake model and a store in a folder of its own, and
// a folder of documents.
type bench struct {
	*testing.T
	*Pipeline
	dir     string
	encoded atomic.Int64 // texts that went to the model
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, dir: t.TempDir()}
	store, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), &local.Options{
		Create:      true,
		Fingerprint: retriever.Fingerprint{Model: "fake", Dim: landmarktest.Config().Dim},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	model := landmarktest.New()
	split, err := chunker.New(model, chunker.Options{MaxTokens: 16})
	if err != nil {
		t.Fatal(err)
	}
	b.Pipeline, err = New(Parts{Chunker: split, Embedder: &counting{model, &b.encoded}, Store: store}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// counting is an embedder that counts texts and cannot encode some.
type counting struct {
	*landmark.Model
	n *atomic.Int64
}

func (c *counting) Encode(ctx context.Context, in []landmark.Input) ([]landmark.Embedding, error) {
	for _, i := range in {
		if strings.Contains(i.Text, "poison") {
			return nil, errors.New("cannot read poison")
		}
	}
	c.n.Add(int64(len(in)))
	return c.Model.Encode(ctx, in)
}

func (b *bench) write(name, text string) {
	b.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		b.Fatal(err)
	}
}

// index runs Index and checks the counts of its report.
func (b *bench) index(opts IndexOptions, want string) Report {
	b.Helper()
	report, err := b.Index(b.Context(), []string{b.dir}, opts)
	if err != nil {
		b.Fatal(err)
	}
	got := fmt.Sprintf("%d added, %d changed, %d unchanged, %d removed, %d skipped",
		report.Added, report.Changed, report.Unchanged, report.Removed, len(report.Skipped))
	if got != want {
		b.Fatalf("report: %s; want %s (%v)", got, want, report.Skipped)
	}
	return report
}

// found returns the documents that a search for a word finds by that word.
func (b *bench) found(word string) []string {
	b.Helper()
	hits, err := b.Search(b.Context(), word, SearchOptions{})
	if err != nil {
		b.Fatal(err)
	}
	var out []string
	for _, h := range hits {
		if strings.Contains(h.Text, word) {
			out = append(out, h.Document)
		}
	}
	return out
}

func TestIndexKeepsUpWithTheFolder(t *testing.T) {
	b := newBench(t)
	b.write("a.md", "# Lighthouse\n\nThe lamp burns colza.")
	b.write("sub/b.txt", "The harbour bridge carries eight lanes.")
	b.write("c.txt", "Nothing much.")
	b.write("empty.txt", "")

	report := b.index(IndexOptions{DryRun: true}, "3 added, 0 changed, 0 unchanged, 0 removed, 1 skipped")
	if report.Chunks == 0 || report.Tokens == 0 || b.encoded.Load() != 0 || len(b.found("colza")) != 0 {
		t.Errorf("dry run: %d chunks, %d tokens, %d encoded", report.Chunks, report.Tokens, b.encoded.Load())
	}
	report = b.index(IndexOptions{}, "3 added, 0 changed, 0 unchanged, 0 removed, 1 skipped")
	if s := report.Skipped[0]; filepath.Base(s.Path) != "empty.txt" || s.Reason != string(ingest.Empty) {
		t.Errorf("skipped %+v", s)
	}
	if got := b.found("colza"); !slices.Equal(got, []string{"a.md"}) {
		t.Errorf("colza found in %q", got)
	}

	before := b.encoded.Load()
	b.index(IndexOptions{}, "0 added, 0 changed, 3 unchanged, 0 removed, 1 skipped")
	if n := b.encoded.Load() - before; n != 0 {
		t.Errorf("an unchanged folder had %d documents encoded", n)
	}

	b.write("a.md", "# Lighthouse\n\nThe lamp burns paraffin.")
	b.write("c.txt", " \n ") // no usable text any more
	if err := os.Remove(filepath.Join(b.dir, "sub/b.txt")); err != nil {
		t.Fatal(err)
	}
	b.index(IndexOptions{KeepMissing: true}, "0 added, 1 changed, 0 unchanged, 0 removed, 2 skipped")
	b.index(IndexOptions{}, "0 added, 0 changed, 1 unchanged, 2 removed, 2 skipped")
	for word, want := range map[string][]string{"colza": nil, "paraffin": {"a.md"}, "bridge": nil, "much": nil} {
		if got := b.found(word); !slices.Equal(got, want) {
			t.Errorf("%s found in %q, want %q", word, got, want)
		}
	}
	if stats, err := b.Store.Stats(t.Context()); err != nil || stats.Documents != 1 {
		t.Errorf("%d documents, error %v", stats.Documents, err)
	}
}

func TestIndexedSpansAreTheFilesBytes(t *testing.T) {
	b := newBench(t)
	files := map[string]string{
		"crlf.md":  "\ufeff# Title\r\n\r\n" + strings.Repeat("A line of words here.\r\n", 30),
		"bad.txt":  "before\x00after \xff\xfe " + strings.Repeat("word ", 100),
		"page.htm": "<title>T</title><h1>One &amp; two</h1>" + strings.Repeat("<p>Some &lt;text&gt; here.</p>", 40),
		"main.go":  "package main\n\n" + strings.Repeat("func f() {\n\treturn\n}\n\n", 20),
	}
	for name, text := range files {
		b.write(name, text)
	}
	b.index(IndexOptions{}, "4 added, 0 changed, 0 unchanged, 0 removed, 0 skipped")
	for doc, err := range b.Store.Scroll(t.Context(), retriever.Filter{}, retriever.Want{Chunks: true}) {
		if err != nil {
			t.Fatal(err)
		}
		file, joined := files[doc.ID], ""
		for _, c := range doc.Chunks {
			joined += c.Source.Of(file)
			if want := 1 + strings.Count(file[:c.Source.Start], "\n"); c.Lines.First < want {
				t.Errorf("%s: bytes %s are said to start at line %d, before line %d", doc.ID, c.Source, c.Lines.First, want)
			}
		}
		if joined != file {
			t.Errorf("%s: the spans of its %d chunks do not give back the file", doc.ID, len(doc.Chunks))
		}
	}
}

func TestIndexReportsWhatItCannotEncode(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "good words")
	b.write("b.txt", "poison")
	b.write("c.txt", "more good words")
	report := b.index(IndexOptions{}, "2 added, 0 changed, 0 unchanged, 0 removed, 1 skipped")
	if s := report.Skipped[0]; filepath.Base(s.Path) != "b.txt" || !strings.Contains(s.Reason, "cannot read poison") {
		t.Errorf("skipped %+v", s)
	}
}

func TestIndexGoesOnAfterAnInterruption(t *testing.T) {
	b := newBench(t)
	for i := range 40 {
		b.write(fmt.Sprintf("%02d.txt", i), fmt.Sprintf("document number %d", i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	b.write("zz.txt", strings.Repeat("long ", 20000))
	_, err := b.Index(ctx, []string{b.dir}, IndexOptions{Progress: func(p Progress) {
		if p.DoneFiles == 1 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want context.Canceled", err)
	}
	report, err := b.Index(t.Context(), []string{b.dir}, IndexOptions{})
	if err != nil || report.Added+report.Unchanged != 41 {
		t.Fatalf("after an interruption: %+v, error %v", report, err)
	}
}

func TestRootsDoNotTouchEachOther(t *testing.T) {
	b := newBench(t)
	other := t.TempDir()
	b.write("a.txt", "here")
	for name, text := range map[string]string{"a.txt": "there", "b.txt": "elsewhere"} {
		if err := os.WriteFile(filepath.Join(other, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	b.index(IndexOptions{}, "1 added, 0 changed, 0 unchanged, 0 removed, 0 skipped")
	report, err := b.Index(t.Context(), []string{other}, IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if report.Added != 1 || report.Removed != 0 || len(report.Skipped) != 1 || !strings.Contains(report.Skipped[0].Reason, b.dir) {
		t.Errorf("a second folder: %+v; want a.txt skipped as taken and b.txt added", report)
	}
	if got := b.found("here"); !slices.Contains(got, "a.txt") {
		t.Errorf("the first folder's a.txt is gone: found %q", got)
	}
}

func TestNothingIsRemovedWhereTheWalkCouldNotLook(t *testing.T) {
	r := &indexRun{roots: map[string]string{"docs": "/docs", "notes": "/notes"}, dark: []ingest.File{{ID: "private", Root: "docs"}}}
	for _, test := range []struct {
		id, root string
		want     bool
	}{
		{"private/a.txt", "/docs", true}, {"private", "/docs", true},
		{"privately.txt", "/docs", false}, {"private/a.txt", "/notes", false}, {"a.txt", "/docs", false},
	} {
		if got := r.inTheDark(test.id, test.root); got != test.want {
			t.Errorf("%s of %s: %v, want %v", test.id, test.root, got, test.want)
		}
	}
}

func TestAdd(t *testing.T) {
	b := newBench(t)
	docs := []chunker.Document{{ID: "a", Text: "colza oil"}, {ID: "b", Text: "poison"}, {ID: "c", Text: strings.Repeat("many words ", 100)}}
	report, err := b.Add(t.Context(), docs...)
	if err != nil || report.Added != 2 || len(report.Skipped) != 1 || report.Skipped[0].Path != "b" {
		t.Fatalf("%+v, error %v", report, err)
	}
	docs[0].Text = "paraffin oil"
	report, err = b.Add(t.Context(), docs[0], docs[2])
	if err != nil || report.Changed != 1 || report.Unchanged != 1 {
		t.Fatalf("%+v, error %v", report, err)
	}
	if got := b.found("colza"); len(got) != 0 {
		t.Errorf("the old version is found in %q", got)
	}
	docs[0].Title = "Oils"
	if report, err = b.Add(t.Context(), docs[0]); err != nil || report.Changed != 1 {
		t.Errorf("with another title: %+v, error %v", report, err)
	}
	docs[0].Metadata = map[string]any{"year": int64(1870), "tags": []string{"lamp"}}
	if report, err = b.Add(t.Context(), docs[0]); err != nil || report.Changed != 1 {
		t.Errorf("with other metadata: %+v, error %v", report, err)
	}
	docs[0].Metadata = map[string]any{"tags": []string{"lamp"}, "year": int64(1870)}
	if report, err = b.Add(t.Context(), docs[0]); err != nil || report.Unchanged != 1 {
		t.Errorf("the same again: %+v, error %v", report, err)
	}
}

func TestIndexLogsWhatItDoes(t *testing.T) {
	b := newBench(t)
	var log strings.Builder
	b.Pipeline.Log = slog.New(slog.NewTextHandler(&log, nil))
	b.write("a.txt", "good words")
	b.write("b.txt", "")
	b.index(IndexOptions{}, "1 added, 0 changed, 0 unchanged, 0 removed, 1 skipped")
	if err := os.Remove(filepath.Join(b.dir, "a.txt")); err != nil {
		t.Fatal(err)
	}
	b.index(IndexOptions{}, "0 added, 0 changed, 0 unchanged, 1 removed, 1 skipped")
	for _, want := range []string{"msg=stored documents=1 first=a.txt", "msg=skipped path=", "reason=empty", "msg=removed documents=1 first=a.txt"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log.String())
		}
	}
}

func TestEmptyQuestion(t *testing.T) {
	b := newBench(t)
	if _, err := b.Search(t.Context(), " \n", SearchOptions{}); err == nil {
		t.Error("no error")
	}
}
