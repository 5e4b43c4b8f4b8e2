package main

import "golang.org/x/sys/cpu"

// readPart reads memory as fast as it can. n is a multiple of 128.
func readPart(b []byte) {
	if cpu.X86.HasAVX2 {
		readAVX2(&b[0], len(b))
		return
	}
	readGo(b)
}

// readAVX2 loads n bytes, a multiple of 128 and not 0.
//
//go:noescape
func readAVX2(at *byte, n int)
