package pipeline_test

import (
	"context"
	"fmt"
	"log"

	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

func ExampleAnswerer() {
	answerer, err := pipeline.NewAnswerer(&llm.Extractive{}, pipeline.AnswerOptions{})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := answerer.Answer(context.Background(), pipeline.AnswerRequest{
		Question: "Where do large dragons sleep?",
		Hits: []retriever.Hit{
			{Document: "trees.md", Text: "Small dragons live in trees."},
			{Document: "caves.md", Text: "Large dragons sleep in caves. They snore."},
		},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Text)
	for _, c := range answer.Citations {
		fmt.Printf("[%d] %s\n", c.Number, c.Document)
	}
	// Output:
	// Large dragons sleep in caves. [1]
	// [1] caves.md
}
