package ingest

import (
	"fmt"
	"iter"

	"github.com/waymark-rag/waymark/chunker"
)

// passPanics lets panics through, so that tests and fuzzing find them.
var passPanics = false

// failed is the Skip for a reader that panicked: one bad file must not end a run, nor
// a server. It is a fault of the reader, whatever the file holds.
func failed(p any) *Skip {
	if passPanics {
		panic(p)
	}
	return &Skip{Reason: Damaged, Detail: fmt.Sprintf("its reader failed, which is a fault of the program; please report it with the file: %v", p)}
}

// chosen is formatOf, which looks into some files.
func chosen(name string, data []byte) (f format, skip *Skip) {
	defer func() {
		if p := recover(); p != nil {
			f, skip = format{}, failed(p)
		}
	}()
	return formatOf(name, data)
}

// read is what a reader makes of content.
func read(r reader, b *budget, data []byte) (doc chunker.Document, skip *Skip) {
	defer func() {
		if p := recover(); p != nil {
			doc, skip = chunker.Document{}, failed(p)
		}
	}()
	return r.read(b, data)
}

// members are those of a container; a panic of its own is its last Skip, one of the
// receiver's goes on.
func members(c container, b *budget, data []byte) iter.Seq2[member, *Skip] {
	return func(yield func(member, *Skip) bool) {
		outside := false
		defer func() {
			if outside {
				return
			}
			if p := recover(); p != nil {
				yield(member{}, failed(p))
			}
		}()
		c.members(b, data)(func(m member, skip *Skip) bool {
			outside = true
			more := yield(m, skip)
			outside = false
			return more
		})
	}
}
