package langchain_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/embeddings"
	"github.com/tmc/langchaingo/memory"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/tools"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/landmarktest"
	"github.com/waymark-rag/waymark/langchain"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
	"github.com/waymark-rag/waymark/retriever/qdrant"
)

// The examples run on a fake model; landmark/onnx has the real one. A test compares
// them with the snippets of docs/langchain.md.

var ctx = context.Background()

// parts makes a model, a chunker and an empty store in a folder that is deleted by the
// function returned.
func parts() (*landmark.Model, *chunker.Chunker, *local.Store, func()) {
	dir := check(os.MkdirTemp("", "waymark"))
	model := landmarktest.New()
	split := check(chunker.New(model, chunker.Options{MaxTokens: 16}))
	db := check(local.Open(ctx, filepath.Join(dir, "index.db"), &local.Options{Create: true}))
	return model, split, db, func() {
		db.Close()
		os.RemoveAll(dir)
	}
}

func check[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func Example() {
	model, split, db, remove := parts()
	defer remove()

	store, err := langchain.NewVectorStore(langchain.Parts{
		Embedder: model,
		Chunker:  split,
		Open:     langchain.SingleTenant(db),
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	ids, err := store.AddDocuments(ctx, []schema.Document{
		{PageContent: "The lamp burns colza oil.", Metadata: map[string]any{"id": "lamp", "year": 1911}},
		{PageContent: "The key of the boat house hangs behind the kitchen door.", Metadata: map[string]any{"id": "boat", "year": 1925}},
	})
	if err != nil {
		log.Fatal(err)
	}
	docs, err := store.SimilaritySearch(ctx, "key of the boat house", 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ids)
	fmt.Println(docs[0].PageContent, docs[0].Metadata["year"], docs[0].Metadata[langchain.MetaDocument])
	// Output:
	// [lamp boat]
	// The key of the boat house hangs behind the kitchen door. 1925 boat
}

func ExampleVectorStore_SimilaritySearch() {
	model, split, db, remove := parts()
	defer remove()
	store := check(langchain.NewVectorStore(langchain.Parts{Embedder: model, Chunker: split, Open: langchain.SingleTenant(db)}, nil))
	check(store.AddDocuments(ctx, []schema.Document{
		{PageContent: "Go 1.0 was released.", Metadata: map[string]any{"lang": "go", "year": 2012, "read": time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)}},
		{PageContent: "Python 1.0 was released.", Metadata: map[string]any{"lang": "python", "year": 1994, "read": time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}},
	}))

	docs, err := store.SimilaritySearch(ctx, "releases", 5, vectorstores.WithFilters(map[string]any{
		"lang": []string{"go", "rust"},
		"year": map[string]any{"$gte": 2010, "$lt": 2020},
		"read": map[string]any{"$gt": time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)},
	}))
	fmt.Println(len(docs), err)

	_, err = store.SimilaritySearch(ctx, "releases", 5, vectorstores.WithFilters(map[string]any{
		"year": map[string]any{"$gtt": 2010},
	}))
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// filter on "year": unknown operator "$gtt", want one of ["$contains" "$eq" "$exists" "$gt" "$gte" "$in" "$lt" "$lte" "$ne" "$prefix"]
}

func ExampleRetriever() {
	model, split, db, remove := parts()
	defer remove()
	store := check(langchain.NewVectorStore(langchain.Parts{Embedder: model, Chunker: split, Open: langchain.SingleTenant(db)}, nil))
	check(store.AddDocuments(ctx, []schema.Document{{
		PageContent: "# Station\n\n## Boat\n\nThe key of the boat house hangs behind the kitchen door.\n",
		Metadata:    map[string]any{"id": "station.md", "title": "Station", "format": "markdown"},
	}}))

	r, err := langchain.NewRetriever(model, db, &langchain.RetrieverOptions{
		Request: retriever.Request{K: 3, Level: retriever.Both},
		Labels:  true,
	})
	if err != nil {
		log.Fatal(err)
	}
	chain := chains.NewRetrievalQAFromLLM(langchain.NewExtractive(nil), r)
	answer, err := chains.Run(ctx, chain, "Where does the key of the boat house hang?")
	fmt.Println(answer, err)

	docs := check(r.GetRelevantDocuments(ctx, "key of the boat house"))
	fmt.Println(docs[0].PageContent)
	// Output:
	// The key of the boat house hangs behind the kitchen door. [1] <nil>
	// Passage [1] Station > Boat (station.md, lines 1-5)
	// # Station
	//
	// ## Boat
	//
	// The key of the boat house hangs behind the kitchen door.
}

func ExampleExtractive() {
	model, split, db, remove := parts()
	defer remove()
	store := check(langchain.NewVectorStore(langchain.Parts{Embedder: model, Chunker: split, Open: langchain.SingleTenant(db)}, nil))
	check(store.AddDocuments(ctx, []schema.Document{{PageContent: "The lamp burns colza oil. It is trimmed at midnight."}}))
	r := check(langchain.NewRetriever(model, db, nil))

	buffer := memory.NewConversationBuffer(memory.WithInputKey("question"), memory.WithOutputKey("text"))
	chain := chains.NewConversationalRetrievalQAFromLLM(langchain.NewExtractive(nil), r, buffer)
	chain.ReturnGeneratedQuestion = true
	for _, question := range []string{"What does the lamp burn?", "When is it trimmed?"} {
		out, err := chains.Call(ctx, chain, map[string]any{"question": question})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n%s\n\n", out["generated_question"], out["text"])
	}
	// Output:
	// What does the lamp burn?
	// The lamp burns colza oil.
	//
	// What does the lamp burn? When is it trimmed?
	// The lamp burns colza oil.
	//
	// It is trimmed at midnight.
}

func ExampleSearchTool() {
	model, split, db, remove := parts()
	defer remove()
	store := check(langchain.NewVectorStore(langchain.Parts{Embedder: model, Chunker: split, Open: langchain.SingleTenant(db)}, nil))
	check(store.AddDocuments(ctx, []schema.Document{{PageContent: "The lamp burns colza oil.", Metadata: map[string]any{"id": "lamp.txt"}}}))
	r := check(langchain.NewRetriever(model, db, nil))

	search, err := langchain.NewSearchTool(r, &langchain.SearchToolOptions{
		Name:        "handbook",
		Description: "Searches the handbook of the lighthouse. Input: a question. Cite passages by their numbers.",
	})
	if err != nil {
		log.Fatal(err)
	}
	agent := agents.NewOneShotAgent(langchain.NewExtractive(nil), []tools.Tool{search})
	answer, err := chains.Run(ctx, agents.NewExecutor(agent), "What does the lamp burn?")
	fmt.Println(answer, err)
	// Output: The lamp burns colza oil. [1] <nil>
}

func ExampleLoader() {
	dir := check(os.MkdirTemp("", "waymark"))
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "lamp.md"), []byte("# Lamp\n\nIt burns colza oil.\n"), 0o666); err != nil {
		log.Fatal(err)
	}

	loader, err := langchain.NewLoader([]string{dir}, nil)
	if err != nil {
		log.Fatal(err)
	}
	docs, err := loader.Load(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, skip := range loader.Skipped() {
		log.Print(skip)
	}
	for _, d := range docs {
		fmt.Println(d.Metadata[langchain.MetaID], d.Metadata[langchain.MetaTitle], d.Metadata[langchain.MetaSourceStart], d.Metadata[langchain.MetaSourceEnd])
	}
	// Output: lamp.md Lamp 0 28
}

