package local

import (
	"math"
	"slices"

	"github.com/waymark-rag/waymark/internal/simd"
)

// blockRows is how many rows a block of a matrix holds.
const blockRows = 4096

// matrix holds vectors as 8-bit integers: v = centre + scale x integers + e.
// What the vectors of a collection have in common is in the centre, so the
// integers, and with them e, are of what sets them apart. The length of e is
// kept, which bounds by how much a product is wrong.
//
// A clone of a matrix stays as it is when rows are added to the original, since
// rows once written are never changed.
type matrix struct {
	centre []float32
	blocks []block // of blockRows rows, but for the last
}

// block is rows side by side, each filled up with zeros to what the kernels
// want.
type block struct {
	values []int8
	rows   []rowScale
}

// rowScale turns a row's integers back, and says how wrong that is.
type rowScale struct {
	scale float32
	off   float32 // length of the difference to the vector, rounded up
}

func (m *matrix) dim() int    { return len(m.centre) }
func (m *matrix) stride() int { return simd.Pad(len(m.centre)) }

func (m *matrix) rows() int {
	if len(m.blocks) == 0 {
		return 0
	}
	last := len(m.blocks) - 1
	return last*blockRows + len(m.blocks[last].rows)
}

func (m *matrix) clone() matrix {
	return matrix{centre: m.centre, blocks: slices.Clone(m.blocks)}
}

// add appends a row.
func (m *matrix) add(v []float32) {
	if m.rows()%blockRows == 0 {
		m.blocks = append(m.blocks, block{})
	}
	b := &m.blocks[len(m.blocks)-1]
	at := len(b.values)
	if need := at + m.stride(); need > cap(b.values) {
		b.values = append(make([]int8, 0, min(2*need, blockRows*m.stride())), b.values...)
	}
	b.values = b.values[:at+m.stride()]
	row := b.values[at:]
	clear(row) // a snapshot that was given up may have been here
	b.rows = append(b.rows, quantise(row, v, m.centre))
}

// each calls do with the parts of blocks that hold the rows from..to.
func (m *matrix) each(from, to int, do func(b block, from, to int)) {
	for from < to {
		first := from % blockRows
		n := min(to-from, blockRows-first)
		do(m.blocks[from/blockRows], first, first+n)
		from += n
	}
}

// dots writes the products of a query with the rows from..to to dst, a pair
// each.
func (m *matrix) dots(dst []int32, q *point, from, to int) {
	stride := m.stride()
	m.each(from, to, func(b block, from, to int) {
		n := 2 * (to - from)
		q.pair.Dots(dst[:n], b.values[from*stride:to*stride])
		dst = dst[n:]
	})
}

// row returns how to read the products of a row.
func (m *matrix) row(i int) rowScale { return m.blocks[i/blockRows].rows[i%blockRows] }

// quantise writes v less the centre, scaled so that its largest magnitude
// becomes 127, to row.
func quantise(row []int8, v, centre []float32) rowScale {
	var largest float32
	for i, x := range v {
		x -= centre[i]
		largest = max(largest, x, -x)
	}
	scale := largest / 127
	var toInt float32
	if scale > 0 {
		toInt = 127 / largest
	}
	var squares float64
	for i, x := range v {
		n := nearest((x - centre[i]) * toInt)
		row[i] = n
		e := float64(x) - float64(centre[i]) - float64(scale)*float64(n)
		squares += e * e
	}
	return rowScale{scale, float32(math.Sqrt(squares) * (1 + 1e-6))} // more than rounding takes away
}

// nearest rounds half away from zero.
func nearest(x float32) int8 {
	return int8(x + math.Float32frombits(math.Float32bits(0.5)|math.Float32bits(x)&(1<<31)))
}

// point is a query in the form that a matrix takes: two rows of integers, of
// which the second holds what rounding took off the first.
type point struct {
	pair          *simd.Pair
	coarse, fine  float64 // scales of the two
	centre        float64 // product with the matrix's centre
	length        float64 // of the query
	perScale, all float64 // what the product is wrong by beside length x off: perScale x scale + all
}

func newPoint(v, centre []float32) *point {
	var largest, squares, product, rest float64
	for i, x := range v {
		x := float64(x)
		largest = max(largest, math.Abs(x))
		squares += x * x
		product += x * float64(centre[i])
	}
	p := &point{coarse: largest / 127, fine: largest / 127 / 254, centre: product, length: math.Sqrt(squares)}
	a, b := make([]int8, len(v)), make([]int8, len(v))
	for i, x := range v {
		if largest == 0 {
			break
		}
		a[i] = int8(math.Round(float64(x) / p.coarse))
		left := float64(x) - p.coarse*float64(a[i])
		b[i] = int8(math.Round(left / p.fine))
		left -= p.fine * float64(b[i])
		rest += left * left
	}
	p.pair = simd.NewPair(a, b)
	// By Cauchy and Schwarz; no row is longer than all numbers at 127.
	p.perScale = math.Sqrt(rest) * 127 * math.Sqrt(float64(len(v)))
	p.all = 1e-9 * (p.length + 1) // of the sums in 64 bits, here and of the stored vectors
	return p
}

// between returns what the true product of the query and a row lies between.
func (p *point) between(coarse, fine int32, r rowScale) (low, high float64) {
	scale := float64(r.scale)
	mid := p.centre + scale*(p.coarse*float64(coarse)+p.fine*float64(fine))
	off := p.length*float64(r.off) + p.perScale*scale + p.all
	return mid - off, mid + off
}
