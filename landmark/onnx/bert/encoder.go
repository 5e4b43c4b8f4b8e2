//go:build cgo && onnx && amd64 && linux

package bert

// #cgo CFLAGS: -O3
// #cgo LDFLAGS: -lm
// #include "bert.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/modeldir"
)

// packTokens is how many tokens go through a layer together: enough to be worth the reading of its weights, few
// enough for their states to stay in the second-level cache.
const packTokens = 512

// Encoder is a landmark.Encoder. It is safe for concurrent use.
type Encoder struct {
	level       C.int
	width       int
	layers      int
	positions   int
	vocabulary  int
	words       []byte
	scale, zero float32
	slots       chan *C.bert_scratch // one for each call that may run; nil before its first use

	mu    sync.RWMutex // held for reading while model is in use
	model *C.bert_model
}

// New returns an encoder for an ONNX graph, which is not kept. Its error wraps ErrUnsupported when ONNX Runtime should run
// the graph instead.
func New(graph []byte, o Options) (*Encoder, error) {
	level := detect()
	if level == AMX && o.Level == VNNI {
		level = VNNI
	}
	if level == "" {
		return nil, fmt.Errorf("%w: the processor has no AVX-512 with VNNI", ErrUnsupported)
	}
	c, err := modeldir.ReadConstants(graph)
	if err != nil {
		return nil, err
	}
	w, err := newWeights(c)
	if err != nil {
		return nil, err
	}
	return newEncoder(w, level, o.Threads)
}

func newEncoder(w *weights, level Level, threads int) (*Encoder, error) {
	e := &Encoder{
		level: C.int(slices.Index(levels, level)), width: w.width, layers: w.layers, positions: w.positions, vocabulary: w.vocabulary,
		words: slices.Clone(w.Tensors["words.table_quantized"].Data),
		scale: w.Tensors["words.table_scale"].Floats()[0],
		zero:  float32(w.Tensors["words.table_zero_point"].Data[0]),
		slots: make(chan *C.bert_scratch, max(threads, 1)),
	}
	for range cap(e.slots) {
		e.slots <- nil
	}
	e.model = C.bert_new(C.bert_shape{
		width: C.int(w.width), heads: C.int(w.heads), hidden: C.int(w.hidden), split: C.int(w.split),
		layers: C.int(w.layers), positions: C.int(w.positions), epsilon: C.float(w.epsilon),
	})
	if e.model == nil {
		return nil, errors.New("no memory for the model's weights")
	}
	e.fill(w)
	return e, nil
}

// fill copies the weights into the form of the kernels.
func (e *Encoder) fill(w *weights) {
	m := e.model
	set(m.positions, w.floats("positions.table"))
	set(m.norm, w.floats("embeddings.norm.weight"))
	set(m.shift, w.floats("embeddings.norm.bias"))
	// Softmax is by powers of two.
	query := math.Log2E / math.Sqrt(float64(w.width/w.heads))
	layers := unsafe.Slice(m.layers, w.layers)
	for i := range layers {
		l := &layers[i]
		for k, p := range w.products() {
			to := []*C.bert_product{&l.query, &l.keyvalue, &l.keyvalue, &l.output, &l.up, &l.down}[k]
			first, factor := 0, 1.0
			switch p.name {
			case "attention.query":
				factor = query
			case "attention.value":
				first = w.width
			}
			name := layerName(i, p.name)
			weights := w.Tensors[name+".product.weight_quantized"].Data
			scale, bias := w.floats(name+".product.weight_scale"), w.floats(name+".bias")
			C.bert_pack(to, C.int(first), C.int(p.inner), C.int(p.outer), (*C.int8_t)(unsafe.Pointer(&weights[0])),
				(*C.float)(&scale[0]), (*C.float)(&bias[0]), C.float(factor))
		}
		set(l.attention_divisors, w.floats(layerName(i, "attention.residual.divisors")))
		set(l.attention_norm, w.floats(layerName(i, "attention_norm.weight")))
		set(l.attention_shift, w.floats(layerName(i, "attention_norm.bias")))
		set(l.divisors, w.floats(layerName(i, "residual.divisors")))
		set(l.norm, w.floats(layerName(i, "output_norm.weight")))
		set(l.shift, w.floats(layerName(i, "output_norm.bias")))
		if w.split > 0 {
			set(l.split_up, w.floats(layerName(i, "split.up.float.weight")))
			set(l.split_bias, w.floats(layerName(i, "split.bias")))
			set(l.split_down, w.floats(layerName(i, "split.down.float.weight")))
		}
	}
}

// floats returns a tensor of one number for each channel; ones where it was left out.
func (w *weights) floats(name string) []float32 {
	if t, ok := w.Tensors[name]; ok {
		return t.Floats()
	}
	out := make([]float32, w.width)
	for i := range out {
		out[i] = 1
	}
	return out
}

func set(to *C.float, from []float32) {
	copy(unsafe.Slice((*float32)(to), len(from)), from)
}

// Dim implements landmark.Encoder.
func (e *Encoder) Dim() int { return e.width }

// levels are the names of the C levels.
var levels = []Level{C.BERT_NONE: "", C.BERT_VNNI: VNNI, C.BERT_AMX: AMX}

