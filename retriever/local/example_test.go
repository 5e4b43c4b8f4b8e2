package local_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
)

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "waymark")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	store, err := local.Open(ctx, filepath.Join(dir, "notes.db"), &local.Options{
		Create:      true,
		Fingerprint: retriever.Fingerprint{Model: "by hand", Dim: 2},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	text := "Salt the water. Boil the pasta."
	err = store.Upsert(ctx, []retriever.Document{{
		ID: "pasta.txt", Title: "Pasta", Text: text, Vector: []float32{0.8, 0.6},
		Chunks: []retriever.Chunk{
			{Text: chunker.Range{Start: 0, End: 16}, Vector: []float32{1, 0}},
			{Text: chunker.Range{Start: 16, End: len(text)}, Vector: []float32{0, 1}},
		},
	}})
	if err != nil {
		log.Fatal(err)
	}
	hits, err := retriever.Search(ctx, store, retriever.Request{Vector: []float32{0, 1}, Words: "boil", K: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range hits {
		fmt.Printf("%s, bytes %v: %q\n", h.Document, h.Range, h.Text)
	}
	// Output:
	// pasta.txt, bytes 16-31: "Boil the pasta."
}
