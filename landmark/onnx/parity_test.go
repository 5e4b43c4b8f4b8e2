//go:build cgo && onnx

package onnx

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark"
)

// parity is testdata/parity.json, which the Python side that trained the model
// wrote: what it fed the model and what came out.
type parity struct {
	Cases []struct {
		Kind    string
		Text    string
		Chunks  [][2]int `json:"chunk_token_byte_ranges"`
		Windows []struct {
			IDs       []int32
			Positions []int32 `json:"landmark_positions"`
		}
		FP32     [][]float32 `json:"landmarks_fp32"`
		Document []float32   `json:"document_fp32"`
		Int8     [][]float32 `json:"landmarks_int8"`
	}
}

// recorder notes the sequences that pass through it.
type recorder struct {
	landmark.Encoder
	mu   sync.Mutex
	seen []landmark.Sequence
}

func (r *recorder) Encode(ctx context.Context, batch []landmark.Sequence) ([][]float32, error) {
	r.mu.Lock()
	r.seen = append(r.seen, batch...)
	r.mu.Unlock()
	return r.Encoder.Encode(ctx, batch)
}

func TestParity(t *testing.T) {
	const (
		same  = 1e-4 // to the int8 graph under Python, where it ran: with AVX-512 VNNI
		drift = 0.01 // cosine distance to the fp32 checkpoint, and to the int8 graph elsewhere
	)
	data, err := os.ReadFile("testdata/parity.json")
	if err != nil {
		t.Fatal(err)
	}
	var p parity
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatal(err)
	}
	cpu, _ := os.ReadFile("/proc/cpuinfo") // not there: not Linux, so not vnni
	vnni := strings.Contains(string(cpu), "avx512_vnni")
	tok, enc, cfg := openParts(t, 2)
	for _, c := range p.Cases {
		t.Run(c.Kind+" "+c.Text[:3], func(t *testing.T) {
			rec := &recorder{Encoder: enc}
			cfg := cfg
			if c.Kind == "query" {
				cfg.DocumentPrefix = cfg.QueryPrefix
			}
			m, err := landmark.New(tok, rec, cfg, nil)
			if err != nil {
				t.Fatal(err)
			}
			var want []landmark.Sequence
			for _, w := range c.Windows {
				want = append(want, landmark.Sequence{IDs: w.IDs, Positions: w.Positions})
			}
			// One window at a time: the fixture fills windows to the brim.
			var landmarks [][]float32
			document := make([]float32, cfg.Dim)
			for _, in := range pieces(c.Text, c.Chunks, want) {
				out, err := m.Encode(context.Background(), []landmark.Input{in})
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range out[0].Landmarks {
					landmarks = append(landmarks, v)
					for k, x := range v {
						document[k] += x * out[0].Norms[i]
					}
				}
			}
			if diff := cmp.Diff(want, rec.seen); diff != "" {
				t.Fatalf("sequences differ (-want +got):\n%s", diff)
			}
			for i, got := range landmarks {
				far := 0.0
				for k := range got {
					far = max(far, math.Abs(float64(got[k]-c.Int8[i][k])))
				}
				d, d8 := distance(got, c.FP32[i]), distance(got, c.Int8[i])
				t.Logf("landmark %d: to int8 %.2g at most and cosine distance %.4f, to fp32 %.4f", i, far, d8, d)
				if d8 > drift {
					t.Errorf("landmark %d has cosine distance %.4f to the int8 vector, want at most %v", i, d8, drift)
				}
				if vnni && far > same {
					t.Errorf("landmark %d is up to %.2g from the int8 vector, want at most %v", i, far, same)
				}
				if d > drift {
					t.Errorf("landmark %d has cosine distance %.4f to the fp32 vector, want at most %v", i, d, drift)
				}
			}
			if d := distance(document, c.Document); d > drift {
				t.Errorf("the document vector has cosine distance %.4f to the fp32 one, want at most %v", d, drift)
			}
		})
	}
}

// pieces cuts a text where the windows do. The ranges of chunks leave out the
// blanks between them, which go to the chunk in front.
func pieces(text string, chunks [][2]int, windows []landmark.Sequence) []landmark.Input {
	start := func(i int) int {
		switch i {
		case 0:
			return 0
		case len(chunks):
			return len(text)
		}
		return chunks[i][0]
	}
	var out []landmark.Input
	first := 0
	for _, w := range windows {
		last := first + len(w.Positions)
		in := landmark.Input{Text: text[start(first):start(last)]}
		for i := first; i < last; i++ {
			in.Chunks = append(in.Chunks, chunker.Range{Start: start(i) - start(first), End: start(i+1) - start(first)})
		}
		out = append(out, in)
		first = last
	}
	return out
}

// distance is the cosine distance of two vectors.
func distance(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	return 1 - dot/math.Sqrt(aa*bb)
}
