//go:build cgo && onnx

package onnx

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/landmarktest"
	"github.com/waymark-rag/waymark/landmark/modeldir"
	"github.com/waymark-rag/waymark/landmark/modeldir/modeldirtest"
)

var words = []int32{2958, 7440, 2441, 3137, 1996, 2008, 3643, 2930}

func TestEncoderContract(t *testing.T) {
	_, enc, _ := openParts(t, 2)
	landmarktest.TestEncoder(t, enc, words, 0)
}

// TestMask runs a short sequence beside a long one. Quantisation moves its
// states a little then, an attention that saw the padding would move them more.
func TestMask(t *testing.T) {
	_, enc, _ := openParts(t, 1)
	short := landmark.Sequence{IDs: []int32{101, 2958, 7440, 102}, Positions: []int32{3}}
	long := landmark.Sequence{IDs: make([]int32, 300), Positions: []int32{0, 299}}
	for i := range long.IDs {
		long.IDs[i] = words[i%len(words)]
	}
	alone, err := enc.run(context.Background(), []landmark.Sequence{short})
	if err != nil {
		t.Fatal(err)
	}
	both, err := enc.run(context.Background(), []landmark.Sequence{short, long})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(both[0]); n != enc.Dim() {
		t.Fatalf("%d values for the short sequence, want %d", n, enc.Dim())
	}
	if d := distance(alone[0], both[0]); d > 0.01 {
		t.Errorf("the state moved by a cosine distance of %.4f beside a longer sequence", d)
	}
}

// lookup is a small graph whose states are known.
func lookup(inputs ...string) modeldirtest.Graph {
	table := make([][]float32, modeldirtest.FirstWord+len(modeldirtest.Words))
	for i := range table {
		table[i] = []float32{1, float32(i) + 1, float32(i * i)}
	}
	return modeldirtest.Graph{Table: table, Inputs: inputs}
}

func openFS(t *testing.T, fsys fstest.MapFS) (*Model, error) {
	t.Helper()
	m, err := Open(context.Background(), fsys, &Options{Library: runtimeLibrary(), Threads: 1})
	if err == nil {
		t.Cleanup(func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return m, err
}

// TestGatherOutside covers graphs that give the states of all tokens.
func TestGatherOutside(t *testing.T) {
	spec, err := modeldir.Load(modeldirtest.SentenceTransformers(lookup("token_type_ids", "position_ids").Bytes(), 3))
	if err != nil {
		t.Fatal(err)
	}
	enc, err := newEncoder(fstest.MapFS{}, spec, Options{Library: runtimeLibrary(), Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer enc.close()
	got, err := enc.Encode(context.Background(), []landmark.Sequence{
		{IDs: []int32{5, 6}, Positions: []int32{1}},
		{IDs: []int32{7, 8, 9}, Positions: []int32{2, 0}},
		{IDs: []int32{4}},
	})
	if err != nil {
		t.Fatal(err)
	}
	// A row of the table plus ten times the position.
	want := [][]float32{{11, 17, 46}, {21, 30, 101, 1, 8, 49}, {}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("states differ (-want +got):\n%s", diff)
	}
	landmarktest.TestEncoder(t, enc, []int32{4, 5, 6, 7}, 0)

	for name, s := range map[string]landmark.Sequence{
		"no tokens":          {},
		"token id -1":        {IDs: []int32{-1}},
		"position 2 is":      {IDs: []int32{4, 5}, Positions: []int32{2}},
		"position -1 is":     {IDs: []int32{4, 5}, Positions: []int32{-1}},
		"out of data bounds": {IDs: []int32{4, 500}, Positions: []int32{1}},
	} {
		if out, err := enc.Encode(context.Background(), []landmark.Sequence{s}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("states %v, error %v: want an error with %q", out, err, name)
		}
	}
}

// TestSentenceTransformersEndToEnd pools a plain directory's states by hand.
func TestSentenceTransformersEndToEnd(t *testing.T) {
	m, err := openFS(t, modeldirtest.SentenceTransformers(lookup().Bytes(), 3))
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Encode(context.Background(), []landmark.Input{{Text: "Red boat."}})
	if err != nil {
		t.Fatal(err)
	}
	// [CLS] red boat [UNK] [SEP], with full length although the tokenizer file
	// truncates to 4.
	var sum [3]float64
	for _, id := range []float64{modeldirtest.CLS, modeldirtest.FirstWord + 1, modeldirtest.FirstWord + 3, modeldirtest.Unk, modeldirtest.Sep} {
		sum[0], sum[1], sum[2] = sum[0]+1, sum[1]+id+1, sum[2]+id*id
	}
	want := []float32{float32(sum[0]), float32(sum[1]), float32(sum[2])}
	if d := distance(got[0].Document, want); d > 1e-6 {
		t.Errorf("document vector %v, want the direction of %v", got[0].Document, want)
	}
	query, err := m.EmbedQuery(context.Background(), "Red boat.")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got[0].Document, query); diff != "" {
		t.Errorf("without prefixes a query is a document (-document +query):\n%s", diff)
	}
}

func TestExternalData(t *testing.T) {
	g := lookup()
	g.External = "model.onnx_data"
	files := modeldirtest.SentenceTransformers(g.Bytes(), 3)
	files["onnx/model.onnx_data"] = &fstest.MapFile{Data: g.TableBytes()}
	if _, err := openFS(t, files); err == nil || !strings.Contains(err.Error(), "folder on disk") {
		t.Errorf("error %v, want one that asks for a folder on disk", err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	m, err := Open(context.Background(), os.DirFS(dir), &Options{Library: runtimeLibrary()})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	got, err := m.EmbedQuery(context.Background(), "red")
	if err != nil || len(got) != 3 {
		t.Errorf("vector %v, error %v", got, err)
	}
}

// TestCancelWhileRunning stops a call that runs and one that waits for it.
func TestCancelWhileRunning(t *testing.T) {
	_, enc, _ := openParts(t, 1)
	batch := make([]landmark.Sequence, 64)
	for i := range batch {
		batch[i] = landmark.Sequence{IDs: make([]int32, 512), Positions: []int32{511}}
		for k := range batch[i].IDs {
			batch[i].IDs[k] = words[k%len(words)]
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for i := range errs {
		wg.Go(func() { _, errs[i] = enc.run(ctx, batch) })
	}
	for len(enc.slots) == 0 {
		runtime.Gosched()
	}
	cancel()
	wg.Wait()
	for _, err := range errs {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
	}
	if len(enc.slots) != 0 {
		t.Error("a slot is still taken")
	}
}

func TestCloseWaitsAndEnds(t *testing.T) {
	m := openDefault(t, 2)
	var wg sync.WaitGroup
	texts := []string{prose(200), prose(100)}
	for range 4 {
		wg.Go(func() {
			if _, err := m.EmbedDocuments(context.Background(), texts); err != nil && !errors.Is(err, errClosed) {
				t.Error(err)
			}
		})
	}
	wg.Go(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	wg.Wait()
	for range 2 {
		if err := m.Close(); err != nil {
			t.Errorf("closed again: %v", err)
		}
	}
	if _, err := m.EmbedQuery(context.Background(), "x"); !errors.Is(err, errClosed) {
		t.Errorf("error %v, want errClosed", err)
	}
}
