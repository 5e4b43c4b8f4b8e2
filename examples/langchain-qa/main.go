// Langchain-qa answers from a folder with langchaingo's own RetrievalQA chain. To run it:
// eval "$(make -s env)" && go run ./examples/langchain-qa index.db examples/handbook QUESTION
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/tmc/langchaingo/chains"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark/onnx"
	"github.com/waymark-rag/waymark/langchain"
	"github.com/waymark-rag/waymark/models"
	"github.com/waymark-rag/waymark/retriever/local"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: langchain-qa INDEX DIR QUESTION")
	}
	ctx, llm := context.Background(), langchain.NewExtractive(nil) // or any llms.Model
	model := must(onnx.Open(ctx, models.Default(), &onnx.Options{Library: os.Getenv("WAYMARK_ONNXRUNTIME")}))
	db := must(local.Open(ctx, os.Args[1], &local.Options{Create: true}))
	parts := langchain.Parts{Embedder: model, Chunker: must(chunker.New(model, chunker.Options{})), Open: langchain.SingleTenant(db)}
	docs := must(must(langchain.NewLoader(os.Args[2:3], nil)).Load(ctx))
	must(must(langchain.NewVectorStore(parts, nil)).AddDocuments(ctx, docs))
	retriever := must(langchain.NewRetriever(model, db, &langchain.RetrieverOptions{Labels: true}))
	fmt.Println(must(chains.Run(ctx, chains.NewRetrievalQAFromLLM(llm, retriever), os.Args[3])))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
