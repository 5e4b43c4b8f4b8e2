package bert

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/waymark-rag/waymark/landmark/modeldir"
)

// small is the shape of a model of random weights.
type small struct {
	width, heads, layers, hidden, split, positions, vocabulary int
}

// constants makes the constants that a graph of the shape has.
func (s small) constants(seed uint64) modeldir.Constants {
	rng := rand.New(rand.NewPCG(seed, 0))
	c := modeldir.Constants{Tensors: map[string]modeldir.Tensor{}, Numbers: map[string][]float64{}}
	count := func(dims []int) int {
		n := 1
		for _, d := range dims {
			n *= d
		}
		return n
	}
	floats := func(name string, mean, spread float64, dims ...int) {
		t := modeldir.Tensor{Type: modeldir.Float, Dims: dims}
		for range count(dims) {
			t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(float32(mean+spread*rng.NormFloat64())))
		}
		c.Tensors[name] = t
	}
	bytes := func(name string, kind modeldir.TensorType, zero bool, dims ...int) {
		t := modeldir.Tensor{Type: kind, Dims: dims, Data: make([]byte, count(dims))}
		for i := range t.Data {
			if !zero {
				t.Data[i] = byte(rng.Uint32())
			}
		}
		c.Tensors[name] = t
	}
	bytes("words.table_quantized", modeldir.Uint8, false, s.vocabulary, s.width)
	floats("words.table_scale", 0.02, 0)
	c.Tensors["words.table_zero_point"] = modeldir.Tensor{Type: modeldir.Uint8, Data: []byte{117}}
	floats("positions.table", 0, 0.5, s.positions, s.width)
	floats("embeddings.norm.weight", 1, 0.1, s.width)
	floats("embeddings.norm.bias", 0, 0.1, s.width)
	for i := range s.layers {
		w := weights{width: s.width, hidden: s.hidden}
		for _, p := range w.products() {
			name := layerName(i, p.name)
			bytes(name+".product.weight_quantized", modeldir.Int8, false, p.inner, p.outer)
			// What comes out is about as large as what goes in, and scores are large enough for few keys to count.
			size := 1 / (74 * math.Sqrt(float64(p.inner)))
			if p.name == "attention.query" {
				size *= 4
			}
			floats(name+".product.weight_scale", size, size/10, p.outer)
			bytes(name+".product.weight_zero_point", modeldir.Int8, true, p.outer)
			floats(name+".bias", 0, 0.2, p.outer)
		}
		for _, name := range []string{"attention_norm", "output_norm"} {
			floats(layerName(i, name+".weight"), 1, 0.1, s.width)
			floats(layerName(i, name+".bias"), 0, 0.1, s.width)
		}
		floats(layerName(i, "residual.divisors"), 1, 0.1, s.width) // that of attention is left out: all are 1
		if s.split > 0 {
			floats(layerName(i, "split.up.float.weight"), 0, 0.1, s.width, s.split)
			floats(layerName(i, "split.bias"), 0, 0.2, s.split)
			floats(layerName(i, "split.down.float.weight"), 0, 0.1, s.split, s.width)
		}
		c.Numbers["MultiHeadAttention.num_heads"] = append(c.Numbers["MultiHeadAttention.num_heads"], float64(s.heads), float64(s.heads))
	}
	for range 2*s.layers + 1 {
		c.Numbers["LayerNormalization.epsilon"] = append(c.Numbers["LayerNormalization.epsilon"], 1e-12)
	}
	c.Tensors["pick.axis"] = modeldir.Tensor{Type: modeldir.Int64, Dims: []int{1}, Data: make([]byte, 8)}
	return c
}

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
