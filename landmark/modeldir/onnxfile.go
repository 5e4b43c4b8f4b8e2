package modeldir

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// This file reads the few fields of an ONNX file that say how to feed it. The
// file is one protobuf message; the numbers below are field numbers of
// onnx.proto, which never change.

// onnxSignature is what a graph wants and gives.
type onnxSignature struct {
	inputs, outputs []onnxValue
	external        []string // file names of weights kept outside, sorted
}

// onnxValue is a graph's input or output.
type onnxValue struct {
	name string
	elem uint64
	dims []int64 // -1 for a dimension that varies; nil for an unknown rank
}

// Element types of onnxValue.elem.
const (
	onnxFloat = 1
	onnxInt64 = 7
)

func (v onnxValue) String() string {
	return fmt.Sprintf("%q (element type %d, rank %d)", v.name, v.elem, len(v.dims))
}

func parseONNX(data []byte) (onnxSignature, error) {
	var s onnxSignature
	weights := make(map[string]bool)
	found := false
	err := fields(data, func(field int, _ uint64, graph []byte) error {
		if field != 7 { // ModelProto.graph
			return nil
		}
		found = true
		return fields(graph, func(field int, _ uint64, b []byte) (err error) {
			switch field { // of GraphProto
			case 5: // initializer
				var name string
				if name, err = s.addTensor(b); err == nil {
					weights[name] = true
				}
			case 11: // input
				s.inputs, err = appendValue(s.inputs, b)
			case 12: // output
				s.outputs, err = appendValue(s.outputs, b)
			}
			return err
		})
	})
	if err != nil {
		return s, err
	}
	if !found {
		return s, errors.New("it has no graph")
	}
	// Old files list the weights among the inputs as well.
	s.inputs = slices.DeleteFunc(s.inputs, func(v onnxValue) bool { return weights[v.name] })
	slices.Sort(s.external)
	s.external = slices.Compact(s.external)
	return s, nil
}

// addTensor notes where the weights of a TensorProto lie and returns its name.
func (s *onnxSignature) addTensor(data []byte) (name string, err error) {
	err = fields(data, func(field int, _ uint64, b []byte) error {
		switch field {
		case 8: // name
			name = string(b)
		case 13: // external_data, a key and a value
			var key, value string
			err := fields(b, func(field int, _ uint64, b []byte) error {
				switch field {
				case 1:
					key = string(b)
				case 2:
					value = string(b)
				}
				return nil
			})
			if key == "location" {
				s.external = append(s.external, value)
			}
			return err
		}
		return nil
	})
	return name, err
}

// appendValue reads a ValueInfoProto.
func appendValue(to []onnxValue, data []byte) ([]onnxValue, error) {
	var v onnxValue
	err := fields(data, func(field int, _ uint64, b []byte) error {
		switch field {
		case 1: // name
			v.name = string(b)
		case 2: // type
			return fields(b, func(field int, _ uint64, b []byte) error {
				if field != 1 { // TypeProto.tensor_type
					return nil
				}
				return fields(b, func(field int, n uint64, b []byte) error {
					switch field {
					case 1: // elem_type
						v.elem = n
					case 2: // shape
						return v.addDims(b)
					}
					return nil
				})
			})
		}
		return nil
	})
	return append(to, v), err
}

// addDims reads a TensorShapeProto.
func (v *onnxValue) addDims(data []byte) error {
	return fields(data, func(field int, _ uint64, b []byte) error {
		if field != 1 { // dim
			return nil
		}
		dim := int64(-1)
		err := fields(b, func(field int, n uint64, _ []byte) error {
			if field == 1 { // dim_value
				dim = int64(n)
			}
			return nil
		})
		v.dims = append(v.dims, dim)
		return err
	})
}

var errShort = errors.New("it ends early")

// fields calls f for each field of a protobuf message, with the value of a
// number of variable length or the bytes of anything else.
func fields(data []byte, f func(field int, number uint64, bytes []byte) error) error {
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		if n <= 0 {
			return errShort
		}
		data = data[n:]
		var number uint64
		var body []byte
		switch tag & 7 {
		case 0:
			if number, n = binary.Uvarint(data); n <= 0 {
				return errShort
			}
			data = data[n:]
		case 1, 5:
			size := 8
			if tag&7 == 5 {
				size = 4
			}
			if len(data) < size {
				return errShort
			}
			body = data[:size]
			data = data[size:]
		case 2:
			size, n := binary.Uvarint(data)
			if n <= 0 || size > uint64(len(data)-n) {
				return errShort
			}
			body = data[n : n+int(size)]
			data = data[n+int(size):]
		default:
			return fmt.Errorf("wire type %d is not used in ONNX", tag&7)
		}
		if err := f(int(tag>>3), number, body); err != nil {
			return err
		}
	}
	return nil
}
