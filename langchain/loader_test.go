package langchain_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/textsplitter"
	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/ingest"
	"github.com/waymark-rag/waymark/langchain"
	"github.com/waymark-rag/waymark/retriever"
)

// files are what the loader tests load, with every reason to lose a place.
var files = map[string]string{
	"a.txt":        "Amber is resin.\nIt floats in salt water.\n",
	"bom.md":       "\ufeff# Cobalt\r\n\r\nCobalt is blue.\r\n\r\nIt is mined in the south.\r\n",
	"docs/note.md": "---\ntitle: A note\nlang: en\nyear: 2020\nid: theirs\n---\n\n# Dolomite\n\nDolomite is a rock.\n",
	"docs/page.html": "<html><head><title>Page</title><script>var x = 1;</script></head><body><h1>Emerald</h1>" +
		"<p>Emerald is <b>green</b>.</p><p>a &amp; b &lt; c</p></body></html>",
	"docs/bad.txt": "caf\xe9 and \x00 feldspar\n",
	"image.png":    "\x89PNG",
	"empty.txt":    "",
}

func loaderOf(t testing.TB, files map[string]string) (*langchain.Loader, string) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		writeFile(t, dir, name, content)
	}
	l, err := langchain.NewLoader([]string{dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l, dir
}

func byID(docs []schema.Document) map[string]schema.Document {
	out := map[string]schema.Document{}
	for _, d := range docs {
		out[d.Metadata[langchain.MetaID].(string)] = d
	}
	return out
}

func TestLoader(t *testing.T) {
	l, _ := loaderOf(t, files)
	docs, err := l.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := byID(docs)
	if len(docs) != 5 || len(got) != 5 {
		t.Fatalf("loaded %d documents, %d ids", len(docs), len(got))
	}
	note := files["docs/note.md"]
	wantDiff(t, "a note", schema.Document{
		PageContent: "\n# Dolomite\n\nDolomite is a rock.\n",
		Metadata: map[string]any{
			"id": "docs/note.md", "path": "docs/note.md", "title": "A note", "format": "markdown", "lang": "en", "year": int64(2020),
			langchain.MetaSourceStart: strings.Index(note, "\n# Dolo"), langchain.MetaSourceEnd: len(note), langchain.MetaFirstLine: 8, langchain.MetaLastLine: 10,
		},
	}, got["docs/note.md"])
	wantDiff(t, "a page", schema.Document{
		PageContent: "Emerald\n\nEmerald is green.\n\na & b < c",
		Metadata: map[string]any{
			"id": "docs/page.html", "path": "docs/page.html", "title": "Page", "format": "html",
			langchain.MetaSourceStart: 0, langchain.MetaSourceEnd: len(files["docs/page.html"]), langchain.MetaFirstLine: 1, langchain.MetaLastLine: 1,
		},
	}, got["docs/page.html"])
	if text := got["bom.md"].PageContent; !strings.HasPrefix(text, "# Cobalt\r\n\r\nCobalt") || got["bom.md"].Metadata[langchain.MetaSourceStart] != 3 {
		t.Errorf("the file with a byte order mark: %q, %v", text, got["bom.md"].Metadata)
	}
	if text := got["docs/bad.txt"].PageContent; text != "caf\uFFFD and \uFFFD feldspar\n" {
		t.Errorf("the file with bad bytes: %q", text)
	}

	skipped := map[string]ingest.Reason{}
	for _, s := range l.Skipped() {
		skipped[filepath.Base(s.Path)] = s.Reason
	}
	wantDiff(t, "skipped", map[string]ingest.Reason{"image.png": ingest.Unsupported, "empty.txt": ingest.Empty}, skipped)
}

func TestLoaderOfWhatCannotBeLoaded(t *testing.T) {
	l, _ := loaderOf(t, map[string]string{"image.png": "\x89PNG", "empty.txt": ""})
	docs, err := l.Load(t.Context())
	wantError(t, err, "none of 2 files", "image.png", "unsupported format", "empty.txt")
	var skip *ingest.Skip
	if docs != nil || !errors.As(err, &skip) {
		t.Errorf("documents %v, error of type %T", docs, err)
	}
	none, _ := loaderOf(t, nil)
	if docs, err := none.Load(t.Context()); err != nil || len(docs) != 0 {
		t.Errorf("an empty folder: %v, %v", docs, err)
	}
	missing, err := langchain.NewLoader([]string{filepath.Join(t.TempDir(), "nowhere")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = missing.Load(t.Context())
	wantError(t, err, "no file or folder", "nowhere")
	_, err = langchain.NewLoader(nil, nil)
	wantError(t, err, "needs a file or folder")
	_, err = langchain.NewLoader([]string{"x"}, &langchain.LoaderOptions{Read: ingest.ReadOptions{MaxBytes: -1}})
	wantError(t, err, "max bytes -1")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l, _ = loaderOf(t, files)
	if _, err := l.Load(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("loading with a cancelled context: %v", err)
	}
	_, err = l.LoadAndSplit(t.Context(), nil)
	wantError(t, err, "needs a text splitter")
}

func TestLoaderOptions(t *testing.T) {
	_, dir := loaderOf(t, files)
	l, err := langchain.NewLoader([]string{dir, filepath.Join(dir, "a.txt")}, &langchain.LoaderOptions{Walk: ingest.WalkOptions{Include: []string{"*.md"}}})
	if err != nil {
		t.Fatal(err)
	}
	docs, err := l.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := byID(docs)
	if _, ok := got["a.txt"]; len(got) != 3 || !ok {
		t.Errorf("loaded %d documents", len(got))
	}
}

// Every passage found says which bytes of its file it is, whatever the way there.
func TestPassagesAreKnownByTheirBytesInTheFile(t *testing.T) {
	for name, load := range map[string]func(*langchain.Loader, fixture) ([]schema.Document, error){
		"whole": func(l *langchain.Loader, _ fixture) ([]schema.Document, error) { return l.Load(t.Context()) },
		"our splitter": func(l *langchain.Loader, f fixture) ([]schema.Document, error) {
			s, err := langchain.NewTextSplitter(newChunker(t, f.model), chunker.Plain)
			if err != nil {
				t.Fatal(err)
			}
			return l.LoadAndSplit(t.Context(), s)
		},
		"another that loses nothing": func(l *langchain.Loader, _ fixture) ([]schema.Document, error) {
			return l.LoadAndSplit(t.Context(), lines{})
		},
	} {
		f := newFixture(t, nil)
		l, _ := loaderOf(t, files)
		docs, err := load(l, f)
		if err != nil {
			t.Fatal(err)
		}
		add(t, f, docs...)
		for query, want := range map[string]struct {
			file, words string
			line        int
			exact       bool
		}{
			"floats in salt water":   {"a.txt", "floats", 2, true},
			"mined in the south":     {"bom.md", "mined", 5, true},
			"Dolomite is a rock":     {"docs/note.md", "is a rock", 10, true},
			"Emerald is green":       {"docs/page.html", "green", 1, false},
			"caf\uFFFD and feldspar": {"docs/bad.txt", "feldspar", 1, false},
		} {
			m := find(t, f, query, 1)[0]
			start, end := m.Metadata[langchain.MetaSourceStart].(int), m.Metadata[langchain.MetaSourceEnd].(int)
			first, last := m.Metadata[langchain.MetaFirstLine].(int), m.Metadata[langchain.MetaLastLine].(int)
			source := files[want.file][start:end]
			if m.Metadata["path"] != want.file || !strings.Contains(source, want.words) || want.exact && source != m.PageContent {
				t.Errorf("%s: %q: found %q of %v at %q", name, query, m.PageContent, m.Metadata["path"], source)
			}
			if first > want.line || last < want.line || want.exact && last-first > 4 {
				t.Errorf("%s: %q: lines %d to %d, want %d among them", name, query, first, last, want.line)
			}
		}
	}
}

// lines is a splitter of someone else's that loses nothing.
type lines struct{}

func (lines) SplitText(text string) ([]string, error) { return strings.SplitAfter(text, "\n"), nil }

func TestLoadAndSplit(t *testing.T) {
	l, _ := loaderOf(t, map[string]string{"a.md": "# One\n\nFirst text of it.\n\n# Two\n\nSecond text of it.\n"})
	docs, err := l.LoadAndSplit(t.Context(), newSplitter(t, chunker.Plain, chunker.Options{MaxTokens: 8}))
	if err != nil {
		t.Fatal(err)
	}
	// As Markdown, since the file is: the splitter's own syntax is for bare texts.
	wantDiff(t, "pieces", []string{"# One\n\nFirst text of it.\n\n", "# Two\n\nSecond text of it.\n"}, texts(docs))
	for i, want := range []map[string]any{
		{"id": "a.md#1", "path": "a.md", "title": "One", "format": "markdown", langchain.MetaSourceStart: 0, langchain.MetaSourceEnd: 26, langchain.MetaFirstLine: 1, langchain.MetaLastLine: 3},
		{"id": "a.md#2", "path": "a.md", "title": "One", "format": "markdown", langchain.MetaSourceStart: 26, langchain.MetaSourceEnd: 52, langchain.MetaFirstLine: 5, langchain.MetaLastLine: 7},
	} {
		wantDiff(t, "metadata", want, docs[i].Metadata)
	}

	// A splitter that drops or repeats text leaves no place to name.
	docs, err = l.LoadAndSplit(t.Context(), textsplitter.NewRecursiveCharacter(textsplitter.WithChunkSize(20), textsplitter.WithChunkOverlap(5)))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		if _, ok := d.Metadata[langchain.MetaSourceStart]; ok {
			t.Errorf("piece %q has a place", d.PageContent)
		}
	}
}

func TestPiecesShareNoMetadata(t *testing.T) {
	l, _ := loaderOf(t, map[string]string{"a.md": "---\ntags: [a, b]\n---\none\ntwo\n"})
	docs, err := l.LoadAndSplit(t.Context(), lines{})
	if err != nil {
		t.Fatal(err)
	}
	docs[0].Metadata["tags"].([]string)[0] = "changed"
	wantDiff(t, "tags", []string{"a", "b"}, docs[1].Metadata["tags"])
}

func TestLoadAndSplitLeavesOutBlankPieces(t *testing.T) {
	l, _ := loaderOf(t, map[string]string{"a.txt": "one\n\n \ntwo\n"})
	docs, err := l.LoadAndSplit(t.Context(), lines{})
	if err != nil {
		t.Fatal(err)
	}
	wantDiff(t, "pieces", []string{"one\n", "two\n"}, texts(docs))
	if id := docs[1].Metadata[langchain.MetaID]; id != "a.txt#2" || docs[1].Metadata[langchain.MetaSourceStart] != 7 {
		t.Errorf("the second: %v", docs[1].Metadata)
	}
}

// langchaingo's own function gives every piece the id of its document.
func TestPiecesWithOneIDAreRefused(t *testing.T) {
	f := newFixture(t, nil)
	l, _ := loaderOf(t, map[string]string{"a.txt": "One two three four five. Six seven eight nine ten."})
	docs, err := l.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pieces, err := textsplitter.SplitDocuments(newSplitter(t, chunker.Plain, chunker.Options{MaxTokens: 8}), docs)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.AddDocuments(t.Context(), pieces)
	wantError(t, err, `id "a.txt"`, "give each its own, or none")
}

func TestLoadedAgainReplaces(t *testing.T) {
	f := newFixture(t, nil)
	l, dir := loaderOf(t, map[string]string{"a.txt": "Amber is resin.", "b.txt": "Basalt is rock."})
	load := func() {
		t.Helper()
		docs, err := l.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		add(t, f, docs...)
	}
	load()
	load()
	writeFile(t, dir, "a.txt", "Amber is gone.")
	load()
	if n := count(t, f.store); n != 2 {
		t.Errorf("%d documents, want 2", n)
	}
	docs, err := f.store.Fetch(t.Context(), []string{"a.txt"}, retriever.Want{Text: true})
	if err != nil || docs[0].Text != "Amber is gone." {
		t.Errorf("%v, %v", docs, err)
	}
}

func TestPagesAreNamed(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile("../ingest/testdata/minutes.pdf")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "minutes.pdf"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	loader, err := langchain.NewLoader([]string{dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := loader.Load(t.Context())
	if err != nil || len(docs) != 1 || docs[0].Metadata[langchain.MetaPlace] != "pages 1-7" {
		t.Errorf("loaded %+v, %v", docs, err)
	}
	if skipped := loader.Skipped(); len(skipped) != 1 || !strings.HasSuffix(skipped[0].Path, "minutes.pdf, pages 3-4") {
		t.Errorf("skipped %v", skipped)
	}
}
