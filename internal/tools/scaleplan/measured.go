package main

// What was measured. docs/scale.md has the commands, and says on what.
var measured = struct {
	// Of the whole line on real text and of the local store: seconds of a core.
	indexCPU       float64 // to read, cut, encode and store a chunk
	unchangedCPU   float64 // to find that a document has not changed
	localStoreCPU  float64 // to copy a chunk from a local store into another
	scanCPU        float64 // to compare a query with a chunk's vector
	localWordsCPU  float64 // for a chunk, to rank what a question's words match
	localWordsTail float64 // the same for one question in a hundred
	vectorFile     float64 // bytes of a chunk

	// Of Qdrant's engine: seconds of a core.
	clientCPU, storeCPU float64    // to store a chunk, on both sides
	buildCPU            graphCost  // for each chunk
	graphCPU            graphCost  // for a search
	wordsCPU            float64    // for a chunk, to search by words
	countCPU, listCPU   float64    // for a document
	queryBytes          float64    // of a whole search, both ways
	oneShard            []quantile // of searches by the graph
}{
	indexCPU: 6.5e-3, unchangedCPU: 30e-6, localStoreCPU: 0.116e-3, scanCPU: 41.6e-9, localWordsCPU: 0.69e-6, localWordsTail: 2.03e-6, vectorFile: 596,
	clientCPU: 0.089e-3, storeCPU: 0.349e-3, buildCPU: graphCost{0.579e-3, 30041}, graphCPU: graphCost{0.95e-3, 30041},
	wordsCPU: 4.7e-9, countCPU: 0.33e-6, listCPU: 44e-6, queryBytes: 38 << 10,
	oneShard: []quantile{{.5, 1.008e-3}, {.9, 1.157e-3}, {.99, 3.898e-3}, {.999, 58.456e-3}},
}

// graphCost is what was measured on a graph of so many chunks.
type graphCost struct{ seconds, chunks float64 }

// part is one of the things that are kept of a chunk, in bytes on disk and in memory.
type part struct {
	name         string
	disk, memory float64
}

// layout is a way to keep chunks in Qdrant.
type layout struct {
	name  string
	parts []part
}

var layouts = []layout{
	kept("float16", 780, 0, 768, 0, 369),
	kept("float32", 1549, 0, 1536, 0, 369),
	kept("int8", 780, 397, 768, 388, 369),
	onDisk,
}

// onDisk is the layout that needs least memory.
var onDisk = func() layout {
	l := kept("disk", 780, 397, 768, 388, 369)
	for i, p := range l.parts {
		switch p.name {
		case landmarkVectors, documentVectors, words:
			l.parts[i].memory = 0
		}
	}
	return l
}()

// The parts that need not be in memory.
const (
	landmarkVectors = "landmark vectors"
	documentVectors = "the place of a document vector"
	words           = "words, to search"
)

// kept is a layout by what its vectors and words take: those of the landmarks and their int8
// copies, those of documents and theirs. All that a search needs is in memory.
func kept(name string, landmark, landmark8, document, document8, word float64) layout {
	both := func(name string, bytes float64) part { return part{name, bytes, bytes} }
	return layout{name, []part{
		both(landmarkVectors, landmark),
		both("their int8 copies", landmark8),
		both(documentVectors, document),
		both("its int8 copy", document8),
		both("graph of the landmarks", 75),
		both("graph of the documents", 37),
		both(words, word),
		both("indexes of the payload", 467),
		both("IDs", 29),
		{"what these take more in memory", 0, 380},
		{"words, as stored", 427, 0},
		{"text and the rest of the payload", 784, 0},
	}}
}
