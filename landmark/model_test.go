package landmark_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/landmarktest"
)

var ctx = context.Background()

func TestFakeEncoder(t *testing.T) {
	landmarktest.TestEncoder(t, &landmarktest.Encoder{Size: 32}, []int32{11, 12, 13, 14, 2}, 0)
}

// newModel returns the fake model with changes to its configuration.
func newModel(t testing.TB, change func(*landmark.Config), opts *landmark.Options) *landmark.Model {
	t.Helper()
	cfg := landmarktest.Config()
	if change != nil {
		change(&cfg)
	}
	m, err := landmark.New(landmarktest.Tokenizer{}, &landmarktest.Encoder{Size: cfg.Dim}, cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// variants are all ways to read a model.
func variants() map[string]func(*landmark.Config) {
	out := map[string]func(*landmark.Config){}
	for _, style := range []landmark.Style{landmark.Paper, landmark.ST, landmark.Decoder} {
		out["landmark "+string(style)] = func(c *landmark.Config) { c.Style = style }
	}
	for _, pooling := range []landmark.Pooling{landmark.CLS, landmark.Mean, landmark.Late, landmark.MultiCLS} {
		out[string(pooling)] = func(c *landmark.Config) { c.Pooling, c.Base = pooling, landmark.Mean }
	}
	for _, base := range []landmark.Pooling{landmark.Landmark, landmark.Mean, landmark.CLS} {
		out["naive "+string(base)] = func(c *landmark.Config) { c.Pooling, c.Base = landmark.Naive, base }
	}
	return out
}

func words(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "w%d ", i)
	}
	return b.String()
}

func checkUnit(t *testing.T, what string, v []float32) {
	t.Helper()
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(math.Abs(sum-1) < 1e-4) {
		t.Fatalf("%s has squared length %v, want 1", what, sum)
	}
}

// checkEmbedding holds what every embedding promises.
func checkEmbedding(t *testing.T, text string, e landmark.Embedding, pooledIsMean bool) {
	t.Helper()
	if len(e.Landmarks) != len(e.Chunks) || len(e.Norms) != len(e.Chunks) || len(e.Chunks) == 0 {
		t.Fatalf("%d landmarks, %d norms, %d chunks", len(e.Landmarks), len(e.Norms), len(e.Chunks))
	}
	at := 0
	for _, c := range e.Chunks {
		if c.Start != at {
			t.Fatalf("chunk %v does not start at %d", c, at)
		}
		at = c.End
	}
	if at != len(text) {
		t.Fatalf("chunks end at %d of %d bytes", at, len(text))
	}
	checkUnit(t, "document vector", e.Document)
	mean := make([]float64, len(e.Document))
	for i, v := range e.Landmarks {
		checkUnit(t, fmt.Sprintf("landmark %d", i), v)
		for k, x := range v {
			mean[k] += float64(x) * float64(e.Norms[i])
		}
	}
	if !pooledIsMean {
		return
	}
	var norm float64
	for _, x := range mean {
		norm += x * x
	}
	for k, x := range mean {
		if got := float64(e.Document[k]); math.Abs(x/math.Sqrt(norm)-got) > 1e-5 {
			t.Fatalf("document vector[%d] = %v, the mean of the raw landmarks gives %v", k, got, x/math.Sqrt(norm))
		}
	}
}

func TestEveryPoolingKeepsThePromises(t *testing.T) {
	texts := []string{
		"", " ", "\n\n", "one", words(0, 15), words(0, 16), words(0, 17), words(0, 300),
		strings.Repeat("x", 5000), "[SEP] [CLS] [PAD]", "a\x00b\xff\xfec", "猫" + strings.Repeat("語", 90),
	}
	for name, change := range variants() {
		t.Run(name, func(t *testing.T) {
			m := newModel(t, change, nil)
			got, err := m.EmbedLandmarks(ctx, texts)
			if err != nil {
				t.Fatal(err)
			}
			documents, err := m.EmbedDocuments(ctx, texts)
			if err != nil {
				t.Fatal(err)
			}
			for i, e := range got {
				checkEmbedding(t, texts[i], e, m.Config().Style != landmark.ST)
				if !slices.Equal(e.Document, documents[i]) {
					t.Fatalf("text %d: EmbedDocuments and EmbedLandmarks differ", i)
				}
				query, err := m.EmbedQuery(ctx, texts[i])
				if err != nil {
					t.Fatal(err)
				}
				checkUnit(t, "query", query)
			}
		})
	}
}

