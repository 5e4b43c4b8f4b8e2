package main

import (
	"bytes"
	"runtime"
	"sync"
	"sync/atomic"
)

// read reads memory once with as many goroutines as a search has, in portions
// of the same size, and does nothing with it: what no search can be faster than.
func read(memory []byte) {
	const portion = 16 * 1024 * perRow
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (len(memory)+portion-1)/portion) {
		wg.Go(func() {
			for {
				from := (int(next.Add(1)) - 1) * portion
				if from >= len(memory) {
					return
				}
				part := memory[from:min(from+portion, len(memory))]
				readPart(part[:len(part)/128*128])
			}
		})
	}
	wg.Wait()
}

// readGo is for processors that readPart knows nothing faster for.
func readGo(b []byte) {
	if bytes.IndexByte(b, 0) >= 0 {
		panic("there is no 0")
	}
}