func ExampleTextSplitter() {
	split := check(chunker.New(chunker.WordTokenizer{}, chunker.Options{MaxTokens: 8}))
	splitter, err := langchain.NewTextSplitter(split, chunker.Markdown)
	if err != nil {
		log.Fatal(err)
	}
	pieces, err := splitter.SplitText("# One\r\n\r\nFirst text of it.\r\n\r\n# Two\r\n\r\nSecond.\r\n")
	fmt.Printf("%q %v\n", pieces, err)
	// Output: ["# One\r\n\r\nFirst text of it.\r\n\r\n" "# Two\r\n\r\nSecond.\r\n"] <nil>
}

func ExampleEmbedder() {
	embedder, err := langchain.NewEmbedder(landmarktest.New())
	if err != nil {
		log.Fatal(err)
	}
	got, err := embedder.EmbedLandmarks(ctx, []string{"The lamp burns colza oil. It is trimmed at dusk and at midnight by the second keeper of the light."})
	if err != nil {
		log.Fatal(err)
	}
	for i, c := range got[0].Chunks {
		fmt.Println("bytes", c, "vector of", len(got[0].Landmarks[i]))
	}
	// Output:
	// bytes 0-71 vector of 256
	// bytes 71-98 vector of 256
}

// Every tenant has documents of its own in one Qdrant collection.
func ExampleParts_qdrant() {
	var model *landmark.Model  // landmark/onnx opens one
	var split *chunker.Chunker // chunker.New makes one
	var docs []schema.Document

	store, err := langchain.NewVectorStore(langchain.Parts{
		Embedder: model,
		Chunker:  split,
		Open: func(ctx context.Context, tenant string) (retriever.Store, error) {
			return qdrant.Open(ctx, "localhost:6334", "handbook", &qdrant.Options{
				Create:      true,
				Fingerprint: retriever.Fingerprint{Model: "my model", Dim: model.Config().Dim},
				Tenant:      tenant,
			})
		},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	ids, err := store.AddDocuments(ctx, docs, vectorstores.WithNameSpace("acme"))
	fmt.Println(ids, err)
}

// Any other embedder of langchaingo's gives a document one vector.
func ExampleParts_foreignEmbedder() {
	var client embeddings.EmbedderClient // OpenAI's, Ollama's, ...
	var db retriever.Store

	theirs, err := embeddings.NewEmbedder(client)
	if err != nil {
		log.Fatal(err)
	}
	store, err := langchain.NewVectorStore(langchain.Parts{Embedder: theirs, Open: langchain.SingleTenant(db)}, nil)
	if err != nil {
		log.Fatal(err)
	}
	docs, err := store.SimilaritySearch(ctx, "a question", 3)
	fmt.Println(docs, err)
}
