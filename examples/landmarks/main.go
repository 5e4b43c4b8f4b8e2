// Landmarks shows what one pass over a text gives: a vector for each chunk and one
// for the document. The second sentence does not name the bridge; read at its
// landmark, which has seen the sentence before, it is nearer to a question about
// the bridge than encoded alone.
//
//	make deps && eval "$(make -s env)"
//	go run ./examples/landmarks
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/onnx"
	"github.com/waymark-rag/waymark/models"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	text := "The harbour bridge joins the old town to the island. " +
		"It was opened in 1932 and carries eight lanes. " +
		"The island is known for its gardens."
	question := "When was the harbour bridge opened?"
	chunks := sentences(text)

	// The same model read in two ways: each chunk at its landmark, and each
	// chunk encoded alone.
	scores := map[landmark.Pooling][]float32{}
	for _, pooling := range []landmark.Pooling{landmark.Landmark, landmark.Naive} {
		model, err := onnx.Open(ctx, models.Default(), &onnx.Options{Library: os.Getenv("WAYMARK_ONNXRUNTIME"), Pooling: pooling})
		if err != nil {
			return err
		}
		defer model.Close()
		got, err := model.Encode(ctx, []landmark.Input{{Text: text, Chunks: chunks}})
		if err != nil {
			return err
		}
		query, err := model.EmbedQuery(ctx, question)
		if err != nil {
			return err
		}
		for _, v := range append(got[0].Landmarks, got[0].Document) {
			scores[pooling] = append(scores[pooling], cosine(query, v))
		}
	}
	fmt.Println("landmark  alone")
	for i, c := range append(chunks, chunker.Range{Start: 0, End: len(text)}) {
		fmt.Printf("%.3f     %.3f  bytes %-8s %.50q\n", scores[landmark.Landmark][i], scores[landmark.Naive][i], c, c.Of(text))
	}
	return nil
}

// sentences are ranges that tile a text; any would do.
func sentences(text string) []chunker.Range {
	var out []chunker.Range
	for start := 0; start < len(text); {
		end := len(text)
		if i := strings.Index(text[start:], ". "); i >= 0 {
			end = start + i + 2
		}
		out = append(out, chunker.Range{Start: start, End: end})
		start = end
	}
	return out
}

// cosine of two unit vectors.
func cosine(a, b []float32) (sum float32) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
