package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/waymark-rag/waymark/eval"
	"github.com/waymark-rag/waymark/landmark/onnx"
	"github.com/waymark-rag/waymark/models"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
)

// bits compares what rows of 1, 4 and 8 bits a number find in real vectors: how
// many rows must be scored exactly before it is certain that the best are among
// them, and how many of the best are among the best few by the rows alone.
func (s settings) bits(ctx context.Context) error {
	var rows [][]float32
	for path := range strings.SplitSeq(s.stores, ",") {
		store, err := local.Open(ctx, path, &local.Options{ReadOnly: true})
		if err != nil {
			return err
		}
		for d, err := range store.Scroll(ctx, retriever.Filter{}, retriever.Want{Chunks: true, Vectors: true}) {
			if err != nil {
				return err
			}
			for _, c := range d.Chunks {
				rows = append(rows, c.Vector)
			}
		}
		if err := store.Close(); err != nil {
			return err
		}
	}
	m, err := onnx.Open(ctx, models.Default(), &onnx.Options{Library: os.Getenv("WAYMARK_ONNXRUNTIME")})
	if err != nil {
		return err
	}
	defer m.Close()
	set, err := eval.Read(s.set, eval.ReadOptions{Queries: s.queries})
	if err != nil {
		return err
	}
	var points [][]float32
	for _, q := range set.Queries {
		v, err := m.EmbedQuery(ctx, q.Text)
		if err != nil {
			return err
		}
		points = append(points, v)
	}
	fmt.Printf("%d chunks, %d queries\n\n| bits | centred | best | certain after, median | most | recall after 1x | 2x | 4x | 8x | 16x |\n|---|---|---|---|---|---|---|---|---|---|\n", len(rows), len(points))
	centre := mean(rows)
	for _, bits := range []int{1, 4, 8} {
		for _, about := range [][]float64{make([]float64, dim), centre} {
			approx, off := rounded(rows, about, bits)
			for _, k := range []int{10, 100} {
				fmt.Printf("| %d | %v | %d | %s |\n", bits, about[0] != 0, k, compare(rows, approx, off, points, k))
			}
		}
	}
	return nil
}

func mean(rows [][]float32) []float64 {
	out := make([]float64, dim)
	for _, r := range rows {
		for i, x := range r {
			out[i] += float64(x) / float64(len(rows))
		}
	}
	return out
}

// rounded returns rows as they come back from so many bits a number, relative to
// a point, and how far each is from what it was.
func rounded(rows [][]float32, about []float64, bits int) (out [][]float64, off []float64) {
	for _, r := range rows {
		largest, sum := 0.0, 0.0
		for i, x := range r {
			d := math.Abs(float64(x) - about[i])
			largest, sum = max(largest, d), sum+d
		}
		back, squares := make([]float64, dim), 0.0
		for i, x := range r {
			d := float64(x) - about[i]
			if bits == 1 {
				d = math.Copysign(sum/dim, d) // the closest with one size for all
			} else {
				step := largest / float64(int(1)<<(bits-1)-1)
				d = math.Round(d/step) * step
			}
			back[i] = about[i] + d
			squares += (back[i] - float64(x)) * (back[i] - float64(x))
		}
		out, off = append(out, back), append(off, math.Sqrt(squares))
	}
	return out, off
}

func compare(rows [][]float32, approx [][]float64, off []float64, points [][]float32, k int) string {
	var certain []int
	recall := make([]float64, 5)
	for _, q := range points {
		exact, rough := make([]float64, len(rows)), make([]float64, len(rows))
		low, high := make([]float64, len(rows)), make([]float64, len(rows))
		var length float64
		for _, x := range q {
			length += float64(x) * float64(x)
		}
		length = math.Sqrt(length)
		for i, r := range rows {
			for j, x := range q {
				exact[i] += float64(x) * float64(r[j])
				rough[i] += float64(x) * approx[i][j]
			}
			low[i], high[i] = rough[i]-length*off[i], rough[i]+length*off[i]
		}
		bar, n := kth(low, k), 0
		for _, h := range high {
			if h >= bar {
				n++
			}
		}
		certain = append(certain, n)
		right := kth(exact, k)
		for turn := range recall {
			from := kth(rough, k<<turn)
			for i := range rows {
				if exact[i] >= right && rough[i] >= from {
					recall[turn] += 1 / float64(k*len(points))
				}
			}
		}
	}
	slices.Sort(certain)
	out := fmt.Sprintf("%d | %d", certain[len(certain)/2], certain[len(certain)-1])
	for _, r := range recall {
		out += fmt.Sprintf(" | %.4f", min(r, 1))
	}
	return out
}

// kth returns the k-th highest.
func kth(list []float64, k int) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[max(0, len(sorted)-k)]
}
