package modeldir

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Constants are what a graph carries beside the order of its operators.
type Constants struct {
	// Tensors are the graph's weights by name, but for those in other files.
	Tensors map[string]Tensor
	// Numbers are the single numbers that operators are set to, under the
	// operator's type, a dot and the attribute: one for each operator, in order,
	// those of branches after the operator that has them.
	Numbers map[string][]float64
}

// Tensor is a constant of a graph.
type Tensor struct {
	Type TensorType
	Dims []int
	Data []byte // the numbers, little-endian, the last dimension's side by side
}

// TensorType is a TensorProto.DataType.
type TensorType uint64

// The types of tensors that are read.
const (
	Float TensorType = 1
	Uint8 TensorType = 2
	Int8  TensorType = 3
	Int64 TensorType = 7
)

func (t TensorType) size() int {
	switch t {
	case Float:
		return 4
	case Uint8, Int8:
		return 1
	case Int64:
		return 8
	}
	return 0
}

// ReadConstants reads an ONNX file. Tensors refer to data. Tensors of other
// types than those above are left out.
func ReadConstants(data []byte) (Constants, error) {
	c := Constants{make(map[string]Tensor), make(map[string][]float64)}
	err := fields(data, func(field int, _ uint64, graph []byte) error {
		if field != 7 { // ModelProto.graph
			return nil
		}
		return c.addGraph(graph)
	})
	return c, err
}

func (c Constants) addGraph(graph []byte) error {
	return fields(graph, func(field int, _ uint64, b []byte) error {
		switch field { // of GraphProto
		case 1:
			return c.addNode(b)
		case 5:
			return c.addTensor(b)
		}
		return nil
	})
}

// addNode reads a NodeProto.
func (c Constants) addNode(data []byte) error {
	var op string
	var attributes [][]byte
	err := fields(data, func(field int, _ uint64, b []byte) error {
		switch field {
		case 4:
			op = string(b)
		case 5:
			attributes = append(attributes, b)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, a := range attributes { // AttributeProto
		var name string
		var value float64
		var graph []byte
		kind := uint64(0)
		err := fields(a, func(field int, n uint64, b []byte) error {
			switch field {
			case 1:
				name = string(b)
			case 2:
				if len(b) == 4 {
					value = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
				}
			case 3:
				value = float64(int64(n))
			case 6:
				graph = b
			case 20:
				kind = n
			}
			return nil
		})
		if err != nil {
			return err
		}
		switch kind {
		case 1, 2: // a float, an integer
			c.Numbers[op+"."+name] = append(c.Numbers[op+"."+name], value)
		case 5:
			if err := c.addGraph(graph); err != nil {
				return err
			}
		}
	}
	return nil
}

// addTensor reads a TensorProto.
func (c Constants) addTensor(data []byte) error {
	var name string
	var t Tensor
	var packed []byte
	outside := false
	err := fields(data, func(field int, n uint64, b []byte) (err error) {
		switch field {
		case 1: // dims
			if b == nil {
				t.Dims = append(t.Dims, int(n))
				return nil
			}
			return varints(b, func(n uint64) { t.Dims = append(t.Dims, int(n)) })
		case 2:
			t.Type = TensorType(n)
		case 4, 5, 7: // float_data, int32_data, int64_data
			packed = b
		case 8:
			name = string(b)
		case 9:
			t.Data = b
		case 14: // data_location
			outside = n == 1
		}
		return nil
	})
	if err != nil || outside || t.Type.size() == 0 {
		return err
	}
	if t.Data == nil && t.Type == Float {
		t.Data = packed
	} else if t.Data == nil {
		t.Data = []byte{}
		err = varints(packed, func(n uint64) {
			t.Data = append(t.Data, binary.LittleEndian.AppendUint64(nil, n)[:t.Type.size()]...)
		})
	}
	count := 1
	for _, n := range t.Dims {
		if n < 0 || n > 0 && count > len(data)/n {
			return fmt.Errorf("its tensor %q of %d is longer than the file", name, t.Dims)
		}
		count *= n
	}
	if len(t.Data) != count*t.Type.size() {
		return fmt.Errorf("its tensor %q of %d has %d bytes: want %d", name, t.Dims, len(t.Data), count*t.Type.size())
	}
	c.Tensors[name] = t
	return err
}

// varints calls f for each of the numbers in data.
func varints(data []byte, f func(uint64)) error {
	for len(data) > 0 {
		n, size := binary.Uvarint(data)
		if size <= 0 {
			return errShort
		}
		f(n)
		data = data[size:]
	}
	return nil
}

// Floats returns the numbers of a tensor of that type.
func (t Tensor) Floats() []float32 {
	out := make([]float32, len(t.Data)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.Data[4*i:]))
	}
	return out
}

// Is tells whether a tensor has a type and dimensions.
func (t Tensor) Is(kind TensorType, dims ...int) bool {
	return t.Type == kind && slices.Equal(t.Dims, dims)
}
