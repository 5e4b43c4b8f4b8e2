// Command gopipeline is what a Go program can be made of without Waymark: langchaingo
// splits the files of a folder, hugot encodes the pieces, chromem-go keeps and finds them.
//
//	gopipeline index BACKBONE FILE STORE DIR
//	gopipeline query BACKBONE FILE STORE QUESTION
//
// BACKBONE is the folder of backbone.py that is for hugot, and FILE a graph in it. Prints
// how many chunks there are, or the place of each of the ten best.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/knights-analytics/hugot"
	"github.com/knights-analytics/hugot/options"
	"github.com/knights-analytics/hugot/pipelines"
	"github.com/philippgille/chromem-go"
	"github.com/tmc/langchaingo/textsplitter"

	"github.com/waymark-rag/waymark/bench/peers/worker"
)

const (
	characters = 560 // of a piece, about 128 tokens
	batch      = 8
	limit      = 10
)

func main() { worker.Main(run) }

func run() error {
	if len(os.Args) != 6 {
		return errors.New("want: gopipeline index|query BACKBONE FILE STORE DIR|QUESTION")
	}
	action, backbone, file, store, what := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]
	library := filepath.Dir(os.Getenv("WAYMARK_ONNXRUNTIME"))
	s, err := hugot.NewORTSession(options.WithOnnxLibraryPath(library), options.WithIntraOpNumThreads(runtime.GOMAXPROCS(0)))
	if err != nil {
		return err
	}
	defer s.Destroy()
	encoder, err := hugot.NewPipeline(s, hugot.FeatureExtractionConfig{
		ModelPath: backbone, Name: "encoder", OnnxFilename: file,
		Options: []hugot.FeatureExtractionOption{pipelines.WithNormalization()},
	})
	if err != nil {
		return err
	}
	db, err := chromem.NewPersistentDB(store, false)
	if err != nil {
		return err
	}
	chunks, err := db.GetOrCreateCollection("chunks", nil, func(context.Context, string) ([]float32, error) {
		return nil, errors.New("all vectors are given")
	})
	if err != nil {
		return err
	}
	if action == "index" {
		return index(chunks, encoder, what)
	}
	return query(chunks, encoder, what)
}

func index(chunks *chromem.Collection, encoder *pipelines.FeatureExtractionPipeline, dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	splitter := textsplitter.NewRecursiveCharacter(textsplitter.WithChunkSize(characters), textsplitter.WithChunkOverlap(0))
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			return err
		}
		pieces, err := splitter.SplitText(string(text))
		if err != nil {
			return err
		}
		for start := 0; start < len(pieces); start += batch {
			if err := add(chunks, encoder, file.Name(), start, pieces[start:min(start+batch, len(pieces))]); err != nil {
				return err
			}
		}
	}
	fmt.Println(chunks.Count(), "chunks")
	return nil
}

// add encodes some pieces of a file and keeps them.
func add(chunks *chromem.Collection, encoder *pipelines.FeatureExtractionPipeline, name string, first int, pieces []string) error {
	texts := make([]string, len(pieces))
	for i, piece := range pieces {
		texts[i] = "passage: " + piece
	}
	out, err := encoder.RunPipeline(texts)
	if err != nil {
		return err
	}
	docs := make([]chromem.Document, len(pieces))
	for i, piece := range pieces {
		docs[i] = chromem.Document{ID: name + "/" + strconv.Itoa(first+i), Content: piece, Embedding: out.Embeddings[i]}
	}
	return chunks.AddDocuments(context.Background(), docs, 1)
}

func query(chunks *chromem.Collection, encoder *pipelines.FeatureExtractionPipeline, question string) error {
	out, err := encoder.RunPipeline([]string{"query: " + question})
	if err != nil {
		return err
	}
	hits, err := chunks.QueryEmbedding(context.Background(), out.Embeddings[0], min(limit, chunks.Count()), nil, nil)
	for _, hit := range hits {
		fmt.Println(hit.ID)
	}
	return err
}
