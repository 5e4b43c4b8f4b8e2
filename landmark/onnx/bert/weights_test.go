package bert

import (
	"errors"
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/landmark/modeldir"
	"github.com/waymark-rag/waymark/models"
)

func TestWeightsOfTheModelsThatShip(t *testing.T) {
	for name, layers := range map[string]int{"waymark-e5-small": 12, "waymark-e5-mini": 6} {
		dir, err := models.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		graph, err := fs.ReadFile(dir, "onnx/model_qint8.onnx")
		if err != nil {
			t.Fatal(err)
		}
		c, err := modeldir.ReadConstants(graph)
		if err != nil {
			t.Fatal(err)
		}
		w, err := newWeights(c)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := [...]int{w.width, w.heads, w.layers, w.hidden, w.split, w.positions, w.vocabulary}
		if want := [...]int{384, 12, layers, 1520, 16, 512, 30522}; got != want || w.epsilon != float64(float32(1e-12)) {
			t.Errorf("%s: shape %v and epsilon %v, want %v and 1e-12", name, got, w.epsilon, want)
		}
	}
}

// TestOtherGraphs holds that a graph that differs in anything is left to ONNX Runtime.
func TestOtherGraphs(t *testing.T) {
	shape := small{width: 64, heads: 2, layers: 2, hidden: 40, split: 16, positions: 8, vocabulary: 10}
	if _, err := newWeights(shape.constants(1)); err != nil {
		t.Fatal(err)
	}
	drop := func(name string) func(modeldir.Constants) {
		return func(c modeldir.Constants) { delete(c.Tensors, name) }
	}
	set := func(name string, x modeldir.Tensor) func(modeldir.Constants) {
		return func(c modeldir.Constants) { c.Tensors[name] = x }
	}
	for word, change := range map[string]func(modeldir.Constants){
		"no tables":                  drop("words.table_quantized"),
		"no tables of words and pos": drop("positions.table"),
		"no layers":                  drop("layers.0.up.product.weight_quantized"),
		"layers.1.down.bias":         drop("layers.1.down.bias"),
		"\"layers.0.relative\"":      set("layers.0.relative", modeldir.Tensor{Type: modeldir.Float, Dims: []int{1}, Data: make([]byte, 4)}),
		"layers.0.up.bias is":        set("layers.0.up.bias", modeldir.Tensor{Type: modeldir.Int64, Dims: []int{20}, Data: make([]byte, 160)}),
		"zero point of its weights":  set("layers.0.up.product.weight_zero_point", modeldir.Tensor{Type: modeldir.Int8, Dims: []int{40}, Data: append(make([]byte, 39), 1)}),
		"num_heads of 2 and of 4": func(c modeldir.Constants) {
			c.Numbers["MultiHeadAttention.num_heads"] = []float64{2, 2, 4, 4}
		},
		"3 times MultiHeadAttention": func(c modeldir.Constants) {
			c.Numbers["MultiHeadAttention.num_heads"] = []float64{2, 2, 2}
		},
		"heads of 32 or 64": func(c modeldir.Constants) {
			c.Numbers["MultiHeadAttention.num_heads"] = []float64{4, 4, 4, 4}
		},
		"0 heads": func(c modeldir.Constants) {
			c.Numbers["MultiHeadAttention.num_heads"] = []float64{0, 0, 0, 0}
		},
	} {
		c := shape.constants(1)
		change(c)
		if _, err := newWeights(c); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), word) {
			t.Errorf("error %v, want one of ErrUnsupported with %q", err, word)
		}
	}
	for name, shape := range map[string]small{
		"channels in floating point": {width: 64, heads: 2, layers: 1, hidden: 40, split: 8, positions: 8, vocabulary: 10},
		"a width of 96":              {width: 96, heads: 3, layers: 1, hidden: 40, positions: 8, vocabulary: 10},
	} {
		if _, err := newWeights(shape.constants(1)); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one of ErrUnsupported with %q", err, name)
		}
	}
	c := shape.constants(1)
	copy(c.Tensors["positions.table"].Data, []byte{0, 0, 0xc0, 0x7f})
	if v := c.Tensors["positions.table"].Floats()[0]; !math.IsNaN(float64(v)) {
		t.Fatal(v)
	}
	if _, err := newWeights(c); err == nil || errors.Is(err, ErrUnsupported) {
		t.Errorf("error %v: want NaN among the weights refused for good", err)
	}
}
