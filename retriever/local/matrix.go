package local

import (
	"math"
	"slices"
)

// matrix holds vectors as 8-bit integers, each row with the scale that turns it
// back: value = scale x integer.
//
// A copy of a matrix stays as it is when rows are added to the original, since
// rows once written are never changed.
type matrix struct {
	dim    int
	values []int8
	scales []float32
}

func (m *matrix) rows() int { return len(m.scales) }

// grow makes room for n more rows.
func (m *matrix) grow(n int) {
	m.values = slices.Grow(m.values, n*m.dim)
	m.scales = slices.Grow(m.scales, n)
}

// add appends a row.
func (m *matrix) add(v []float32) {
	var scale float32
	m.values, scale = quantise(m.values, v)
	m.scales = append(m.scales, scale)
}

// dot is the approximate product of a row and a query.
func (m *matrix) dot(row int, q quantised) float32 {
	at := row * m.dim
	return float32(dotInt8(q.values, m.values[at:at+m.dim])) * m.scales[row] * q.scale
}

// quantised is a query in the form of a matrix row.
type quantised struct {
	values []int8
	scale  float32
}

func quantiseQuery(v []float32) quantised {
	values, scale := quantise(nil, v)
	return quantised{values, scale}
}

// quantise appends v, scaled so that its largest magnitude becomes 127, to dst.
func quantise(dst []int8, v []float32) (values []int8, scale float32) {
	var largest float32
	for _, x := range v {
		largest = max(largest, x, -x)
	}
	if largest == 0 { // no unit vector, but no division by zero either
		return append(dst, make([]int8, len(v))...), 0
	}
	at := len(dst)
	dst = append(dst, make([]int8, len(v))...)
	row, toInt := dst[at:], 127/largest
	for i, x := range v {
		y := x * toInt
		row[i] = int8(y + math.Float32frombits(math.Float32bits(0.5)|math.Float32bits(y)&(1<<31))) // half away from zero
	}
	return dst, largest / 127
}