func TestLandmarksStandForTheirOwnChunk(t *testing.T) {
	m := newModel(t, nil, nil)
	text := words(0, 400)
	got, err := m.EmbedLandmarks(ctx, []string{text})
	if err != nil {
		t.Fatal(err)
	}
	e := got[0]
	if e.Windows < 4 || e.Tokens != 400 || e.Encoded < e.Tokens+len(e.Chunks) {
		t.Errorf("%d windows, %d tokens, %d encoded: want 4 or more, 400, and at least a landmark for each of %d chunks", e.Windows, e.Tokens, e.Encoded, len(e.Chunks))
	}
	for i, c := range e.Chunks {
		for _, word := range strings.Fields(c.Of(text)) {
			if s := landmarktest.Similarity(e.Landmarks[i], word); s < 0.05 {
				t.Fatalf("chunk %d does not hold its word %s: similarity %.2f", i, word, s)
			}
		}
	}
}

// A document of 100,000 words loses no chunk and costs linear work.
func TestLongDocument(t *testing.T) {
	m := newModel(t, nil, nil)
	text := words(0, 100_000)
	got, err := m.EmbedLandmarks(ctx, []string{text})
	if err != nil {
		t.Fatal(err)
	}
	e := got[0]
	checkEmbedding(t, text, e, true)
	if want := 100_000 / 16; len(e.Chunks) != want {
		t.Errorf("%d chunks, want %d", len(e.Chunks), want)
	}
	if e.Encoded > 2*e.Tokens {
		t.Errorf("%d positions encoded for %d tokens, want less than twice as many", e.Encoded, e.Tokens)
	}
	last := e.Chunks[len(e.Chunks)-1].Of(text)
	if s := landmarktest.Similarity(e.Landmarks[len(e.Landmarks)-1], "w99999"); !strings.Contains(last, "w99999") || s < 0.1 {
		t.Errorf("last chunk %q, similarity to its last word %.2f", last, s)
	}
}

// What stands above a text is seen by its chunks in every window and is no chunk itself.
func TestAbove(t *testing.T) {
	text := words(0, 400)
	for name, change := range variants() {
		t.Run(name, func(t *testing.T) {
			m := newModel(t, change, nil)
			plain, err := m.EmbedLandmarks(ctx, []string{text})
			if err != nil {
				t.Fatal(err)
			}
			chunks := plain[0].Chunks
			made, err := m.Encode(ctx, []landmark.Input{
				{Text: text, Chunks: chunks}, {Text: text, Chunks: chunks, Above: "a title of five words"},
				{Text: text, Chunks: chunks, Above: words(5000, 9000)}, {Text: "cat", Above: words(0, 9000)},
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plain[0], made[0]); diff != "" {
				t.Errorf("with nothing above: %s", diff)
			}
			titled, long := made[1], made[2]
			checkEmbedding(t, text, titled, m.Config().Style != landmark.ST)
			if titled.Tokens != 400 || len(titled.Landmarks) != len(chunks) || titled.Encoded < made[0].Encoded+5 {
				t.Errorf("%d tokens, %d landmarks, %d encoded in %d windows (%d without)", titled.Tokens, len(titled.Landmarks), titled.Encoded, titled.Windows, made[0].Encoded)
			}
			if long.Windows > 3*made[0].Windows {
				t.Errorf("%d windows under a text of thousands of words, %d without it", long.Windows, made[0].Windows)
			}
		})
	}
}

func TestVectorsDoNotDependOnTheBatch(t *testing.T) {
	texts := []string{"cat", words(0, 400), "", words(7, 90), "cat and dog", words(0, 31)}
	for name, change := range variants() {
		t.Run(name, func(t *testing.T) {
			m := newModel(t, change, &landmark.Options{BatchTokens: 200})
			together, err := m.EmbedLandmarks(ctx, texts)
			if err != nil {
				t.Fatal(err)
			}
			for i := range texts {
				alone, err := m.EmbedLandmarks(ctx, texts[i:i+1])
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(alone[0], together[i]); diff != "" {
					t.Fatalf("text %d differs alone and in a batch:\n%s", i, diff)
				}
			}
		})
	}
}

func TestBatchesKeepTheBudgets(t *testing.T) {
	texts := []string{words(0, 300), words(0, 40), words(0, 5), words(0, 9), words(0, 60), "x", "y z"}
	for _, test := range []struct {
		name       string
		one        bool
		opts       landmark.Options
		tokens, at int // most padded tokens and attention
	}{
		{"tokens", false, landmark.Options{BatchTokens: 128, Parallel: 1}, 128, 1 << 30},
		{"attention", false, landmark.Options{BatchAttention: 128 * 128, Parallel: 1}, 1 << 30, 128 * 128},
		{"one at a time", true, landmark.Options{Parallel: 1}, 128, 128 * 128},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := landmarktest.Config()
			cfg.OnePerBatch = test.one
			previous, sequences := math.MaxInt, 0
			enc := &landmarktest.Encoder{Size: cfg.Dim, Seen: func(batch []landmark.Sequence) {
				longest := len(batch[0].IDs)
				if n := len(batch) * longest; n > test.tokens {
					t.Errorf("a batch of %d padded tokens, want at most %d", n, test.tokens)
				}
				if n := len(batch) * longest * longest; n > test.at {
					t.Errorf("a batch with attention %d, want at most %d", n, test.at)
				}
				if test.one && len(batch) != 1 {
					t.Errorf("a batch of %d, want one sequence", len(batch))
				}
				for _, s := range batch {
					if len(s.IDs) > previous {
						t.Errorf("a sequence of %d after one of %d: want the longest first", len(s.IDs), previous)
					}
					previous = len(s.IDs)
				}
				sequences += len(batch)
			}}
			m, err := landmark.New(landmarktest.Tokenizer{}, enc, cfg, &test.opts)
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.EmbedLandmarks(ctx, texts)
			if err != nil {
				t.Fatal(err)
			}
			windows := 0
			for _, e := range got {
				windows += e.Windows
			}
			if windows != sequences {
				t.Errorf("%d windows reported, %d encoded", windows, sequences)
			}
		})
	}
}

