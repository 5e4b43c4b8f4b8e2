package langchain_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark/landmarktest"
	"github.com/waymark-rag/waymark/langchain"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
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

func TestSearchIsRefused(t *testing.T) {
	f := newFixture(t, nil)
	add(t, f, schema.Document{PageContent: "text", Metadata: map[string]any{"lang": "en"}})
	for _, tt := range []struct {
		query   string
		n       int
		options []vectorstores.Option
		want    string
	}{
		{"", 1, nil, "query is empty"},
		{" \t", 1, nil, "query is empty"},
		{"x", 0, nil, "search for 0 documents: want 1 or more"},
		{"x", -1, nil, "search for -1 documents"},
		{"x", 1, []vectorstores.Option{vectorstores.WithScoreThreshold(1.5)}, "score threshold 1.5: want -1 to 1"},
		{"x", 1, []vectorstores.Option{vectorstores.WithScoreThreshold(float32(nan()))}, "score threshold NaN"},
		{"x", 1, []vectorstores.Option{vectorstores.WithFilters("lang=en")}, "filters of type string"},
		{"x", 1, []vectorstores.Option{vectorstores.WithNameSpace("other")}, `name space "other": this store has no tenants`},
		{"x", 1, []vectorstores.Option{vectorstores.WithEmbedder(axes{})}, "the embedder langchain_test.axes given with the call"},
		{"x", 1, []vectorstores.Option{vectorstores.WithDeduplicater(func(context.Context, schema.Document) bool { return false })}, "WithDeduplicater"},
	} {
		docs, err := f.SimilaritySearch(t.Context(), tt.query, tt.n, tt.options...)
		wantError(t, err, tt.want)
		if docs != nil {
			t.Errorf("%q: documents beside an error", tt.want)
		}
	}
	_, err := f.SimilaritySearch(t.Context(), "x", 1, vectorstores.WithFilters(map[string]any{"author": "me"}))
	var unknown *retriever.UnknownKeyError
	if !errors.As(err, &unknown) || unknown.Key != "author" {
		t.Errorf("filter by an unknown key: %v", err)
	}
	wantError(t, err, `one of ["lang"]`, "only strings, bools, numbers, times and lists of strings")
}

