package modeldir_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/landmark/modeldir"
	"github.com/waymark-rag/waymark/landmark/modeldir/modeldirtest"
)

// message builds a protobuf message of fields and their values.
func message(fields ...any) []byte {
	var out []byte
	for i := 0; i < len(fields); i += 2 {
		tag := func(wire int) { out = binary.AppendUvarint(out, uint64(fields[i].(int)<<3|wire)) }
		switch v := fields[i+1].(type) {
		case int:
			tag(0)
			out = binary.AppendUvarint(out, uint64(v))
		case string:
			tag(2)
			out = append(binary.AppendUvarint(out, uint64(len(v))), v...)
		case []byte:
			tag(2)
			out = append(binary.AppendUvarint(out, uint64(len(v))), v...)
		case float32:
			tag(5)
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
		}
	}
	return out
}

// TestReadConstants covers each way in which a file may hold a number.
func TestReadConstants(t *testing.T) {
	branch := message(1, message(4, "Inner", 5, message(1, "k", 3, 9, 20, 2)))
	graph := message(
		1, message(4, "Outer", 5, message(1, "k", 3, 7, 20, 2), 5, message(1, "scale", 2, float32(0.5), 20, 1), 5, message(1, "text", 4, "x", 20, 3)),
		1, message(4, "If", 5, message(1, "then_branch", 6, branch, 20, 5)),
		1, message(4, "Outer", 5, message(1, "k", 3, 8, 20, 2)),
		5, message(1, 2, 2, 1, 4, []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}, 8, "floats"),
		5, message(1, []byte{1, 3}, 2, 3, 9, []byte{1, 2, 0xff}, 8, "bytes"),
		5, message(2, 2, 5, []byte{0xc8, 1}, 8, "byte"),
		5, message(1, 1, 2, 7, 7, []byte{5}, 8, "integer"),
		5, message(1, 1, 2, 1, 14, 1, 8, "outside"),
		5, message(1, 1, 2, 11, 8, "double"),
	)
	c, err := modeldir.ReadConstants(message(7, graph))
	if err != nil {
		t.Fatal(err)
	}
	want := modeldir.Constants{
		Tensors: map[string]modeldir.Tensor{
			"floats":  {Type: modeldir.Float, Dims: []int{2}, Data: []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}},
			"bytes":   {Type: modeldir.Int8, Dims: []int{1, 3}, Data: []byte{1, 2, 0xff}},
			"byte":    {Type: modeldir.Uint8, Data: []byte{200}},
			"integer": {Type: modeldir.Int64, Dims: []int{1}, Data: []byte{5, 0, 0, 0, 0, 0, 0, 0}},
		},
		Numbers: map[string][]float64{"Outer.k": {7, 8}, "Outer.scale": {0.5}, "Inner.k": {9}},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("constants differ (-want +got):\n%s", diff)
	}
	if got := c.Tensors["floats"].Floats(); !slices.Equal(got, []float32{1, 2}) {
		t.Errorf("floats %v, want 1 and 2", got)
	}
	for name, tensor := range map[string][]byte{
		"too short": message(1, 3, 2, 3, 9, []byte{1, 2}, 8, "t"),
		"too long":  message(1, 1, 2, 3, 9, []byte{1, 2}, 8, "t"),
		"vast":      message(1, []byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0xff, 0xff, 0xff, 0xff, 0x0f}, 2, 1, 8, "t"),
		"negative":  message(1, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, 2, 1, 8, "t"),
	} {
		if _, err := modeldir.ReadConstants(message(7, message(5, tensor))); err == nil {
			t.Errorf("a tensor that is %s is taken", name)
		}
	}
}

func FuzzReadConstants(f *testing.F) {
	whole := modeldirtest.Graph{Table: [][]float32{{1, 2, 3}, {4, 5, 6}}}.Bytes()
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(bytes.Repeat([]byte{0x3a, 0x02}, 4))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := modeldir.ReadConstants(data)
		if err != nil {
			return
		}
		for name, tensor := range c.Tensors {
			if tensor.Type == modeldir.Float && len(tensor.Floats()) != len(tensor.Data)/4 {
				t.Errorf("%s: %d numbers of %d bytes", name, len(tensor.Floats()), len(tensor.Data))
			}
		}
	})
}
