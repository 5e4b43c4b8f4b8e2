package bert

import (
	"fmt"
	"math"
	"strings"

	"github.com/waymark-rag/waymark/landmark/modeldir"
)

// weights are those of a graph that training/waymark_training/graph.py wrote and quantise.py brought to 8 bits.
// They are told by their names.
type weights struct {
	modeldir.Constants
	width, heads, layers, hidden, split, positions, vocabulary int
	epsilon                                                    float64
}

// What the kernels can take.
const (
	splitChannels = 16
	maxPositions  = 1 << 16
)

// newWeights finds out the shape of a graph and checks that each of its weights is there.
func newWeights(c modeldir.Constants) (*weights, error) {
	w := &weights{Constants: c}
	words := c.Tensors["words.table_quantized"]
	positions := c.Tensors["positions.table"]
	if words.Type != modeldir.Uint8 || len(words.Dims) != 2 || len(positions.Dims) != 2 {
		return nil, fmt.Errorf("%w: the graph has no tables of words and positions as training/ writes them", ErrUnsupported)
	}
	w.vocabulary, w.width, w.positions = words.Dims[0], words.Dims[1], positions.Dims[0]
	for w.Tensors[layerName(w.layers, "up.product.weight_quantized")].Dims != nil {
		w.layers++
	}
	if w.layers == 0 {
		return nil, fmt.Errorf("%w: the graph has no layers in 8 bits as training/ writes them", ErrUnsupported)
	}
	w.hidden = len(w.Tensors[layerName(0, "up.bias")].Data) / 4
	w.split = len(w.Tensors[layerName(0, "split.bias")].Data) / 4
	heads, err := w.setting("MultiHeadAttention.num_heads", 2*w.layers)
	if err != nil {
		return nil, err
	}
	if w.epsilon, err = w.setting("LayerNormalization.epsilon", 2*w.layers+1); err != nil {
		return nil, err
	}
	if heads < 1 || heads > float64(w.width) {
		return nil, fmt.Errorf("%w: %v heads for a width of %d", ErrUnsupported, heads, w.width)
	}
	w.heads = int(heads)
	size := w.width / w.heads
	switch {
	case w.width%64 != 0 || w.width%w.heads != 0 || size != 32 && size != 64:
		return nil, fmt.Errorf("%w: a width of %d with %d heads: want a multiple of 64, heads of 32 or 64", ErrUnsupported, w.width, w.heads)
	case w.split != 0 && w.split != splitChannels:
		return nil, fmt.Errorf("%w: %d channels in floating point: want none or %d", ErrUnsupported, w.split, splitChannels)
	case w.positions < 1 || w.positions > maxPositions || w.hidden < 1 || w.vocabulary < 1:
		return nil, fmt.Errorf("%w: %d positions, %d hidden channels, %d words", ErrUnsupported, w.positions, w.hidden, w.vocabulary)
	}
	return w, w.check()
}

func layerName(layer int, name string) string { return fmt.Sprintf("layers.%d.%s", layer, name) }

// setting returns the number that all operators of a kind are set to.
func (w *weights) setting(name string, count int) (float64, error) {
	all := w.Numbers[name]
	for _, v := range all {
		if v != all[0] {
			return 0, fmt.Errorf("%w: the graph has %s of %v and of %v", ErrUnsupported, name, all[0], v)
		}
	}
	if len(all) != count {
		return 0, fmt.Errorf("%w: %d times %s for %d layers", ErrUnsupported, len(all), name, w.layers)
	}
	return all[0], nil
}

// product names a product and its sizes.
type product struct {
	name         string
	inner, outer int
}

func (w *weights) products() []product {
	return []product{
		{"attention.query", w.width, w.width},
		{"attention.key", w.width, w.width},
		{"attention.value", w.width, w.width},
		{"attention.output", w.width, w.width},
		{"up", w.width, w.hidden},
		{"down", w.hidden, w.width},
	}
}

// check refuses a graph in which a weight is missing, has another size, or is one too many: a graph that has more in
// it than is known here computes something else.
func (w *weights) check() error {
	left := make(map[string]bool, len(w.Tensors))
	for name := range w.Tensors {
		if !strings.HasPrefix(name, "pick.") && name != "positions.start" { // of the operators that pick the states
			left[name] = true
		}
	}
	var bad error
	want := func(name string, kind modeldir.TensorType, dims ...int) {
		if t, ok := w.Tensors[name]; bad == nil && (!ok || !t.Is(kind, dims...)) {
			bad = fmt.Errorf("%w: the graph's %s is %v of %d, not of %d", ErrUnsupported, name, t.Type, t.Dims, dims)
		} else if kind == modeldir.Float && bad == nil && !finite(t.Floats()) {
			bad = fmt.Errorf("the graph's %s has numbers that are not finite", name)
		}
		delete(left, name)
	}
	want("words.table_quantized", modeldir.Uint8, w.vocabulary, w.width)
	want("words.table_scale", modeldir.Float)
	want("words.table_zero_point", modeldir.Uint8)
	want("positions.table", modeldir.Float, w.positions, w.width)
	want("embeddings.norm.weight", modeldir.Float, w.width)
	want("embeddings.norm.bias", modeldir.Float, w.width)
	for i := range w.layers {
		for _, p := range w.products() {
			name := layerName(i, p.name)
			want(name+".product.weight_quantized", modeldir.Int8, p.inner, p.outer)
			want(name+".product.weight_scale", modeldir.Float, p.outer)
			want(name+".product.weight_zero_point", modeldir.Int8, p.outer)
			for _, zero := range w.Tensors[name+".product.weight_zero_point"].Data {
				if zero != 0 && bad == nil {
					bad = fmt.Errorf("%w: %s has a zero point of its weights", ErrUnsupported, name)
				}
			}
			want(name+".bias", modeldir.Float, p.outer)
		}
		for _, name := range []string{"attention_norm.weight", "attention_norm.bias", "output_norm.weight", "output_norm.bias"} {
			want(layerName(i, name), modeldir.Float, w.width)
		}
		for _, name := range []string{"attention.residual.divisors", "residual.divisors"} {
			if _, ok := w.Tensors[layerName(i, name)]; ok { // left out where all are 1
				want(layerName(i, name), modeldir.Float, w.width)
			}
		}
		if w.split > 0 {
			want(layerName(i, "split.up.float.weight"), modeldir.Float, w.width, w.split)
			want(layerName(i, "split.bias"), modeldir.Float, w.split)
			want(layerName(i, "split.down.float.weight"), modeldir.Float, w.split, w.width)
		}
	}
	if bad != nil {
		return bad
	}
	for name := range left {
		return fmt.Errorf("%w: the graph has a constant %q, which is none of those known", ErrUnsupported, name)
	}
	return nil
}

func finite(values []float32) bool {
	for _, v := range values {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return false
		}
	}
	return true
}
