//go:build cgo && onnx

package onnx

import (
	"errors"
	"fmt"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/modeldir"
)

// tensors are what one run of a graph takes and gives.
type tensors struct {
	inputs []ort.Value
	output *ort.Tensor[float32]
	length int // of the padded sequences
	wanted int // rows that the output has for each sequence
}

// build fills the graph's inputs from a batch and makes room for its output.
// Padding is whatever follows a sequence's own length; the mask hides it.
func (t *tensors) build(batch []landmark.Sequence, g modeldir.Graph, dim int) error {
	t.wanted = 1 // no tensor may be empty
	for _, s := range batch {
		t.length = max(t.length, len(s.IDs))
		t.wanted = max(t.wanted, len(s.Positions))
	}
	for _, name := range g.Inputs {
		width := t.length
		if name == modeldir.LandmarkPositions {
			width = t.wanted
		}
		data := make([]int64, len(batch)*width)
		for i, s := range batch {
			fill(data[i*width:(i+1)*width], name, s)
		}
		tensor, err := ort.NewTensor(ort.NewShape(int64(len(batch)), int64(width)), data)
		if err != nil {
			return fmt.Errorf("input %s: %w", name, err)
		}
		t.inputs = append(t.inputs, tensor)
	}
	if !g.Gathers {
		t.wanted = t.length
	}
	var err error
	t.output, err = ort.NewEmptyTensor[float32](ort.NewShape(int64(len(batch)), int64(t.wanted), int64(dim)))
	return err
}

// fill writes one sequence into its row of the input with that name.
func fill(row []int64, name string, s landmark.Sequence) {
	switch name {
	case modeldir.InputIDs:
		for i, id := range s.IDs {
			row[i] = int64(id)
		}
	case modeldir.AttentionMask:
		for i := range s.IDs {
			row[i] = 1
		}
	case modeldir.PositionIDs:
		for i := range row {
			row[i] = int64(i)
		}
	case modeldir.LandmarkPositions:
		for i, p := range s.Positions {
			row[i] = int64(p)
		}
	}
}

// read returns the states at each sequence's positions.
func (t *tensors) read(batch []landmark.Sequence, g modeldir.Graph, dim int) [][]float32 {
	data := t.output.GetData()
	out := make([][]float32, len(batch))
	for i, s := range batch {
		rows := data[i*t.wanted*dim:]
		out[i] = make([]float32, 0, len(s.Positions)*dim)
		if g.Gathers {
			out[i] = append(out[i], rows[:len(s.Positions)*dim]...)
			continue
		}
		for _, p := range s.Positions {
			out[i] = append(out[i], rows[int(p)*dim:int(p+1)*dim]...)
		}
	}
	return out
}

func (t *tensors) destroy() error {
	var errs []error
	for _, v := range t.inputs {
		errs = append(errs, v.Destroy())
	}
	if t.output != nil {
		errs = append(errs, t.output.Destroy())
	}
	return errors.Join(errs...)
}
