//go:build unix

package main

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/waymark-rag/waymark/internal/tools/cputime"
	"github.com/waymark-rag/waymark/landmark/onnx"
	"github.com/waymark-rag/waymark/models"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
)

// asked is what the questions took, whole and by parts.
type asked struct {
	whole, encode, vectors, words took
	load                          took // opening and loading the store, without a model
}

// took is the time of each of some calls, in order of length once they are all there.
type took struct{ wall, cpu []time.Duration }

func (t *took) time(f func() error) error {
	begun, cpu := time.Now(), cputime.Own()
	err := f()
	t.wall, t.cpu = append(t.wall, time.Since(begun)), append(t.cpu, cputime.Own()-cpu)
	return err
}

func at(list []time.Duration, share float64) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[int(share*float64(len(sorted)-1))]
}

// asker asks questions within this process.
type asker struct{ model *onnx.Model }

func openAsker(ctx context.Context) (*asker, error) {
	m, err := onnx.Open(ctx, models.Default(), &onnx.Options{Library: os.Getenv("WAYMARK_ONNXRUNTIME")})
	return &asker{m}, err
}

func (a *asker) close() { a.model.Close() }

// ask measures questions on the index of a step: once each as a user asks them, and
// then the parts of that alone.
func (a *asker) ask(ctx context.Context, s *step, questions []string) error {
	for range 5 {
		if err := s.load.time(func() error { return load(ctx, s.index) }); err != nil {
			return err
		}
	}
	store, err := local.Open(ctx, s.index, &local.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer store.Close()
	weights := retriever.Request{}.WithDefaults().Weights
	for i, question := range questions {
		var m asked
		var vector []float32
		if err := m.encode.time(func() (err error) { vector, err = a.model.EmbedQuery(ctx, question); return err }); err != nil {
			return err
		}
		for part, q := range map[*took]retriever.Query{&m.vectors: {Vector: vector, Limit: 100, Weights: weights}, &m.words: {Words: question, Limit: 100}} {
			if err := part.time(func() error { _, err := store.Candidates(ctx, q); return err }); err != nil {
				return err
			}
		}
		if err := m.whole.time(func() error {
			v, err := a.model.EmbedQuery(ctx, question)
			if err != nil {
				return err
			}
			_, err = retriever.Search(ctx, store, retriever.Request{Vector: v, Words: question})
			return err
		}); err != nil {
			return err
		}
		if i >= min(5, len(questions)/2) { // not the first touches
			s.whole.add(m.whole)
			s.encode.add(m.encode)
			s.vectors.add(m.vectors)
			s.words.add(m.words)
		}
	}
	return nil
}

func (t *took) add(u took) { t.wall, t.cpu = append(t.wall, u.wall...), append(t.cpu, u.cpu...) }

func load(ctx context.Context, path string) error {
	store, err := local.Open(ctx, path, &local.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer store.Close()
	return store.Load(ctx)
}
