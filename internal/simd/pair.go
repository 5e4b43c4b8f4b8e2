package simd

import "fmt"

// Lane is what the length of a row must be a multiple of: fill it up with
// zeros. It is the widest register in bytes.
const Lane = 64

// Pad returns the length of a row that holds dim numbers.
func Pad(dim int) int { return (dim + Lane - 1) / Lane * Lane }

// Pair is two query vectors that go over the rows in one pass, so that a row is
// read from memory once.
type Pair struct {
	stride int
	values []int8   // one vector behind the other
	wide   []int16  // the same, for instructions that multiply 16 bits
	bias   [2]int32 // -128 x the sum of each, for instructions that take unsigned rows
}

// NewPair copies two vectors of the same length and pads them.
func NewPair(a, b []int8) *Pair {
	if len(a) != len(b) {
		panic(fmt.Sprintf("simd: a pair of %d and %d numbers", len(a), len(b)))
	}
	p := &Pair{stride: Pad(len(a))}
	p.values = make([]int8, 2*p.stride)
	copy(p.values, a)
	copy(p.values[p.stride:], b)
	p.wide = make([]int16, len(p.values))
	for i, x := range p.values {
		p.wide[i] = int16(x)
		p.bias[i/p.stride] -= 128 * int32(x)
	}
	return p
}

// Dots writes the products of the first and the second vector with each row to
// dst, side by side, and panics unless dst has room for them and the rows are
// whole.
func (p *Pair) Dots(dst []int32, rows []int8) {
	if p.stride == 0 {
		return
	}
	n := len(rows) / p.stride
	if len(rows) != n*p.stride || len(dst) < 2*n {
		panic(fmt.Sprintf("simd: %d numbers in rows of %d, %d places for products", len(rows), p.stride, len(dst)))
	}
	if n > 0 {
		best.dots(p, dst[:2*n], rows)
	}
}

// kernel is one way to do it.
type kernel struct {
	name string
	dots func(p *Pair, dst []int32, rows []int8)
}

// kernels holds those that work here, the best first, plain Go last.
var (
	kernels = append(native(), kernel{"go", dotsGo})
	best    = kernels[0]
)

// Kernel names the instructions in use.
func Kernel() string { return best.name }

// dotsGo is the twin that the others are checked against.
func dotsGo(p *Pair, dst []int32, rows []int8) {
	a, b := p.values[:p.stride], p.values[p.stride:]
	for i := 0; len(rows) > 0; i += 2 {
		dst[i], dst[i+1] = dotGo(a, rows[:p.stride]), dotGo(b, rows[:p.stride])
		rows = rows[p.stride:]
	}
}

func dotGo(a, b []int8) int32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 int32
	for len(a) >= 8 && len(b) >= 8 {
		s0 += int32(a[0])*int32(b[0]) + int32(a[4])*int32(b[4])
		s1 += int32(a[1])*int32(b[1]) + int32(a[5])*int32(b[5])
		s2 += int32(a[2])*int32(b[2]) + int32(a[6])*int32(b[6])
		s3 += int32(a[3])*int32(b[3]) + int32(a[7])*int32(b[7])
		a, b = a[8:], b[8:]
	}
	return s0 + s1 + s2 + s3
}
