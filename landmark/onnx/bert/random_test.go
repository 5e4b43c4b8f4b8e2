package bert

import (
	"encoding/binary"
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