func TestOverlapGivesContext(t *testing.T) {
	text := words(0, 200)
	without, err := newModel(t, nil, nil).EmbedLandmarks(ctx, []string{text})
	if err != nil {
		t.Fatal(err)
	}
	with, err := newModel(t, nil, &landmark.Options{Overlap: 40}).EmbedLandmarks(ctx, []string{text})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := without[0].Windows, with[0].Windows; a >= b {
		t.Errorf("%d windows without overlap, %d with: want more with", a, b)
	}
}

// A chunk that is larger than a window by itself is still one chunk with one
// vector, made from all of its tokens.
func TestOversizeChunk(t *testing.T) {
	m := newModel(t, nil, nil)
	text := words(0, 500)
	got, err := m.Encode(ctx, []landmark.Input{{Text: text}})
	if err != nil {
		t.Fatal(err)
	}
	checkEmbedding(t, text, got[0], true)
	for from := 0; from < 500; from += 100 {
		similarity := 0.0
		for _, word := range strings.Fields(words(from, from+100)) {
			similarity += landmarktest.Similarity(got[0].Landmarks[0], word) / 100
		}
		if similarity < 0.02 { // 1/sqrt(500) = 0.045 for a vector made of all
			t.Errorf("similarity to the words from %d on is %.3f: they were lost", from, similarity)
		}
	}
}

