//go:build cgo && onnx && amd64 && linux

package bert

import (
	"fmt"
	"math"
)

// reference computes the last states of all tokens with the weights in 64 bits, and nothing rounded to fewer.
func reference(w *weights, ids []int32) [][]float64 {
	f := func(name string) []float32 { return w.floats(name) }
	x := make([][]float64, len(ids))
	words, scale, zero := w.Tensors["words.table_quantized"].Data, f("words.table_scale")[0], float64(w.Tensors["words.table_zero_point"].Data[0])
	positions := f("positions.table")
	for t, id := range ids {
		x[t] = make([]float64, w.width)
		for k := range x[t] {
			x[t][k] = float64(scale)*(float64(words[int(id)*w.width+k])-zero) + float64(positions[t*w.width+k])
		}
	}
	norm := func(x [][]float64, name string) {
		weight, bias := f(name+".weight"), f(name+".bias")
		for _, row := range x {
			mean, square := 0.0, 0.0
			for _, v := range row {
				mean += v / float64(len(row))
			}
			for _, v := range row {
				square += (v - mean) * (v - mean) / float64(len(row))
			}
			for k := range row {
				row[k] = (row[k]-mean)/math.Sqrt(square+w.epsilon)*float64(weight[k]) + float64(bias[k])
			}
		}
	}
	linear := func(x [][]float64, name string, outer int) [][]float64 {
		weights, scale, bias := w.Tensors[name+".product.weight_quantized"].Data, f(name+".product.weight_scale"), f(name+".bias")
		out := make([][]float64, len(x))
		for t, row := range x {
			out[t] = make([]float64, outer)
			for n := range out[t] {
				for k, v := range row {
					out[t][n] += v * float64(int8(weights[k*outer+n])) * float64(scale[n])
				}
				out[t][n] += float64(bias[n])
			}
		}
		return out
	}
	gelu := func(v float64) float64 { return v / 2 * (1 + math.Erf(v/math.Sqrt2)) }
	norm(x, "embeddings.norm")
	for i := range w.layers {
		name := fmt.Sprintf("layers.%d.", i)
		q, k, v := linear(x, name+"attention.query", w.width), linear(x, name+"attention.key", w.width), linear(x, name+"attention.value", w.width)
		mixed := make([][]float64, len(x))
		size := w.width / w.heads
		for t := range mixed {
			mixed[t] = make([]float64, w.width)
			for h := range w.heads {
				shares, sum := make([]float64, len(x)), 0.0
				for u := range shares {
					for d := h * size; d < (h+1)*size; d++ {
						shares[u] += q[t][d] * k[u][d] / math.Sqrt(float64(size))
					}
					shares[u] = math.Exp(shares[u])
					sum += shares[u]
				}
				for u, share := range shares {
					for d := h * size; d < (h+1)*size; d++ {
						mixed[t][d] += share / sum * v[u][d]
					}
				}
			}
		}
		add := func(y [][]float64, divisors []float32) {
			for t, row := range y {
				for k := range row {
					x[t][k] = x[t][k]*float64(divisors[k]) + row[k]
				}
			}
		}
		add(linear(mixed, name+"attention.output", w.width), f(name+"attention.residual.divisors"))
		norm(x, name+"attention_norm")
		hidden := linear(x, name+"up", w.hidden)
		for _, row := range hidden {
			for k := range row {
				row[k] = gelu(row[k])
			}
		}
		y := linear(hidden, name+"down", w.width)
		if w.split > 0 {
			up, bias, down := f(name+"split.up.float.weight"), f(name+"split.bias"), f(name+"split.down.float.weight")
			for t, row := range x {
				for j := range w.split {
					h := float64(bias[j])
					for k, v := range row {
						h += v * float64(up[k*w.split+j])
					}
					for k := range y[t] {
						y[t][k] += gelu(h) * float64(down[j*w.width+k])
					}
				}
			}
		}
		add(y, f(name+"residual.divisors"))
		norm(x, name+"output_norm")
	}
	return x
}
