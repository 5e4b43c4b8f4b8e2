package modeldirtest

import (
	"encoding/binary"
	"math"
)

// Graph describes an ONNX graph whose state of a token is the token's row in
// Table plus, for each of the inputs that it has, ten times the position id and
// a hundred times the token type.
type Graph struct {
	Table  [][]float32
	Inputs []string // beyond input_ids and attention_mask
	Output string   // empty means last_hidden_state
	// Pooled gives the output rank 2 on paper, as graphs with their own pooling
	// have.
	Pooled bool
	// External puts the table into this file, whose content TableBytes is.
	External string
}

// Bytes returns the ONNX file.
func (g Graph) Bytes() []byte {
	dim := len(g.Table[0])
	output := g.Output
	if output == "" {
		output = "last_hidden_state"
	}
	var graph []byte
	node := func(op, out string, in ...string) {
		var n []byte
		for _, name := range in {
			n = text(n, 1, name)
		}
		graph = text(graph, 1, string(text(text(n, 2, out), 4, op)))
	}
	tensor := func(name string, data []byte, external string, dims ...int) {
		var t []byte
		for _, d := range dims {
			t = number(t, 1, d)
		}
		t = text(number(t, 2, elemFloat), 8, name)
		if external != "" {
			t = text(t, 13, string(text(text(nil, 1, "location"), 2, external)))
			t = number(t, 14, 1)
		} else {
			t = text(t, 9, string(data))
		}
		graph = text(graph, 5, string(t))
	}
	tensor("table", g.TableBytes(), g.External, len(g.Table), dim)
	node("Gather", "state0", "table", "input_ids")
	state := "state0"
	for _, in := range g.Inputs {
		factor, ok := map[string]float32{"position_ids": 10, "token_type_ids": 100}[in]
		if !ok {
			continue
		}
		// A table of one column: 0, factor, 2 factor, ...
		column := make([]float32, 64)
		for i := range column {
			column[i] = factor * float32(i)
		}
		tensor(in+"_table", floats(column), "", len(column), 1)
		node("Gather", in+"_state", in+"_table", in)
		node("Add", "with_"+in, state, in+"_state")
		state = "with_" + in
	}
	node("Identity", output, state)
	graph = text(graph, 2, "lookup")
	for _, in := range append([]string{"input_ids", "attention_mask"}, g.Inputs...) {
		graph = text(graph, 11, string(value(in, elemInt64, "batch", "length")))
	}
	if g.Pooled {
		graph = text(graph, 12, string(value(output, elemFloat, "batch", "dim")))
	} else {
		graph = text(graph, 12, string(value(output, elemFloat, "batch", "length", "dim")))
	}
	model := number(nil, 1, 8) // IR version
	model = text(model, 7, string(graph))
	return text(model, 8, string(number(nil, 2, 13))) // operator set
}

// TableBytes is the table as ONNX stores it.
func (g Graph) TableBytes() []byte {
	var out []byte
	for _, row := range g.Table {
		out = append(out, floats(row)...)
	}
	return out
}

const elemFloat, elemInt64 = 1, 7

// value is a ValueInfoProto whose dimensions all vary.
func value(name string, elem int, dims ...string) []byte {
	var shape []byte
	for _, d := range dims {
		shape = text(shape, 1, string(text(nil, 2, d)))
	}
	tensor := text(number(nil, 1, elem), 2, string(shape))
	return text(text(nil, 1, name), 2, string(text(nil, 1, string(tensor))))
}

func floats(values []float32) []byte {
	var out []byte
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return out
}

// text appends a protobuf field of bytes, number one of a varint.
func text(to []byte, field int, value string) []byte {
	to = binary.AppendUvarint(to, uint64(field)<<3|2)
	to = binary.AppendUvarint(to, uint64(len(value)))
	return append(to, value...)
}

func number(to []byte, field, value int) []byte {
	to = binary.AppendUvarint(to, uint64(field)<<3)
	return binary.AppendUvarint(to, uint64(value))
}

// Comment is a part that can be appended to any ONNX file: its documentation.
func Comment(s string) []byte { return text(nil, 6, s) }