func TestQueryIsADocumentOfOneChunk(t *testing.T) {
	m := newModel(t, func(c *landmark.Config) { c.QueryPrefix = c.DocumentPrefix }, nil)
	text := words(0, 40)
	query, err := m.EmbedQuery(ctx, text)
	if err != nil {
		t.Fatal(err)
	}
	document, err := m.Encode(ctx, []landmark.Input{{Text: text, Chunks: []chunker.Range{{Start: 0, End: len(text)}}}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(document[0].Document, query); diff != "" {
		t.Errorf("query and one-chunk document differ:\n%s", diff)
	}
}

func TestInputsAreNotChanged(t *testing.T) {
	m := newModel(t, nil, nil)
	chunks := []chunker.Range{{Start: 0, End: 3}, {Start: 3, End: 7}}
	in := []landmark.Input{{Text: "one two", Chunks: slices.Clone(chunks)}}
	got, err := m.Encode(ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	got[0].Chunks[0].End = 99
	if !slices.Equal(in[0].Chunks, chunks) {
		t.Errorf("chunks of the input are %v, were %v", in[0].Chunks, chunks)
	}
}

func TestErrors(t *testing.T) {
	boom := errors.New("boom")
	broken := func(states func([]landmark.Sequence) [][]float32, err error) *landmark.Model {
		m, e := landmark.New(landmarktest.Tokenizer{}, encoderFunc{landmarktest.Config().Dim, states, err}, landmarktest.Config(), nil)
		if e != nil {
			t.Fatal(e)
		}
		return m
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	ok := newModel(t, nil, nil)
	tests := []struct {
		name string
		err  func() error
		want string
	}{
		{"encoder fails", func() error { _, err := broken(nil, boom).EmbedQuery(ctx, "x"); return err }, "boom"},
		{"encoder returns too few", func() error {
			_, err := broken(func([]landmark.Sequence) [][]float32 { return nil }, nil).EmbedQuery(ctx, "x")
			return err
		}, "returned 0 results for 1 sequences"},
		{"encoder returns half a state", func() error {
			_, err := broken(func([]landmark.Sequence) [][]float32 { return [][]float32{{1}} }, nil).EmbedQuery(ctx, "x")
			return err
		}, "returned 1 values for a sequence, want 256"},
		{"encoder returns zeros", func() error {
			_, err := broken(func(b []landmark.Sequence) [][]float32 { return [][]float32{make([]float32, 256)} }, nil).EmbedQuery(ctx, "x")
			return err
		}, "state of length 0"},
		{"encoder returns NaN", func() error {
			nan := slices.Repeat([]float32{float32(math.NaN())}, 256)
			_, err := broken(func(b []landmark.Sequence) [][]float32 { return [][]float32{nan} }, nil).EmbedQuery(ctx, "x")
			return err
		}, "state of length NaN"},
		{"cancelled", func() error { _, err := ok.EmbedDocuments(cancelled, []string{words(0, 500)}); return err }, "context canceled"},
		{"chunks with a gap", func() error {
			_, err := ok.Encode(ctx, []landmark.Input{{Text: "ok"}, {Text: "abc", Chunks: []chunker.Range{{Start: 0, End: 1}, {Start: 2, End: 3}}}})
			return err
		}, "text 1: chunk 1 covers bytes 2-3"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := test.err(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

// encoderFunc is an encoder that misbehaves as told.
type encoderFunc struct {
	dim    int
	states func([]landmark.Sequence) [][]float32
	err    error
}

func (e encoderFunc) Dim() int { return e.dim }

func (e encoderFunc) Encode(_ context.Context, batch []landmark.Sequence) ([][]float32, error) {
	if e.err != nil {
		return nil, e.err
	}
	return e.states(batch), nil
}

func TestConfigIsRefused(t *testing.T) {
	tests := []struct {
		change func(*landmark.Config)
		want   string
	}{
		{func(c *landmark.Config) { c.Pad = c.Landmark }, "also the padding id"},
		{func(c *landmark.Config) { c.Landmark = -1 }, "names no landmark token"},
		{func(c *landmark.Config) { c.Style = "middle" }, `landmark style "middle"`},
		{func(c *landmark.Config) { c.Pooling = "max" }, `pooling "max"`},
		{func(c *landmark.Config) { c.Base = landmark.Late }, `base pooling "late"`},
		{func(c *landmark.Config) { c.Pooling, c.CLS = landmark.MultiCLS, -1 }, "needs a CLS token"},
		{func(c *landmark.Config) { c.Dim = 65 }, "the encoder's states have 256"},
		{func(c *landmark.Config) { c.Dim = 0 }, "dimension 0"},
		{func(c *landmark.Config) { c.MaxLength = 8 }, "max length 8"},
		{func(c *landmark.Config) { c.Interval = -1 }, "interval -1"},
		{func(c *landmark.Config) { c.QueryPrefix = words(0, 130) }, "leave no room"},
	}
	for _, test := range tests {
		cfg := landmarktest.Config()
		test.change(&cfg)
		_, err := landmark.New(landmarktest.Tokenizer{}, &landmarktest.Encoder{Size: 256}, cfg, nil)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want one with %q", err, test.want)
		}
	}
}

func FuzzEncode(f *testing.F) {
	f.Add("one two three", uint16(3), uint8(0))
	f.Add(words(0, 100), uint16(17), uint8(2))
	f.Add("\x00\xff"+strings.Repeat("é", 50), uint16(5), uint8(7))
	names := make([]string, 0)
	all := variants()
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	f.Fuzz(func(t *testing.T, text string, step uint16, variant uint8) {
		name := names[int(variant)%len(names)]
		m := newModel(t, all[name], nil)
		var chunks []chunker.Range // any tiling, also inside of runes
		for at := 0; at < len(text); at += int(step) + 1 {
			chunks = append(chunks, chunker.Range{Start: at, End: min(at+int(step)+1, len(text))})
		}
		got, err := m.Encode(ctx, []landmark.Input{{Text: text, Chunks: chunks}})
		if err != nil {
			t.Fatal(err)
		}
		checkEmbedding(t, text, got[0], m.Config().Style != landmark.ST)
	})
}

func ExampleModel_EmbedLandmarks() {
	m := landmarktest.New() // a real one comes from landmark/onnx
	text := "The harbour bridge opened in 1932. " + words(0, 20) + "It carries eight lanes."
	got, err := m.EmbedLandmarks(context.Background(), []string{text})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, c := range got[0].Chunks {
		fmt.Printf("%d: %d dimensions for bytes %s\n", i, len(got[0].Landmarks[i]), c)
	}
	// Output:
	// 0: 256 dimensions for bytes 0-62
	// 1: 256 dimensions for bytes 62-128
}
