package simd

import "golang.org/x/sys/cpu"

func native() []kernel {
	var out []kernel
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VNNI {
		out = append(out, kernel{"avx512vnni", func(p *Pair, dst []int32, rows []int8) {
			dotsVNNI(&dst[0], &rows[0], &p.values[0], &p.bias, p.stride, len(dst)/2)
		}})
	}
	if cpu.X86.HasAVX2 {
		out = append(out, kernel{"avx2", func(p *Pair, dst []int32, rows []int8) {
			dotsAVX2(&dst[0], &rows[0], &p.wide[0], p.stride, len(dst)/2)
		}})
	}
	return out
}

// dotsVNNI takes n rows of stride bytes, a multiple of 64; n is 1 or more.
//
//go:noescape
func dotsVNNI(dst *int32, rows, pair *int8, bias *[2]int32, stride, n int)

// dotsAVX2 does the same with a pair of 16 bits a number.
//
//go:noescape
func dotsAVX2(dst *int32, rows *int8, pair *int16, stride, n int)
