package eval

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark/landmarktest"
	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
)

func newStore(t *testing.T) *local.Store {
	t.Helper()
	store, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), &local.Options{Create: true, Fingerprint: retriever.Fingerprint{Model: "fake", Dim: landmarktest.Config().Dim}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func newPipeline(t *testing.T) *pipeline.Pipeline {
	t.Helper()
	model := landmarktest.New()
	split, err := chunker.New(model, chunker.Options{Mode: chunker.Sentence, MaxTokens: 12})
	if err != nil {
		t.Fatal(err)
	}
	p, err := pipeline.New(pipeline.Parts{Chunker: split, Embedder: model, Store: newStore(t), Model: &llm.Extractive{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func newIndex(t *testing.T, s *Set) *Index {
	t.Helper()
	x, err := NewIndex(t.Context(), s, newPipeline(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func spec(t *testing.T, name string) Spec {
	t.Helper()
	s, err := ParseSpec(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func evaluate(t *testing.T, s *Set, x *Index, name string) *Result {
	t.Helper()
	r, err := Evaluate(t.Context(), s, x.System(spec(t, name), retriever.Weights{}, 0), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestEvaluate runs every way of ranking over the small set; the fake model finds
// chunks by the words they share with the question.
func TestEvaluate(t *testing.T) {
	s := read(t, harbour, ReadOptions{})
	x := newIndex(t, s)
	if x.Chunks() != 11 { // of 12 sentences, two of which fit into one
		t.Fatalf("%d chunks, want 11", x.Chunks())
	}
	for _, name := range []string{"bm25", "chunk", "both", "both+bm25", "chunk+bm25"} {
		r := evaluate(t, s, x, name)
		// Chunks end with a space that the gold spans lack, and one holds two sentences.
		for metric, want := range map[string]float64{"nDCG@10": 1, "MRR": 1, "hit@1": 1, "IoU@5": (46.0/47 + 32.0/33 + 27.0/56) / 3} {
			if got := mean(r.Column(metricNamed(metric))); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: %s %v, want %v: %v", name, metric, got, want, r.Values)
			}
		}
		if r.System != name || len(r.Run["q1"]) == 0 || r.Run["q1"][0].ID != "tides" {
			t.Errorf("%s: run of %s is %v", name, r.System, r.Run["q1"])
		}
	}
	r := evaluate(t, s, x, "document")
	if got := len(r.Run["q2"]); got != 3 {
		t.Errorf("ranked by document: %d documents, want all 3", got)
	}
}

// TestIndexFollowsSet encodes nothing twice and keeps nothing that the set lacks.
func TestIndexFollowsSet(t *testing.T) {
	s := read(t, harbour, ReadOptions{})
	p := newPipeline(t)
	var seen []int
	if _, err := NewIndex(t.Context(), s, p, func(done, all int) { seen = append(seen, done, all) }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(seen, []int{3, 3}) {
		t.Errorf("progress %v", seen)
	}
	s.Documents = s.Documents[1:]
	x, err := NewIndex(t.Context(), s, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := sortedKeys(x.chunks); !slices.Equal(got, []string{"crane", "ferry"}) {
		t.Errorf("documents %q", got)
	}
}

func TestCoarsen(t *testing.T) {
	d := retriever.Document{ID: "d", Text: "aabbc", Vector: []float32{1, 0}, Chunks: []retriever.Chunk{
		{Text: chunker.Range{Start: 0, End: 2}, Source: chunker.Range{Start: 10, End: 12}, Tokens: 2, Lines: retriever.Lines{First: 1, Last: 1}, Vector: []float32{1, 0}, Norm: 3},
		{Text: chunker.Range{Start: 2, End: 4}, Source: chunker.Range{Start: 12, End: 14}, Tokens: 2, Lines: retriever.Lines{First: 2, Last: 3}, Vector: []float32{0, 1}, Norm: 4},
		{Text: chunker.Range{Start: 4, End: 5}, Source: chunker.Range{Start: 14, End: 15}, Tokens: 1, Lines: retriever.Lines{First: 4, Last: 4}, Vector: []float32{0, 1}, Norm: 2},
	}}
	want := []retriever.Chunk{
		// The mean of (3, 0) and (0, 4) is (1.5, 2), of length 2.5.
		{Text: chunker.Range{Start: 0, End: 4}, Source: chunker.Range{Start: 10, End: 14}, Tokens: 4, Lines: retriever.Lines{First: 1, Last: 3}, Vector: []float32{0.6, 0.8}, Norm: 2.5},
		{Text: chunker.Range{Start: 4, End: 5}, Source: chunker.Range{Start: 14, End: 15}, Tokens: 1, Lines: retriever.Lines{First: 4, Last: 4}, Vector: []float32{0, 1}, Norm: 2},
	}
	if diff := cmp.Diff(want, Coarsen(d, 2).Chunks); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if len(d.Chunks) != 3 || d.Chunks[0].Vector[0] != 1 {
		t.Error("the document given was changed")
	}
}

// TestCoarser joins the chunks of a whole index: the documents' vectors stay, since
// the mean of all landmarks does.
func TestCoarser(t *testing.T) {
	s := read(t, harbour, ReadOptions{})
	fine := newIndex(t, s)
	coarse, err := fine.Coarser(t.Context(), 2, newStore(t))
	if err != nil {
		t.Fatal(err)
	}
	if coarse.Chunks() != 6 {
		t.Errorf("%d chunks, want 6 pairs", coarse.Chunks())
	}
	one, two := evaluate(t, s, fine, "document"), evaluate(t, s, coarse, "document")
	if d := cmp.Diff(one.Run, two.Run, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-6 })); d != "" {
		t.Errorf("ranked by document: fine -, coarse +:\n%s", d)
	}
	if got := MeanOf(evaluate(t, s, coarse, "chunk").Column(metricNamed("hit@1"))).Value; got != 1 {
		t.Errorf("hit@1 %v in pairs of sentences", got)
	}
}

func TestParseSpec(t *testing.T) {
	for name, want := range map[string]Spec{
		"bm25":               {Words: true, Join: 1},
		"bm25-x2":            {Words: true, Join: 2},
		"both+bm25":          {Words: true, Level: retriever.Both, Join: 1},
		"chunk-x4":           {Level: retriever.ChunkLevel, Join: 4},
		"late-chunk-x2+bm25": {Words: true, Level: retriever.ChunkLevel, Pooling: "late", Join: 2},
		"cls-document":       {Level: retriever.DocumentLevel, Pooling: "cls", Join: 1},
	} {
		got, err := ParseSpec(name)
		if err != nil || got != want || got.String() != name {
			t.Errorf("%s: %+v, written %s, error %v", name, got, got, err)
		}
	}
	for _, name := range []string{"", "late", "chunks", "chunk-x1", "chunk-x", "chunk+words", "bm25+bm25", "late-bm25", "chunk-late", "-chunk", "chunk-x2-x4", "chunk+"} {
		if s, err := ParseSpec(name); err == nil {
			t.Errorf("%q was taken as %+v", name, s)
		}
	}
	for _, name := range slices.Concat(DefaultSystems, AllSystems) {
		spec(t, name)
	}
}

func TestTune(t *testing.T) {
	s := read(t, harbour, ReadOptions{})
	x := newIndex(t, s)
	tuning, err := Tune(t.Context(), s, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(tuning.Trials) != len(landmarkShares)*len(lexicalWeights) || tuning.Metric != "hit@1" || tuning.Trials[0].Value != 1 {
		t.Errorf("tuning %+v", tuning)
	}
	r, err := Evaluate(t.Context(), s, x.Tuned(tuning.Trials[0]), nil)
	if err != nil || r.System != "tuned" || MeanOf(r.Column(metricNamed("hit@1"))).Value != tuning.Trials[0].Value {
		t.Errorf("the best trial again: %+v, error %v", r, err)
	}
}

// broken is a system that cannot rank one question.
type broken struct{}

var errBroken = errors.New("out of ink")

func (broken) Name() string { return "broken" }
func (broken) Rank(_ context.Context, q *Query) (Ranking, error) {
	if q.ID == "q2" {
		return Ranking{}, errBroken
	}
	return Ranking{}, nil
}

func TestEvaluateFails(t *testing.T) {
	s := read(t, harbour, ReadOptions{})
	if r, err := Evaluate(t.Context(), s, broken{}, nil); r != nil || !errors.Is(err, errBroken) {
		t.Errorf("result %v, error %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Evaluate(ctx, s, broken{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
