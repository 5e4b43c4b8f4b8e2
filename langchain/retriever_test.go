package langchain_test

import (
	"strings"
	"testing"

	"github.com/tmc/langchaingo/schema"

	"github.com/waymark-rag/waymark/langchain"
	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

// guide is a Markdown document of several chunks.
const guide = "# Guide\n\nThis is about the lamp and the boat of the station.\n\n" +
	"## Lamp\n\nThe lamp burns colza oil. It is trimmed at dusk and at midnight by the second keeper.\n\n" +
	"## Boat\n\nThe key of the boat house hangs behind the kitchen door. The boat was built in 1911 of larch.\n"

func guideFixture(t testing.TB) fixture {
	t.Helper()
	f := newFixture(t, nil)
	add(t, f,
		schema.Document{PageContent: guide, Metadata: map[string]any{"id": "guide.md", "title": "Guide", "format": "markdown", "tags": []string{"a"}}},
		schema.Document{PageContent: "Bread is baked on Tuesdays in the village.", Metadata: map[string]any{"id": "bread.txt"}},
	)
	return f
}

func relevant(t testing.TB, r *langchain.Retriever, query string) []schema.Document {
	t.Helper()
	docs, err := r.GetRelevantDocuments(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

func TestRetrieverLevels(t *testing.T) {
	f := guideFixture(t)
	for _, tt := range []struct {
		level    retriever.Level
		passages bool
		whole    bool
	}{
		{"", false, false}, {retriever.Both, false, false}, {retriever.ChunkLevel, false, false},
		{retriever.DocumentLevel, false, true}, {retriever.DocumentLevel, true, false},
	} {
		r := f.retriever(t, &langchain.RetrieverOptions{Request: retriever.Request{Level: tt.level, K: 2}, Passages: tt.passages})
		got := relevant(t, r, "key of the boat house")
		d := got[0]
		start, end := d.Metadata[langchain.MetaStart].(int), d.Metadata[langchain.MetaEnd].(int)
		if !strings.Contains(guide[start:end], "behind the kitchen door") || len(got) != 2 {
			t.Errorf("level %q: the best of %d passages is %q", tt.level, len(got), guide[start:end])
		}
		want := guide[start:end]
		if tt.whole {
			want = guide
		}
		if d.PageContent != want {
			t.Errorf("level %q: text %q", tt.level, d.PageContent)
		}
		if d.Score != float32(d.Metadata[langchain.MetaScore].(float64)) || d.Score <= 0 || d.Score < got[1].Score {
			t.Errorf("level %q: scores %v and %v", tt.level, d.Score, got[1].Score)
		}
	}
}

func TestRetrieverMetadata(t *testing.T) {
	r := guideFixture(t).retriever(t, &langchain.RetrieverOptions{Request: retriever.Request{K: 1}})
	got := relevant(t, r, "key of the boat house")[0].Metadata
	start := strings.Index(guide, "## Boat")
	want := map[string]any{
		"id": "guide.md", "title": "Guide", "format": "markdown", "tags": []string{"a"},
		langchain.MetaDocument: "guide.md", langchain.MetaDocumentTitle: "Guide", langchain.MetaHeadings: []string{"Guide", "Boat"},
		langchain.MetaStart: start, langchain.MetaSourceStart: start, langchain.MetaFirstLine: 9, langchain.MetaLastLine: 11,
	}
	for key, v := range want {
		wantDiff(t, key, v, got[key])
	}
	for _, key := range []string{langchain.MetaScoreDense, langchain.MetaScoreLandmark, langchain.MetaScoreDocument, langchain.MetaScoreLexical} {
		if s, ok := got[key].(float64); !ok || s <= 0 || s > 50 {
			t.Errorf("%s is %v", key, got[key])
		}
	}
	if rule := got[langchain.MetaRule].(string); !strings.HasPrefix(rule, "fused (1.000 + ") {
		t.Errorf("rule %q", rule)
	}
}

func TestRetrieverLabels(t *testing.T) {
	f := guideFixture(t)
	r := f.retriever(t, &langchain.RetrieverOptions{Request: retriever.Request{K: 2}, Labels: true})
	got := relevant(t, r, "key of the boat house")
	if !strings.HasPrefix(got[0].PageContent, "Passage [1] Guide > Boat (guide.md, lines 9-11)\n## Boat") {
		t.Errorf("first: %q", got[0].PageContent)
	}
	if !strings.HasPrefix(got[1].PageContent, "Passage [2] ") {
		t.Errorf("second: %q", got[1].PageContent)
	}
}

func TestRetrieverWithoutWords(t *testing.T) {
	f := guideFixture(t)
	r := f.retriever(t, &langchain.RetrieverOptions{Request: retriever.Request{Lexical: -1}})
	for _, d := range relevant(t, r, "boat house") {
		if d.Metadata[langchain.MetaScoreLexical] != 0.0 || strings.Contains(d.Metadata[langchain.MetaRule].(string), "lexical") {
			t.Errorf("rule %v", d.Metadata[langchain.MetaRule])
		}
	}
}

func TestRetrieverRefuses(t *testing.T) {
	f := guideFixture(t)
	_, err := langchain.NewRetriever(nil, f.store, nil)
	wantError(t, err, "needs an embedder and a store")
	r, err := langchain.NewRetriever(f.model, f.store, &langchain.RetrieverOptions{Request: retriever.Request{K: -1}})
	wantError(t, err, "-1 hits")
	if r != nil {
		t.Error("a retriever beside an error")
	}
	_, err = f.retriever(t, nil).GetRelevantDocuments(t.Context(), "  ")
	wantError(t, err, "query is empty")
	other, err := langchain.NewRetriever(axes{words: []string{"a"}}, f.store, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = other.GetRelevantDocuments(t.Context(), "a")
	wantError(t, err, "vector of length 2", "256")
}

// Folders that package pipeline indexed are found with their places in the files.
func TestRetrieverOverAPipelinesStore(t *testing.T) {
	f := newFixture(t, nil)
	p, err := pipeline.New(pipeline.Parts{Chunker: newChunker(t, f.model), Embedder: f.model, Store: f.store, Model: &llm.Extractive{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	page := "<html><head><title>Station</title></head><body><h1>Boat</h1>\n<p>The key hangs behind the door.</p>\n<p>The lamp burns oil &amp; wick.</p></body></html>"
	writeFile(t, dir, "page.html", page)
	if _, err := p.Index(t.Context(), []string{dir}, pipeline.IndexOptions{}); err != nil {
		t.Fatal(err)
	}
	got := relevant(t, f.retriever(t, nil), "where is the key")[0]
	start, end := got.Metadata[langchain.MetaSourceStart].(int), got.Metadata[langchain.MetaSourceEnd].(int)
	if !strings.Contains(page[start:end], "behind the door") || got.Metadata["path"] != "page.html" || got.Metadata["format"] != "html" {
		t.Errorf("found %q at %q, metadata %v", got.PageContent, page[start:end], got.Metadata)
	}
}

func TestRetrieverCallbacks(t *testing.T) {
	log := &recording{}
	r := guideFixture(t).retriever(t, &langchain.RetrieverOptions{Callbacks: log})
	docs := relevant(t, r, "boat")
	wantDiff(t, "calls", []string{"retriever start: boat", "retriever end: boat: " + docs[0].PageContent}, log.calls)
}
