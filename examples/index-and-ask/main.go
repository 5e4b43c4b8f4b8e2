// Index-and-ask is the whole line as a library: a folder into an embedded store,
// a question into a cited answer. It needs no server and no network.
//
//	make deps && eval "$(make -s env)"
//	go run ./examples/index-and-ask examples/handbook "How many minutes did the batteries last at the test in 2032?"
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark/onnx"
	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/models"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: index-and-ask DIR QUESTION")
	}
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dir, question string) error {
	model, err := onnx.Open(ctx, models.Default(), &onnx.Options{Library: os.Getenv("WAYMARK_ONNXRUNTIME")})
	if err != nil {
		return err
	}
	defer model.Close()

	// The chunker counts in the model's own tokens.
	split, err := chunker.New(model, chunker.Options{MaxTokens: 128})
	if err != nil {
		return err
	}

	// The fingerprint keeps vectors of different models apart: opening the same
	// file later with another one is refused.
	temp, err := os.MkdirTemp("", "waymark")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	store, err := local.Open(ctx, filepath.Join(temp, "index.db"), &local.Options{
		Create:      true,
		Fingerprint: retriever.Fingerprint{Model: model.Digest, Dim: model.Config().Dim},
	})
	if err != nil {
		return err
	}
	defer store.Close()

	p, err := pipeline.New(pipeline.Parts{
		Chunker:  split,
		Embedder: model,
		Store:    store,
		Model:    &llm.Extractive{}, // or any llm.Model: see examples/own-llm
	}, nil)
	if err != nil {
		return err
	}
	report, err := p.Index(ctx, []string{dir}, pipeline.IndexOptions{})
	if err != nil {
		return err
	}
	fmt.Printf("%d documents, %d chunks\n\n", report.Added, report.Chunks)

	answer, err := p.Ask(ctx, question, nil, pipeline.SearchOptions{K: 5}, nil)
	if err != nil {
		return err
	}
	fmt.Println(answer.Text)
	for _, c := range answer.Citations {
		fmt.Printf("[%d] %s, bytes %s, lines %d-%d\n", c.Number, c.Document, c.Source, c.Lines.First, c.Lines.Last)
	}
	return nil
}
