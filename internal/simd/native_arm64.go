package simd

import "golang.org/x/sys/cpu"

func native() []kernel {
	if !cpu.ARM64.HasASIMDDP {
		return nil
	}
	return []kernel{{"neon", func(p *Pair, dst []int32, rows []int8) {
		dotsNEON(&dst[0], &rows[0], &p.values[0], p.stride, len(dst)/2)
	}}}
}

// dotsNEON takes n rows of stride bytes, a multiple of 64; n is 1 or more.
//
//go:noescape
func dotsNEON(dst *int32, rows, pair *int8, stride, n int)
