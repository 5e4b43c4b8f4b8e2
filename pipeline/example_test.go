package pipeline_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark/landmarktest"
	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever/local"
)

// A pipeline on a fake model; landmark/onnx has the real one, and Pipeline.Index
// takes folders.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "waymark")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := local.Open(ctx, filepath.Join(dir, "index.db"), &local.Options{Create: true})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	model := landmarktest.New()
	split, err := chunker.New(model, chunker.Options{MaxTokens: 16})
	if err != nil {
		log.Fatal(err)
	}
	p, err := pipeline.New(pipeline.Parts{Chunker: split, Embedder: model, Store: store, Model: &llm.Extractive{}}, nil)
	if err != nil {
		log.Fatal(err)
	}

	report, err := p.Add(ctx,
		chunker.Document{ID: "lamp.txt", Text: "The lamp burns colza oil. It is trimmed at dusk and at midnight."},
		chunker.Document{ID: "boat.txt", Text: "The key of the boat house hangs behind the kitchen door."},
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Added, "documents")

	answer, err := p.Ask(ctx, "Where is the key of the boat house?", nil, pipeline.SearchOptions{}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Text)
	for _, c := range answer.Citations {
		fmt.Printf("[%d] %s, bytes %s\n", c.Number, c.Document, c.Source)
	}
	// Output:
	// 2 documents
	// The key of the boat house hangs behind the kitchen door. [1]
	// [1] boat.txt, bytes 0-56
}
