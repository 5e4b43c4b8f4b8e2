package local

import (
	"encoding/binary"
	"math"
)

// encodeFloat16 writes v as IEEE 754 half precision, little endian.
func encodeFloat16(v []float32) []byte {
	out := make([]byte, 2*len(v))
	for i, x := range v {
		binary.LittleEndian.PutUint16(out[2*i:], toFloat16(x))
	}
	return out
}

// decodeFloat16 reads what encodeFloat16 wrote and appends it to dst.
func decodeFloat16(dst []float32, b []byte) []float32 {
	for ; len(b) >= 2; b = b[2:] {
		dst = append(dst, fromFloat16(binary.LittleEndian.Uint16(b)))
	}
	return dst
}

// toFloat16 rounds to the nearest value, to the even one of two.
func toFloat16(x float32) uint16 {
	b := math.Float32bits(x)
	sign := uint16(b>>16) & 0x8000
	b &^= 1 << 31
	switch {
	case b > 0x7f800000: // NaN; the set bit keeps it from becoming infinite
		return sign | 0x7e00 | uint16(b>>13)&0x3ff
	case b >= 0x477ff000: // rounds to more than the largest, 65504
		return sign | 0x7c00
	case b >= 0x38800000: // normal: rebias the exponent from 127 to 15
		b -= (127 - 15) << 23
		return sign | uint16((b+0xfff+b>>13&1)>>13) // a carry moves up into the exponent
	}
	// Subnormal: adding 0.5 lines the 24 bits of the sum up so that the last
	// one is worth 2^-24, the unit of a subnormal half, rounded by the hardware.
	sum := math.Float32frombits(b) + 0.5
	return sign | uint16(math.Float32bits(sum)-math.Float32bits(0.5))
}

func fromFloat16(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exponent, fraction := uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exponent {
	case 0:
		x := float32(fraction) * (1.0 / (1 << 24))
		return math.Float32frombits(sign | math.Float32bits(x))
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
