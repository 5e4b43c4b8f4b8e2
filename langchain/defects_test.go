package langchain_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/embeddings"
	"github.com/tmc/langchaingo/memory"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark/landmarktest"
	"github.com/waymark-rag/waymark/langchain"
	"github.com/waymark-rag/waymark/retriever"
)

// Each test is named after a fault of langchaingo 0.1.14's Qdrant store, splitters,
// loaders or chains that a piece of this package could have as well.

func foreignStore(t *testing.T, e embeddings.Embedder) *langchain.VectorStore {
	t.Helper()
	s, err := langchain.NewVectorStore(langchain.Parts{Embedder: e, Open: langchain.SingleTenant(openLocal(t))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDefectStoredTextLosesItsNewlines(t *testing.T) {
	theirs, err := embeddings.NewEmbedder(embeddings.EmbedderClientFunc(func(_ context.Context, texts []string) ([][]float32, error) {
		for _, text := range texts {
			if strings.Contains(text, "\n") {
				t.Errorf("their embedder did not strip %q, so this tests nothing", text)
			}
		}
		return axes{words: []string{"line"}}.EmbedDocuments(t.Context(), slices.Clone(texts))
	}))
	if err != nil {
		t.Fatal(err)
	}
	docs := []schema.Document{{PageContent: "line one\nline two"}}
	s := foreignStore(t, theirs)
	add(t, s, docs...)
	if got := find(t, s, "line", 1)[0].PageContent; got != "line one\nline two" || docs[0].PageContent != got {
		t.Errorf("stored %q", got)
	}
}

func TestDefectMetadataKeyContentIsOverwritten(t *testing.T) {
	f := newFixture(t, nil)
	add(t, f, schema.Document{PageContent: "the text", Metadata: map[string]any{"content": "mine", "page_content": "mine too"}})
	got := find(t, f, "text", 1)[0]
	wantDiff(t, "metadata", map[string]any{"content": "mine", "page_content": "mine too"}, users(got.Metadata))
	if got.PageContent != "the text" {
		t.Errorf("text %q", got.PageContent)
	}
}

func TestDefectIDsAreRandomAndNeverReadBack(t *testing.T) {
	f := newFixture(t, nil)
	doc := schema.Document{PageContent: "the text"}
	ids := append(add(t, f, doc), add(t, f, doc)...)
	got := find(t, f, "text", 5)
	if len(got) != 1 || ids[0] != ids[1] || got[0].Metadata[langchain.MetaDocument] != ids[0] {
		t.Errorf("ids %q, found %d times", ids, len(got))
	}
}

func TestDefectOptionsOfAddDocumentsAreDropped(t *testing.T) {
	f := newFixture(t, nil)
	asked := 0
	ids, err := f.AddDocuments(t.Context(), []schema.Document{{PageContent: "the text"}}, vectorstores.WithDeduplicater(func(context.Context, schema.Document) bool {
		asked++
		return true
	}))
	if err != nil || len(ids) != 0 || asked != 1 || count(t, f.store) != 0 {
		t.Errorf("deduplicater asked %d times, ids %q, %v", asked, ids, err)
	}
	for _, option := range []vectorstores.Option{vectorstores.WithNameSpace("n"), vectorstores.WithEmbedder(landmarktest.New())} {
		if _, err := f.AddDocuments(t.Context(), []schema.Document{{PageContent: "the text"}}, option); err == nil {
			t.Error("an option that cannot be honoured was dropped")
		}
	}
}

// opposite embeds every document as the opposite of every query.
type opposite struct{}

func (opposite) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	return slices.Repeat([][]float32{{-0.02, 1}}, len(texts)), nil
}

func (opposite) EmbedQuery(context.Context, string) ([]float32, error) { return []float32{1, 0}, nil }

func TestDefectThresholdIsSentWhenUnset(t *testing.T) {
	s := foreignStore(t, opposite{})
	add(t, s, schema.Document{PageContent: "the text"})
	if got := find(t, s, "any", 1); len(got) != 1 || got[0].Score >= 0 {
		t.Errorf("a hit with a negative cosine is lost: %v", got)
	}
	if got := find(t, s, "any", 1, vectorstores.WithScoreThreshold(-0.01)); len(got) != 0 {
		t.Errorf("threshold -0.01 keeps %v", got)
	}
}

func TestDefectEmptyQueryIsSent(t *testing.T) {
	f := newFixture(t, nil)
	_, err := f.SimilaritySearch(t.Context(), "", 1)
	wantError(t, err, "query is empty")
}

func TestDefectUpsertsAreNotBatched(t *testing.T) {
	var calls [][]string
	s := foreignStore(t, axes{words: []string{"line"}, calls: &calls})
	docs := make([]schema.Document, 40)
	for i := range docs {
		docs[i] = schema.Document{PageContent: fmt.Sprint(i, strings.Repeat(" line", 10_000))}
	}
	add(t, s, docs...)
	if len(calls) < 5 {
		t.Errorf("2 MB of text went out in %d calls", len(calls))
	}
}

func TestDefectSplitterTrimsWhiteSpace(t *testing.T) {
	const text = "  def f():\n      return 1  \n\n\n  def g():\n      return 2\t\n"
	pieces, err := newSplitter(t, chunker.Code, chunker.Options{MaxTokens: 8}).SplitText(text)
	if err != nil || len(pieces) < 2 || strings.Join(pieces, "") != text {
		t.Errorf("%q, %v", pieces, err)
	}
}

func TestDefectSplitterNeverEnds(t *testing.T) {
	// There is no overlap to be set too large, and a line that nothing divides is cut.
	text := strings.Repeat("QUJD", 1250)
	pieces, err := newSplitter(t, chunker.Plain, chunker.Options{MaxTokens: 64, MaxBytes: 256}).SplitText(text)
	if err != nil || strings.Join(pieces, "") != text {
		t.Fatal(err)
	}
	for _, p := range pieces {
		if len(p) > 256 {
			t.Errorf("a piece of %d bytes", len(p))
		}
	}
}

func TestDefectMarkdownSplitterDropsText(t *testing.T) {
	const text = "# Title\n\n- item\n\n  ```sh\n  in a list\n  ```\n\n- | a | b |\n  |---|---|\n  | 1 | 2 |\n\n5. five\n6. six\n\n```go\ncode()\n```\n\n```py\nnever closed\n\n## Next\n"
	pieces, err := newSplitter(t, chunker.Markdown, chunker.Options{MaxTokens: 16}).SplitText(text)
	if err != nil || strings.Join(pieces, "") != text {
		t.Errorf("%q, %v", pieces, err)
	}
}

func TestDefectTextWithoutSpacesIsNeverCut(t *testing.T) {
	text := strings.Repeat("今天下雨", 20)
	pieces, err := newSplitter(t, chunker.Markdown, chunker.Options{MaxTokens: 20}).SplitText(text)
	if err != nil || len(pieces) < 4 || strings.Join(pieces, "") != text {
		t.Errorf("%q, %v", pieces, err)
	}
}

func loaded(t *testing.T, files map[string]string) map[string]schema.Document {
	t.Helper()
	l, _ := loaderOf(t, files)
	docs, err := l.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return byID(docs)
}

func TestDefectFrontMatterBecomesAHeading(t *testing.T) {
	d := loaded(t, map[string]string{"a.md": "---\nlang: en\n---\n\nText.\n"})["a.md"]
	if d.PageContent != "\nText.\n" || d.Metadata["lang"] != "en" {
		t.Errorf("%+v", d)
	}
}

func TestDefectHTMLLoaderGluesBlocks(t *testing.T) {
	d := loaded(t, map[string]string{"a.html": "<title>T</title><script>x()</script><p>One</p><p>Two &amp; &lt;three</p>"})["a.html"]
	if d.PageContent != "One\n\nTwo & <three" || d.Metadata["title"] != "T" {
		t.Errorf("%+v", d)
	}
}

func TestDefectLoadersKeepTheByteOrderMark(t *testing.T) {
	got := loaded(t, map[string]string{"a.csv": "\ufeffname,age\r\nAda,36\r\n", "a.txt": "\ufefftext\x00"})
	if text := got["a.csv"].PageContent; text != "name,age\r\nAda,36\r\n" {
		t.Errorf("CSV %q", text)
	}
	if text := got["a.txt"].PageContent; text != "text\uFFFD" {
		t.Errorf("text %q", text)
	}
}

func TestDefectDirectoryLoaderHidesFailures(t *testing.T) {
	l, _ := loaderOf(t, map[string]string{"a/b/c/deep.MD": "# Deep", "bad.pdf": "%PDF-1.4 broken", "binary.txt": strings.Repeat("\x00\xff", 100)})
	docs, err := l.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := byID(docs); len(got) != 1 || got["a/b/c/deep.MD"].Metadata["format"] != "markdown" {
		t.Errorf("loaded %v", got)
	}
	if skipped := l.Skipped(); len(skipped) != 2 {
		t.Errorf("skipped %v", skipped)
	}
}

func TestDefectStuffedDocumentsHaveNoLabels(t *testing.T) {
	f := guideFixture(t)
	r := f.retriever(t, &langchain.RetrieverOptions{Request: retriever.Request{K: 2}, Labels: true})
	var prompt string
	model := langchain.NewExtractive(&langchain.ExtractiveOptions{Parse: func(p string) (string, []string, bool) {
		prompt = p
		return "", nil, false
	}})
	if _, err := chains.Run(t.Context(), chains.NewRetrievalQAFromLLM(model, r), "boat house key"); err != nil {
		t.Fatal(err)
	}
	for _, label := range []string{"\n\nPassage [1] Guide > Boat (guide.md, lines 9-11)\n", "\n\nPassage [2] "} {
		if !strings.Contains(prompt, label) {
			t.Errorf("the prompt has no %q:\n%s", label, prompt)
		}
	}
}

// With two outputs a memory must be told which to keep; this is how.
func TestDefectConversationWithSourcesCannotBeSaved(t *testing.T) {
	f := guideFixture(t)
	buffer := memory.NewConversationBuffer(memory.WithInputKey("question"), memory.WithOutputKey("text"))
	chain := chains.NewConversationalRetrievalQAFromLLM(langchain.NewExtractive(nil), f.retriever(t, nil), buffer)
	chain.ReturnSourceDocuments = true
	for range 2 {
		out, err := chains.Call(t.Context(), chain, map[string]any{"question": "What does the lamp burn?"})
		if err != nil {
			t.Fatal(err)
		}
		if docs := out["source_documents"].([]schema.Document); len(docs) == 0 {
			t.Error("no source documents")
		}
	}
}
