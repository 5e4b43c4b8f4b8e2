// Command indexbench says what `waymark index` costs beside encoding alone.
//
//	go run ./internal/tools/indexbench [-rounds 5] DIR...
//
// Each folder is indexed into a new local store, and what was encoded meanwhile is then encoded again by itself, in turns. The ratio is
// that of the processor time; the times in seconds are those of the best round.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/internal/tools/cputime"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/onnx"
	"github.com/waymark-rag/waymark/models"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
)

func main() {
	rounds := flag.Int("rounds", 5, "rounds of which the median counts")
	flag.Parse()
	if err := run(context.Background(), flag.Args(), *rounds); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dirs []string, rounds int) error {
	model, err := onnx.Open(ctx, models.Default(), &onnx.Options{
		Library: os.Getenv("WAYMARK_ONNXRUNTIME"), Encode: landmark.Options{BatchTokens: 512},
	})
	if err != nil {
		return err
	}
	defer model.Close()
	fmt.Printf("%s, %s\n\n", model.Name, model.Runtime)
	fmt.Println("| folder | tokens | encoding, CPU s | index, CPU s | index / encoding, CPU | and by the clock |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, dir := range dirs {
		var alone, whole []cost
		var cpu, wall []float64
		tokens := 0
		for range rounds {
			rec := &recorder{Model: model.Model}
			w, err := measure(func() error { tokens, err = index(ctx, rec, dir); return err })
			if err != nil {
				return err
			}
			a, err := measure(func() error { _, err := model.Encode(ctx, rec.seen); return err })
			if err != nil {
				return err
			}
			alone, whole = append(alone, a), append(whole, w)
			cpu = append(cpu, w.cpu.Seconds()/a.cpu.Seconds())
			wall = append(wall, w.wall.Seconds()/a.wall.Seconds())
		}
		fmt.Printf("| %s | %d | %.2f | %.2f | %.3f | %.3f |\n", filepath.Base(dir), tokens, least(alone), least(whole), median(cpu), median(wall))
	}
	return nil
}

// recorder keeps what is encoded.
type recorder struct {
	*landmark.Model
	mu   sync.Mutex
	seen []landmark.Input
}

func (r *recorder) Encode(ctx context.Context, inputs []landmark.Input) ([]landmark.Embedding, error) {
	r.mu.Lock()
	r.seen = append(r.seen, inputs...)
	r.mu.Unlock()
	return r.Model.Encode(ctx, inputs)
}

// index is what the command does, into a store that is gone afterwards.
func index(ctx context.Context, model *recorder, dir string) (tokens int, err error) {
	temp, err := os.MkdirTemp("", "indexbench")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(temp)
	store, err := local.Open(ctx, filepath.Join(temp, "index.db"), &local.Options{Create: true, Fingerprint: retriever.Fingerprint{Model: "indexbench", Dim: model.Config().Dim}})
	if err != nil {
		return 0, err
	}
	defer store.Close()
	split, err := chunker.New(model, chunker.Options{MaxTokens: 128})
	if err != nil {
		return 0, err
	}
	p, err := pipeline.New(pipeline.Parts{Chunker: split, Embedder: model, Store: store}, nil)
	if err != nil {
		return 0, err
	}
	report, err := p.Index(ctx, []string{dir}, pipeline.IndexOptions{})
	if err != nil {
		return 0, err
	}
	return report.Tokens, store.Close()
}

type cost struct{ cpu, wall time.Duration }

func measure(f func() error) (cost, error) {
	start, cpu := time.Now(), cputime.Own()
	err := f()
	return cost{cputime.Own() - cpu, time.Since(start)}, err
}

func least(all []cost) float64 {
	return slices.MinFunc(all, func(a, b cost) int { return int(a.cpu - b.cpu) }).cpu.Seconds()
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
