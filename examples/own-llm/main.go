// Own-llm answers with a langchaingo model of your own. Here it is one that
// langchaingo ships for tests, which replies with fixed words; put
// llms/anthropic, llms/googleai or any other in its place.
//
//	go run ./examples/own-llm
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/tmc/langchaingo/llms/fake"

	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	theirs := fake.NewFakeLLM([]string{"The bridge opened in 1932 [2] and has nine lanes [1][7]."})
	answerer, err := pipeline.NewAnswerer(llm.Langchain(theirs, "fake"), pipeline.AnswerOptions{})
	if err != nil {
		return err
	}
	// Passages come from pipeline.Search; these stand for what it found.
	hits := []retriever.Hit{
		{Document: "lanes.md", Text: "The harbour bridge carries eight lanes."},
		{Document: "history.md", Text: "The harbour bridge was opened in 1932."},
	}
	answer, err := answerer.Answer(ctx, pipeline.AnswerRequest{Question: "What of the bridge?", Hits: hits}, func(e pipeline.Event) error {
		fmt.Print(e.Text) // as it is written
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Println()
	for _, c := range answer.Citations {
		fmt.Printf("[%d] %s: %s\n", c.Number, c.Document, c.Excerpt)
	}
	for _, s := range answer.Sentences {
		if !s.Supported {
			fmt.Printf("not borne out: %q: %v\n", s.Range.Of(answer.Text), s.Reasons)
		}
	}
	return nil
}
