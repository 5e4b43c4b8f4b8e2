// Langchain-migrate takes what langchaingo's own Qdrant store has kept into a
// Waymark collection, encodes it again, with a landmark for every chunk, and asks
// both levels a question. To run it:
//
//	eval "$(make -s env)" && go run ./examples/langchain-migrate HOST:PORT OLD NEW QUESTION
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/tmc/langchaingo/schema"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark/onnx"
	"github.com/waymark-rag/waymark/langchain"
	"github.com/waymark-rag/waymark/models"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/qdrant"
)

func main() {
	if len(os.Args) != 5 {
		log.Fatal("usage: langchain-migrate HOST:PORT OLD NEW QUESTION")
	}
	address, from, to, question := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	ctx := context.Background()
	model := must(onnx.Open(ctx, models.Default(), &onnx.Options{Library: os.Getenv("WAYMARK_ONNXRUNTIME")}))
	store := must(qdrant.Open(ctx, address, to, &qdrant.Options{
		Create:      true,
		Fingerprint: retriever.Fingerprint{Model: model.Name + " " + model.Digest, Dim: model.Config().Dim},
	}))
	vectors := must(langchain.NewVectorStore(langchain.Parts{
		Embedder: model,
		Chunker:  must(chunker.New(model, chunker.Options{})),
		Open:     langchain.SingleTenant(store),
	}, nil))

	// The old store gave its points random IDs and returned them; they stay the
	// documents' own.
	var batch []schema.Document
	moved := 0
	flush := func() {
		moved += len(must(vectors.AddDocuments(ctx, batch)))
		batch = batch[:0]
	}
	for p, err := range qdrant.Passages(ctx, address, from, "content", nil) {
		if err != nil {
			log.Fatal(err)
		}
		metadata := map[string]any{langchain.MetaID: p.ID}
		for key, value := range p.Metadata {
			metadata[key] = value
		}
		if batch = append(batch, schema.Document{PageContent: p.Text, Metadata: metadata}); len(batch) == 256 {
			flush()
		}
	}
	flush()
	fmt.Printf("moved %d documents\n", moved)

	for _, d := range must(vectors.SimilaritySearch(ctx, question, 3)) {
		fmt.Printf("%.3f %s %q\n", d.Score, d.Metadata[langchain.MetaDocument], d.PageContent)
	}
	if err := store.Close(); err != nil {
		log.Fatal(err)
	}
	if err := model.Close(); err != nil {
		log.Fatal(err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
