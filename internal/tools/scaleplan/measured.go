package main

// What was measured. docs/scale.md has the commands, and says on what.
var measured = struct {
	// Of the whole line on real text and of the local store: seconds of a core.
	indexCPU      float64 // to read, cut, encode and store a chunk
	unchangedCPU  float64 // to find that a document has not changed
	localStoreCPU float64 // to copy a chunk from a local store into another
	scanCPU       float64 // to compare a query with a chunk's vector
	localWordsCPU float64 // for a chunk, to rank what a question's words match
	vectorFile    float64 // bytes of a chunk

	// Of Qdrant's engine: seconds of a core.
	clientCPU, storeCPU float64    // to store a chunk, on both sides
	buildCPU            graphCost  // for each chunk
	graphCPU            graphCost  // for a search
	wordsCPU            float64    // for a chunk, to search by words
	countCPU, listCPU   float64    // for a document
	queryBytes          float64    // of a whole search, both ways
	oneShard            []quantile // of searches by the graph
}{
	indexCPU: 7e-3, unchangedCPU: 0.3e-3, localStoreCPU: 0.116e-3, scanCPU: 41.6e-9, localWordsCPU: 1e-6, vectorFile: 595,
	clientCPU: 0.084e-3, storeCPU: 0.329e-3, buildCPU: graphCost{0.487e-3, 14002}, graphCPU: graphCost{1.05e-3, 14002},
	wordsCPU: 19.2e-9, countCPU: 0.3e-6, listCPU: 55e-6, queryBytes: 38 << 10,
	oneShard: []quantile{{.5, 1.619e-3}, {.9, 5.604e-3}, {.99, 21.306e-3}, {.999, 266.348e-3}},
}

// graphCost is what was measured on a graph of so many chunks.
type graphCost struct{ seconds, chunks float64 }

// part is one of the things that are kept of a chunk.
type part struct {
	name     string
	bytes    float64
	inMemory bool
}

// layout is a way to keep chunks in Qdrant.
type layout struct {
	name  string
	parts []part
}

// The bytes of a chunk in each layout: from runs of 14,002 and 4,002 chunks.
var layouts = []layout{
	kept("float16", 780, 0, 768, 0, true),
	kept("float32", 1549, 0, 1536, 0, true),
	kept("int8", 780, 396, 768, 388, true),
	onDisk,
}

var onDisk = kept("disk", 780, 396, 768, 388, false)

// kept is a layout by what its vectors take: those of the landmarks and their int8
// copies, those of documents and theirs; and whether what can be on disk is in memory.
func kept(name string, landmarks, landmarks8, document, document8 float64, inMemory bool) layout {
	return layout{name, []part{
		{"landmark vectors", landmarks, inMemory},
		{"their int8 copies", landmarks8, landmarks8 > 0},
		{"the place of a document vector", document, inMemory},
		{"its int8 copy", document8, document8 > 0},
		{"graph of the landmarks", 65, true},
		{"graph of the documents", 34, true},
		{"words, to search", 371, inMemory},
		{"words, as stored", 433, false},
		{"text and the rest of the payload", 786, false},
		{"indexes of the payload", 463, true},
		{"IDs", 29, true},
	}}
}
