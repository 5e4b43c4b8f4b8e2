package langchain_test

import (
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/landmarktest"
	"github.com/waymark-rag/waymark/langchain"
)

func newEmbedder(t testing.TB) *langchain.Embedder {
	t.Helper()
	e, err := langchain.NewEmbedder(landmarktest.New())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEmbedderKeepsTheOrder(t *testing.T) {
	words := []string{"amber", "basalt", "cobalt", "dolomite"}
	vectors, err := newEmbedder(t).EmbedDocuments(t.Context(), words)
	if err != nil {
		t.Fatal(err)
	}
	if len(vectors) != len(words) {
		t.Fatalf("%d vectors for %d texts", len(vectors), len(words))
	}
	for i, v := range vectors {
		for k, w := range words {
			if s := landmarktest.Similarity(v, w); (s > 0.5) != (i == k) {
				t.Errorf("vector %d has similarity %.2f with %q", i, s, w)
			}
		}
	}
}

// A text's vector is the same alone and beside a long one: users.md 23.
func TestVectorDoesNotDependOnItsBatch(t *testing.T) {
	e := newEmbedder(t)
	alone, err := e.EmbedDocuments(t.Context(), []string{"cat"})
	if err != nil {
		t.Fatal(err)
	}
	beside, err := e.EmbedDocuments(t.Context(), []string{strings.Repeat("a long text beside it ", 100), "cat", "dog"})
	if err != nil {
		t.Fatal(err)
	}
	wantDiff(t, "the vector", alone[0], beside[1])
}

func TestEmbedderStripsNoLineBreaks(t *testing.T) {
	const text = "line one\nline two\r\n\n  line three"
	var seen []string
	model, err := landmark.New(recorder{&seen}, &landmarktest.Encoder{Size: 256}, landmarktest.Config(), nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := langchain.NewEmbedder(model)
	if err != nil {
		t.Fatal(err)
	}
	seen = nil // the model reads its prefixes
	texts := []string{text}
	if _, err := e.EmbedDocuments(t.Context(), texts); err != nil {
		t.Fatal(err)
	}
	wantDiff(t, "what the tokenizer was given", []string{text, text}, seen)
	wantDiff(t, "the caller's texts", []string{text}, texts)
}

// recorder is the fake tokenizer, and notes what it is given.
type recorder struct{ seen *[]string }

func (r recorder) Tokens(text string) ([]landmark.Token, error) {
	*r.seen = append(*r.seen, text)
	return landmarktest.Tokenizer{}.Tokens(text)
}

func TestEmbedLandmarksGivesTheChunks(t *testing.T) {
	text := strings.Repeat("amber ", 16) + strings.Repeat("basalt ", 16) + "cobalt"
	got, err := newEmbedder(t).EmbedLandmarks(t.Context(), []string{text})
	if err != nil {
		t.Fatal(err)
	}
	wantDiff(t, "chunks", []chunker.Range{{Start: 0, End: 96}, {Start: 96, End: 208}, {Start: 208, End: 214}}, got[0].Chunks)
	for i, word := range []string{"amber", "basalt", "cobalt"} {
		if s := landmarktest.Similarity(got[0].Landmarks[i], word); s < 0.9 {
			t.Errorf("landmark %d has similarity %.2f with %q", i, s, word)
		}
	}
	vectors, err := newEmbedder(t).EmbedDocuments(t.Context(), []string{text})
	if err != nil {
		t.Fatal(err)
	}
	wantDiff(t, "document vector", vectors[0], got[0].Document)
}

func TestEmbedderOfNothing(t *testing.T) {
	e := newEmbedder(t)
	vectors, err := e.EmbedDocuments(t.Context(), nil)
	if err != nil || len(vectors) != 0 {
		t.Errorf("no texts: %v, %v: want no vectors and no error", vectors, err)
	}
	_, err = e.EmbedDocuments(t.Context(), []string{"a", " \n", "b"})
	wantError(t, err, "text 1 of 3 is empty")
	_, err = e.EmbedQuery(t.Context(), "")
	wantError(t, err, "query is empty")
	_, err = langchain.NewEmbedder(nil)
	wantError(t, err, "needs a model")
}

func TestEmbedderTakesAnyBytes(t *testing.T) {
	got, err := newEmbedder(t).EmbedLandmarks(t.Context(), []string{"before\x00after ab\xffcd"})
	if err != nil {
		t.Fatal(err)
	}
	wantDiff(t, "chunks", []chunker.Range{{Start: 0, End: 18}}, got[0].Chunks)
	if s := landmarktest.Similarity(got[0].Document, "after"); s < 0.2 {
		t.Errorf("similarity %.2f with what follows the NUL", s)
	}
}
