// Langchain-chat talks about a folder with langchaingo's own
// ConversationalRetrievalQA chain: questions from standard input, one a line, and
// below each answer the passages that it names. A question may lean on what was said
// before ("And in winter?"). The model is the built-in answerer: put any llms.Model in
// its place.
//
//	make deps && eval "$(make -s env)"
//	go run ./examples/langchain-chat examples/handbook
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/memory"
	"github.com/tmc/langchaingo/schema"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark/onnx"
	"github.com/waymark-rag/waymark/langchain"
	"github.com/waymark-rag/waymark/models"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever/local"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: langchain-chat DIR")
	}
	if err := run(context.Background(), os.Args[1], os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dir string, in io.Reader, out io.Writer) error {
	model, err := onnx.Open(ctx, models.Default(), &onnx.Options{Library: os.Getenv("WAYMARK_ONNXRUNTIME")})
	if err != nil {
		return err
	}
	defer model.Close()
	split, err := chunker.New(model, chunker.Options{})
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "waymark")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	store, err := local.Open(ctx, filepath.Join(temp, "index.db"), &local.Options{Create: true})
	if err != nil {
		return err
	}
	defer store.Close()

	// Files go in by Waymark's own indexing, which keeps their headings and places and,
	// run again, takes in what has changed. langchaingo is what asks.
	p, err := pipeline.New(pipeline.Parts{Chunker: split, Embedder: model, Store: store}, nil)
	if err != nil {
		return err
	}
	if _, err := p.Index(ctx, []string{dir}, pipeline.IndexOptions{}); err != nil {
		return err
	}
	retriever, err := langchain.NewRetriever(model, store, &langchain.RetrieverOptions{Labels: true})
	if err != nil {
		return err
	}

	// With two outputs, the memory must be told which of them was said.
	buffer := memory.NewConversationBuffer(memory.WithInputKey("question"), memory.WithOutputKey("text"))
	chain := chains.NewConversationalRetrievalQAFromLLM(langchain.NewExtractive(nil), retriever, buffer)
	chain.ReturnSourceDocuments = true
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		reply, err := chains.Call(ctx, chain, map[string]any{"question": lines.Text()})
		if err != nil {
			return err
		}
		answer := reply["text"].(string)
		fmt.Fprintln(out, answer)
		for i, d := range reply["source_documents"].([]schema.Document) {
			if mark := fmt.Sprintf("[%d]", i+1); strings.Contains(answer, mark) {
				m := d.Metadata
				fmt.Fprintf(out, "%s %s:%v-%v\n", mark, m[langchain.MetaDocument], m[langchain.MetaFirstLine], m[langchain.MetaLastLine])
			}
		}
		fmt.Fprintln(out)
	}
	return lines.Err()
}
