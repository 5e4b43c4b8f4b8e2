package chunker_test

import (
	"fmt"
	"log"

	"github.com/waymark-rag/waymark/chunker"
)

func ExampleChunker_Split() {
	// A model's own tokenizer counts what the model will see; WordTokenizer
	// stands in for it here.
	c, err := chunker.New(chunker.WordTokenizer{}, chunker.Options{MaxTokens: 16})
	if err != nil {
		log.Fatal(err)
	}
	doc := chunker.Document{
		ID:     "guide.md",
		Syntax: chunker.Markdown,
		Text: "# Guide\n\nWelcome to the guide.\n\n## Install\n\nRun the installer.\nThen open a new terminal.\n\n" +
			"## Use\n\n- Index a folder.\n- Ask a question.\n",
	}
	chunks, err := c.Split(doc)
	if err != nil {
		log.Fatal(err)
	}
	for _, chunk := range chunks {
		fmt.Println(chunk.Range, chunk.Tokens, chunk.Headings)
	}
	// Output:
	// 0-32 7 [Guide]
	// 32-90 13 [Guide Install]
	// 90-134 13 [Guide Use]
}