// detect returns the best level of this processor, empty if there is none.
func detect() Level { return levels[C.bert_level()] }

// Level returns the level in use.
func (e *Encoder) Level() Level { return levels[e.level] }

// ErrClosed is returned by Encode after Close.
var ErrClosed = errors.New("the model is closed")

// Encode implements landmark.Encoder.
func (e *Encoder) Encode(ctx context.Context, batch []landmark.Sequence) ([][]float32, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.model == nil {
		return nil, ErrClosed
	}
	for i, s := range batch {
		if err := e.check(s); err != nil {
			return nil, fmt.Errorf("sequence %d: %w", i, err)
		}
	}
	out := make([][]float32, 0, len(batch))
	for len(batch) > 0 {
		n, tokens := 1, len(batch[0].IDs)
		for n < len(batch) && tokens+len(batch[n].IDs) <= packTokens {
			tokens += len(batch[n].IDs)
			n++
		}
		states, err := e.run(ctx, newPack(batch[:n]))
		if err != nil {
			return nil, err
		}
		for _, s := range batch[:n] {
			size := len(s.Positions) * e.width
			out = append(out, states[:size:size])
			states = states[size:]
		}
		batch = batch[n:]
	}
	return out, nil
}

// check refuses what the model has no room for.
func (e *Encoder) check(s landmark.Sequence) error {
	if err := s.Check(); err != nil {
		return err
	}
	if len(s.IDs) > e.positions {
		return fmt.Errorf("its %d tokens are more than the model's %d positions", len(s.IDs), e.positions)
	}
	if len(s.Positions) > len(s.IDs) {
		return fmt.Errorf("%d positions of %d tokens: want each once", len(s.Positions), len(s.IDs))
	}
	if id := slices.Max(s.IDs); int(id) >= e.vocabulary {
		return fmt.Errorf("token id %d: want 0 to %d", id, e.vocabulary-1)
	}
	return nil
}

// pack is some sequences, one behind the other.
type pack struct {
	ids    []int32
	starts []int32 // of each sequence in ids, and the end
	wanted []int32 // rows of ids
	spans  []int32 // of each sequence in wanted, and the end
}

func newPack(batch []landmark.Sequence) pack {
	p := pack{starts: []int32{0}, spans: []int32{0}}
	for _, s := range batch {
		for _, at := range s.Positions {
			p.wanted = append(p.wanted, int32(len(p.ids))+at)
		}
		p.ids = append(p.ids, s.IDs...)
		p.starts = append(p.starts, int32(len(p.ids)))
		p.spans = append(p.spans, int32(len(p.wanted)))
	}
	return p
}

// run puts a pack through the model once there is a free slot.
func (e *Encoder) run(ctx context.Context, p pack) ([]float32, error) {
	var s *C.bert_scratch
	select {
	case s = <-e.slots:
		defer func() { e.slots <- s }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if s == nil {
		if s = C.bert_scratch_new(e.model, C.int(max(packTokens, e.positions)), C.int(e.positions)); s == nil {
			return nil, errors.New("no memory for a call of the model")
		}
	}
	out := make([]float32, len(p.wanted)*e.width)
	if len(out) == 0 {
		return out, context.Cause(ctx)
	}
	sequences, spans := spansOf(p.starts), spansOf(p.spans)
	C.bert_embed(e.model, s, sequences, (*C.int32_t)(&p.ids[0]), (*C.uint8_t)(&e.words[0]), C.float(e.scale), C.float(e.zero))
	for i := range e.layers {
		if ctx.Err() != nil { // a free slot and a cancelled context: select picks either
			return nil, context.Cause(ctx)
		}
		if i < e.layers-1 {
			C.bert_run(e.level, e.model, s, C.int(i), sequences)
		} else {
			C.bert_last(e.level, e.model, s, sequences, spans, (*C.int32_t)(&p.wanted[0]), (*C.float)(&out[0]))
		}
	}
	return out, nil
}

func spansOf(starts []int32) C.bert_spans {
	return C.bert_spans{count: C.int(len(starts) - 1), starts: (*C.int32_t)(&starts[0])}
}

// Close frees the model once no call uses it. Calls that come later fail. It may be called again.
func (e *Encoder) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.model == nil {
		return
	}
	for range cap(e.slots) {
		if s := <-e.slots; s != nil {
			C.bert_scratch_free(s)
		}
		e.slots <- nil
	}
	C.bert_free(e.model)
	e.model = nil
}

// multiply gives the products of 32 rows of bytes with 32 columns of packed weights, of inner numbers each, so many times.
func multiply(level Level, rows []uint8, panels []int8, inner, times int) []int32 {
	out := make([]int32, 32*32)
	C.bert_multiply(C.int(slices.Index(levels, level)), (*C.uint8_t)(&rows[0]), (*C.int8_t)(&panels[0]), C.int(inner), C.int(times), (*C.int32_t)(&out[0]))
	return out
}

// Roof does the products of a level so many times, with all numbers in the nearest cache and nothing else to do, and returns how
// many operations that were, two for each multiplication: what no model can do quicker.
func Roof(level Level, times int) float64 {
	const inner = 384
	multiply(level, make([]uint8, 32*inner), make([]int8, 32*inner), inner, times)
	return 2 * 32 * 32 * inner * float64(times)
}
