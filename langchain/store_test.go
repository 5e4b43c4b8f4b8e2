package langchain_test

import (
	"strings"
	"testing"

	"github.com/tmc/langchaingo/schema"

	"github.com/waymark-rag/waymark/landmark/landmarktest"
	"github.com/waymark-rag/waymark/langchain"
	"github.com/waymark-rag/waymark/retriever"
)

func texts(docs []schema.Document) []string {
	out := make([]string, len(docs))
	for i, d := range docs {
		out[i] = d.PageContent
	}
	return out
}

func TestAddedDocumentsAreFound(t *testing.T) {
	f := newFixture(t, nil)
	long := strings.Repeat("The lamp burns colza oil at night. ", 4) + "Keys of the boat house hang behind the kitchen door."
	ids := add(t, f,
		schema.Document{PageContent: long, Metadata: map[string]any{"id": "lamp.txt", "title": "The lamp"}},
		schema.Document{PageContent: "Bread is baked on Tuesdays."},
	)
	if ids[0] != "lamp.txt" || len(ids[1]) != 32 {
		t.Errorf("ids %q: want the caller's, and one of 32 digits", ids)
	}
	d := stored(t, f.store, "lamp.txt")
	if err := retriever.Verify(&d, 1e-4); err != nil {
		t.Error(err)
	}
	if len(d.Chunks) < 3 || d.Title != "The lamp" {
		t.Errorf("stored with %d chunks and the title %q", len(d.Chunks), d.Title)
	}

	got := find(t, f, "boat house keys", 1)
	want := map[string]any{
		"id": "lamp.txt", "title": "The lamp",
		"waymark.document": "lamp.txt", "waymark.title": "The lamp",
		"waymark.chunk": len(d.Chunks) - 1, "waymark.first_chunk": len(d.Chunks) - 1, "waymark.last_chunk": len(d.Chunks) - 1,
		"waymark.start": 140, "waymark.end": len(long), "waymark.source_start": 140, "waymark.source_end": len(long),
		"waymark.first_line": 1, "waymark.last_line": 1,
		"waymark.score_lexical": 0.0,
	}
	for _, key := range []string{"waymark.score", "waymark.score_dense", "waymark.score_landmark", "waymark.score_document", "waymark.rule"} {
		want[key] = got[0].Metadata[key]
		if want[key] == nil {
			t.Errorf("no %q", key)
		}
	}
	wantDiff(t, "metadata", want, got[0].Metadata)
	if got[0].PageContent != long[140:] {
		t.Errorf("found %q", got[0].PageContent)
	}
	if landmark := got[0].Metadata["waymark.score_landmark"].(float64); got[0].Score != float32(landmark) || landmark < 0.3 {
		t.Errorf("score %v, landmark score %v: want them to be the same and not small", got[0].Score, landmark)
	}
}

