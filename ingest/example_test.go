package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/ingest"
)

func ExampleWalk() {
	ctx := context.Background()
	opts := &ingest.WalkOptions{Include: []string{"*.md", "main.go"}}
	for file, err := range ingest.Walk(ctx, []string{"testdata"}, opts) {
		if err != nil {
			log.Fatal(err)
		}
		// An archive gives many documents, another file one.
		for loaded, err := range ingest.Read(ctx, file, nil) {
			if skip := (*ingest.Skip)(nil); errors.As(err, &skip) {
				fmt.Println(skip)
				continue
			}
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf("%s: %s %q\n", loaded.Document.ID, loaded.Format, loaded.Document.Title)
		}
	}
	// Output:
	// bom-crlf.md: markdown "Title"
	// fenced.md: markdown "Real *title*"
	// front-matter.md: markdown "Release notes"
	// main.go: code "main.go"
	// rules.md: markdown "Setext title"
}

func ExampleParse() {
	page := []byte("<title>Tea</title><p>One cup.</p><p>Two &amp; more.</p>")
	for loaded, err := range ingest.Parse(context.Background(), "tea.html", page, nil) {
		if err != nil {
			log.Fatal(err)
		}
		doc := loaded.Document
		second := chunker.Range{Start: len("One cup.\n\n"), End: len(doc.Text)}
		fmt.Println(doc.Title)
		fmt.Println(second.Of(doc.Text))
		fmt.Println(doc.Source.Tile(second).Of(string(page)))
	}
	// Output:
	// Tea
	// Two & more.
	// <p>Two &amp; more.</p>
}
