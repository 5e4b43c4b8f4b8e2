package retriever

// Level says what is ranked.
type Level string

const (
	// Both ranks chunks by their landmark's score and their document's score
	// together. It is the default.
	Both Level = "both"
	// ChunkLevel ranks chunks by their landmark's score alone.
	ChunkLevel Level = "chunk"
	// DocumentLevel ranks documents by the document vector's score alone; each
	// is represented by its best chunk.
	DocumentLevel Level = "document"
)

// Weights are the shares of the two levels in a dense score:
// Landmark x cosine(query, chunk) + Document x cosine(query, document).
type Weights struct {
	Landmark float64 `json:"landmark"`
	Document float64 `json:"document"`
}

// Query is what a Store is asked for.
type Query struct {
	// Vector is the unit query vector; nil asks for no dense candidates.
	Vector []float32
	// Words is matched lexically by BM25; empty asks for no lexical candidates.
	// It is plain text: no character of it is an operator. A chunk is a
	// candidate when it holds at least one of the words; of those that more
	// than half of all chunks hold, a store may make nothing if it finds others.
	Words string
	// Limit is how many candidates each source returns at most; at least 1.
	Limit int
	// Weights combine the two dense scores that candidates are ranked by. With
	// a vector the zero value is refused, and so are negative weights.
	Weights Weights
	// PerDocument is the most candidates of one document in each source; 0
	// means no limit.
	PerDocument int
	// Filter restricts all sources; the zero value matches everything.
	Filter Filter
}

// Candidates is what a Store found: one list per source, best first.
type Candidates struct {
	Dense   []Candidate // by Score.Dense
	Lexical []Candidate // by Score.Lexical
}

// Candidate is a chunk that a source found. Whatever source found it, Dense,
// Landmark and Document are filled in when the query has a vector. Lexical is
// filled in among the lexical candidates alone, and Value by Search.
type Candidate struct {
	Document string // ID
	Chunk    int    // index
	Score    Score
}

// Score holds the partial scores of a chunk and what became of them.
type Score struct {
	// Value is what hits are ranked by, higher being better: Dense; Lexical in a
	// search by words alone; with both a mean from 0 to 1, 1 being the best of
	// what the query found in both, which says nothing across queries.
	Value float64 `json:"value"`
	// Dense is Weights.Landmark x Landmark + Weights.Document x Document.
	Dense float64 `json:"dense"`
	// Landmark is the cosine of the query and the chunk's landmark vector.
	Landmark float64 `json:"landmark"`
	// Document is the cosine of the query and the document vector.
	Document float64 `json:"document"`
	// Lexical is the chunk's BM25 score, positive, or 0 when the chunk is not
	// among the lexical candidates.
	Lexical float64 `json:"lexical"`
}