func TestAddingAgainChangesNothing(t *testing.T) {
	var calls [][]string
	store := openLocal(t)
	s, err := langchain.NewVectorStore(langchain.Parts{Embedder: axes{[]string{"tea"}, &calls}, Open: langchain.SingleTenant(store)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	docs := []schema.Document{
		{PageContent: "Tea is served at four.", Metadata: map[string]any{"a": 1, "b": "x"}},
		{PageContent: "Milk is kept cool."},
	}
	first := add(t, s, docs...)
	second := add(t, s, docs[1], schema.Document{PageContent: docs[0].PageContent, Metadata: map[string]any{"b": "x", "a": 1}}, docs[1])
	wantDiff(t, "ids", []string{first[1], first[0], first[1]}, second)
	if len(calls) != 1 {
		t.Errorf("embedded %q: want each text once", calls)
	}
	if n := count(t, store); n != 2 {
		t.Errorf("the store holds %d documents, want 2", n)
	}
	other := add(t, s, schema.Document{PageContent: docs[0].PageContent, Metadata: map[string]any{"a": 2, "b": "x"}})
	if other[0] == first[0] {
		t.Error("other metadata gave the same id")
	}
}

func TestNewVersionReplacesTheOld(t *testing.T) {
	f := newFixture(t, nil)
	id := map[string]any{"id": "a"}
	add(t, f, schema.Document{PageContent: "Amber is resin. " + strings.Repeat("Basalt is rock. ", 8), Metadata: id})
	add(t, f, schema.Document{PageContent: "Basalt is rock.", Metadata: id})
	for _, d := range find(t, f, "amber", 5) {
		if strings.Contains(d.PageContent, "Amber") {
			t.Errorf("the old version still answers: %q", d.PageContent)
		}
	}
	// Metadata alone is a new version too.
	add(t, f, schema.Document{PageContent: "Basalt is rock.", Metadata: map[string]any{"id": "a", "lang": "en"}})
	wantDiff(t, "metadata", map[string]any{"id": "a", "lang": "en"}, users(find(t, f, "basalt", 1)[0].Metadata))
	if n := count(t, f.store); n != 1 {
		t.Errorf("the store holds %d documents, want 1", n)
	}
}

func TestAddRefusesBeforeStoring(t *testing.T) {
	f := newFixture(t, nil)
	good := schema.Document{PageContent: "good"}
	for name, tt := range map[string]struct {
		bad  schema.Document
		want []string
	}{
		"empty text":      {schema.Document{PageContent: " \n"}, []string{"document 1 of 2", "text is empty"}},
		"only a BOM":      {schema.Document{PageContent: "\uFEFF \n"}, []string{"document 1 of 2", "byte order mark"}},
		"metadata":        {schema.Document{PageContent: "x", Metadata: map[string]any{"ch": make(chan int)}}, []string{"document 1 of 2", `metadata "ch"`, "chan int"}},
		"not a number":    {schema.Document{PageContent: "x", Metadata: map[string]any{"f": nan()}}, []string{`metadata "f"`, "finite"}},
		"empty key":       {schema.Document{PageContent: "x", Metadata: map[string]any{"": 1}}, []string{`metadata ""`, "key is empty"}},
		"reserved key":    {schema.Document{PageContent: "x", Metadata: map[string]any{"waymark.mine": 1}}, []string{`metadata "waymark.mine"`, "choose another"}},
		"impossible line": {schema.Document{PageContent: "x", Metadata: map[string]any{"waymark.first_line": "one"}}, []string{`metadata "waymark.first_line"`, "whole number"}},
		"impossible place": {schema.Document{PageContent: "x", Metadata: map[string]any{"waymark.source_start": 5, "waymark.source_end": 4}},
			[]string{"waymark.source_start", "bytes 5-4"}},
	} {
		_, err := f.AddDocuments(t.Context(), []schema.Document{good, tt.bad})
		t.Log(name, err)
		wantError(t, err, tt.want...)
	}
	same := map[string]any{"id": "x"}
	_, err := f.AddDocuments(t.Context(), []schema.Document{good, {PageContent: "one", Metadata: same}, {PageContent: "two", Metadata: same}})
	wantError(t, err, "documents 1 and 2 of 3", `id "x"`, "give each its own")
	if n := count(t, f.store); n != 0 {
		t.Errorf("the store holds %d documents, want none", n)
	}
	ids, err := f.AddDocuments(t.Context(), nil)
	if err != nil || len(ids) != 0 {
		t.Errorf("adding nothing: %q, %v", ids, err)
	}
}

func TestManyDocumentsInOneCall(t *testing.T) {
	f := newFixture(t, nil)
	docs := make([]schema.Document, 700)
	for i := range docs {
		docs[i] = schema.Document{PageContent: strings.Repeat("filler ", 60) + "marker" + string(rune('a'+i%26)), Metadata: map[string]any{"n": i}}
	}
	ids := add(t, f, docs...)
	if n := count(t, f.store); n != len(docs) {
		t.Errorf("the store holds %d documents, want %d", n, len(docs))
	}
	if last := stored(t, f.store, ids[699]); last.Metadata["n"] != int64(699) {
		t.Errorf("the last id leads to document %v", last.Metadata["n"])
	}
}

func TestPartsThatDoNotFit(t *testing.T) {
	model := landmarktest.New()
	open := langchain.SingleTenant(nil)
	for want, parts := range map[string]langchain.Parts{
		"needs an embedder":             {Open: open},
		"a function that opens":         {Embedder: model},
		"needs a chunker":               {Embedder: model, Open: open},
		"the chunker would not be used": {Embedder: axes{}, Chunker: newChunker(t, model), Open: open},
	} {
		_, err := langchain.NewVectorStore(parts, nil)
		wantError(t, err, want)
	}
	good := langchain.Parts{Embedder: model, Chunker: newChunker(t, model), Open: open}
	for want, req := range map[string]retriever.Request{
		"come from the query":   {Words: "x"},
		`search level "page"`:   {Level: "page"},
		"MMR 2":                 {MMR: 2},
		"minimum lexical score": {MinScore: retriever.MinScore{Lexical: new(float64)}},
	} {
		_, err := langchain.NewVectorStore(good, &langchain.VectorStoreOptions{Request: req})
		wantError(t, err, want)
	}
	s, err := langchain.NewVectorStore(good, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.SimilaritySearch(t.Context(), "x", 1)
	wantError(t, err, `name space ""`, "returned none")
}

func TestLevelsOfAVectorStore(t *testing.T) {
	long := strings.Repeat("Amber lies on the beach. ", 6) + "Cobalt is blue."
	for level, want := range map[retriever.Level]string{
		"":                      "Cobalt is blue.",
		retriever.ChunkLevel:    "Cobalt is blue.",
		retriever.Both:          "Cobalt is blue.",
		retriever.DocumentLevel: long,
	} {
		f := newFixture(t, &langchain.VectorStoreOptions{Request: retriever.Request{Level: level}})
		add(t, f, schema.Document{PageContent: long})
		got := find(t, f, "cobalt blue", 1)
		if !strings.HasSuffix(got[0].PageContent, want) || level == retriever.DocumentLevel && got[0].PageContent != want {
			t.Errorf("level %q: %q", level, got[0].PageContent)
		}
		start, end := got[0].Metadata[langchain.MetaStart].(int), got[0].Metadata[langchain.MetaEnd].(int)
		if !strings.Contains(long[start:end], "Cobalt") {
			t.Errorf("level %q: the best passage is %q", level, long[start:end])
		}
	}
	f := newFixture(t, &langchain.VectorStoreOptions{Request: retriever.Request{Level: retriever.DocumentLevel}, Passages: true})
	add(t, f, schema.Document{PageContent: long})
	if got := find(t, f, "cobalt blue", 1); len(got[0].PageContent) > 80 || !strings.Contains(got[0].PageContent, "Cobalt") {
		t.Errorf("passages of documents: %q", got[0].PageContent)
	}
}

func TestHybridVectorStore(t *testing.T) {
	f := newFixture(t, &langchain.VectorStoreOptions{Hybrid: true})
	add(t, f, schema.Document{PageContent: "Error E4711 means that the pump is dry."}, schema.Document{PageContent: "Pumps are oiled in spring."})
	got := find(t, f, "E4711", 2)
	if got[0].Metadata[langchain.MetaScoreLexical].(float64) <= 0 || !strings.HasPrefix(got[0].Metadata[langchain.MetaRule].(string), "fused ") {
		t.Errorf("metadata %v", got[0].Metadata)
	}
}