func TestWithNameSpace(t *testing.T) {
	dir := t.TempDir()
	var opened []string
	model := landmarktest.New()
	s, err := langchain.NewVectorStore(langchain.Parts{
		Embedder: model,
		Chunker:  newChunker(t, model),
		Open: func(ctx context.Context, tenant string) (retriever.Store, error) {
			opened = append(opened, tenant)
			if tenant == "banned" {
				return nil, errors.New("not a customer")
			}
			return local.Open(ctx, filepath.Join(dir, "tenant-"+tenant+".db"), &local.Options{Create: true})
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tenant := range []string{"", "one", "two"} {
		if _, err := s.AddDocuments(t.Context(), []schema.Document{{PageContent: "the secret of tenant " + tenant}}, vectorstores.WithNameSpace(tenant)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tenant := range []string{"one", "two", ""} {
		got := find(t, s, "secret of tenant one two", 5, vectorstores.WithNameSpace(tenant))
		wantDiff(t, "found for "+tenant, []string{"the secret of tenant " + tenant}, texts(got))
	}
	wantDiff(t, "opened", []string{"", "one", "two"}, opened)
	for range 2 {
		_, err = s.SimilaritySearch(t.Context(), "x", 1, vectorstores.WithNameSpace("banned"))
		wantError(t, err, `name space "banned": not a customer`)
	}
	wantDiff(t, "opened after failures", []string{"", "one", "two", "banned", "banned"}, opened)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.SimilaritySearch(t.Context(), "x", 1); !errors.Is(err, retriever.ErrClosed) {
		t.Errorf("search after Close: %v", err)
	}
}

func TestWithScoreThreshold(t *testing.T) {
	store := openLocal(t)
	s, err := langchain.NewVectorStore(langchain.Parts{Embedder: axes{words: []string{"red", "blue"}}, Open: langchain.SingleTenant(store)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, schema.Document{PageContent: "red red"}, schema.Document{PageContent: "red blue"}, schema.Document{PageContent: "blue blue"})
	all := find(t, s, "red", 3)
	wantDiff(t, "without a threshold", []string{"red red", "red blue", "blue blue"}, texts(all))
	// One that equals a score keeps that document, whatever the rounding.
	for i, d := range all {
		got := find(t, s, "red", 3, vectorstores.WithScoreThreshold(d.Score))
		wantDiff(t, "threshold of a score", texts(all[:i+1]), texts(got))
	}
	if got := find(t, s, "red", 3, vectorstores.WithScoreThreshold(0.99999)); len(got) != 0 {
		t.Errorf("above all scores: %q", texts(got))
	}
}

func TestThresholdOfTheTemplateHoldsToo(t *testing.T) {
	least := 0.5
	store := openLocal(t)
	s, err := langchain.NewVectorStore(langchain.Parts{Embedder: axes{words: []string{"red", "blue"}}, Open: langchain.SingleTenant(store)},
		&langchain.VectorStoreOptions{Request: retriever.Request{MinScore: retriever.MinScore{Dense: &least}}})
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, schema.Document{PageContent: "red red"}, schema.Document{PageContent: "red blue"}, schema.Document{PageContent: "blue blue"})
	for threshold, want := range map[float32]int{0: 2, 0.1: 2, 0.9: 1} {
		if got := find(t, s, "red", 3, vectorstores.WithScoreThreshold(threshold)); len(got) != want {
			t.Errorf("threshold %v: %q, want %d", threshold, texts(got), want)
		}
	}
}

func TestWithDeduplicater(t *testing.T) {
	f := newFixture(t, nil)
	docs := []schema.Document{{PageContent: "first"}, {PageContent: "second"}, {PageContent: "third"}}
	ids, err := f.AddDocuments(t.Context(), docs, vectorstores.WithDeduplicater(func(_ context.Context, d schema.Document) bool {
		return d.PageContent == "second"
	}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.store.Fetch(t.Context(), ids, retriever.Want{Text: true})
	if err != nil || len(got) != 2 || got[0].Text != "first" || got[1].Text != "third" || count(t, f.store) != 2 {
		t.Errorf("stored %v, %v", got, err)
	}
}

func TestWithEmbedder(t *testing.T) {
	f := newFixture(t, nil)
	wrapped, err := langchain.NewEmbedder(f.model)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		option vectorstores.Option
		ok     bool
	}{
		"the model":          {vectorstores.WithEmbedder(f.model), true},
		"an Embedder of it":  {vectorstores.WithEmbedder(wrapped), true},
		"none":               {vectorstores.WithEmbedder(nil), true},
		"another model":      {vectorstores.WithEmbedder(landmarktest.New()), false},
		"one without an own": {vectorstores.WithEmbedder(axes{words: []string{"a"}}), false},
	} {
		_, err := f.AddDocuments(t.Context(), []schema.Document{{PageContent: "text"}}, tt.option)
		if (err == nil) != tt.ok {
			t.Errorf("%s: adding: %v", name, err)
		}
		_, err = f.SimilaritySearch(t.Context(), "text", 1, tt.option)
		if (err == nil) != tt.ok {
			t.Errorf("%s: searching: %v", name, err)
		}
	}
	for _, option := range []vectorstores.Option{vectorstores.WithScoreThreshold(0.5), vectorstores.WithFilters(map[string]any{})} {
		_, err := f.AddDocuments(t.Context(), []schema.Document{{PageContent: "text"}}, option)
		wantError(t, err, "leave WithFilters and WithScoreThreshold out")
	}
}

func TestForeignEmbedder(t *testing.T) {
	store := openLocal(t)
	s, err := langchain.NewVectorStore(langchain.Parts{Embedder: axes{words: []string{"red", "blue"}}, Open: langchain.SingleTenant(store)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("red and blue,\n", 300)
	ids := add(t, s, schema.Document{PageContent: text, Metadata: map[string]any{"n": 7}}, schema.Document{PageContent: "blue"})
	d := stored(t, store, ids[0])
	if len(d.Chunks) != 1 || d.Chunks[0].Text != (chunker.Range{Start: 0, End: len(text)}) || d.Text != text {
		t.Errorf("stored as %d chunks, %q", len(d.Chunks), d.Text[:40])
	}
	if n := norm(d.Vector); n < 0.999 || n > 1.001 || !slices.Equal(d.Vector, d.Chunks[0].Vector) {
		t.Errorf("the document's vector %v has length %v, its chunk's is %v", d.Vector, n, d.Chunks[0].Vector)
	}
	if err := retriever.Verify(&d, 1e-3); err != nil {
		t.Error(err)
	}
	got := find(t, s, "red", 2)
	if got[0].PageContent != text || got[0].Metadata["n"] != 7 || got[0].Metadata["waymark.last_line"] != 300 {
		t.Errorf("found %v", got[0].Metadata)
	}
	r, err := langchain.NewRetriever(axes{words: []string{"red", "blue"}}, store, nil)
	if err != nil {
		t.Fatal(err)
	}
	if docs, err := r.GetRelevantDocuments(t.Context(), "blue"); err != nil || docs[0].PageContent != "blue" {
		t.Errorf("retriever: %q, %v", texts(docs), err)
	}
}

// badEmbedder breaks the contract of embeddings.Embedder in the way that it is told.
type badEmbedder struct {
	axes
	vectors func([][]float32) [][]float32
}

func (b badEmbedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	v, err := b.axes.EmbedDocuments(ctx, texts)
	return b.vectors(v), err
}

func TestForeignEmbedderThatFails(t *testing.T) {
	for want, change := range map[string]func([][]float32) [][]float32{
		"1 vectors for 2 texts":      func(v [][]float32) [][]float32 { return v[1:] },
		"text 1: ":                   func(v [][]float32) [][]float32 { v[1] = make([]float32, 3); return v },
		"a vector of length 0":       func(v [][]float32) [][]float32 { v[0] = make([]float32, 3); return v },
		"an empty vector":            func(v [][]float32) [][]float32 { v[0] = nil; return v },
		"a vector of length NaN":     func(v [][]float32) [][]float32 { v[0][0] = float32(nan()); return v },
		"vector of length 4: want 3": func(v [][]float32) [][]float32 { v[1] = append(v[1], 1); return v },
	} {
		store := openLocal(t)
		s, err := langchain.NewVectorStore(langchain.Parts{Embedder: badEmbedder{axes{words: []string{"red", "blue"}}, change}, Open: langchain.SingleTenant(store)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.AddDocuments(t.Context(), []schema.Document{{PageContent: "red"}, {PageContent: "blue"}})
		wantError(t, err, want)
		if n := count(t, store); n != 0 {
			t.Errorf("%s: %d documents stored", want, n)
		}
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
	if got[0].Metadata[langchain.MetaScoreLexical].(float64) <= 0 || !strings.HasPrefix(got[0].Metadata[langchain.MetaRule].(string), "rrf") {
		t.Errorf("metadata %v", got[0].Metadata)
	}
}
