package landmark

import (
	"context"
	"fmt"
	"math"

	"github.com/waymark-rag/waymark/chunker"
)

// Model encodes texts with one model. It is safe for concurrent use.
type Model struct {
	tok Tokenizer
	enc Encoder
	cfg Config
	opt Options

	documents, queries side
}

// side is what differs between documents and queries.
type side struct {
	cfg      Config
	frame    frame
	room     int // positions for blocks in a window
	perBlock int // positions that a block takes beyond its tokens
}

// Input is a text with the chunk ranges that tile it.
type Input struct {
	Text   string
	Chunks []chunker.Range
	// Above is what stands above the text and is not in it, such as a title. Every
	// window starts with it, for the chunks to have seen; it has no vector of its own.
	// What is longer than maxAbove tokens is cut.
	Above string
}

// maxAbove is how many tokens of Input.Above are read: as many as a title has.
const maxAbove = 32

// Embedding is what became of one text.
type Embedding struct {
	// Document is the unit document vector, the direction of the mean of all
	// chunks' raw states.
	Document []float32
	// Landmarks holds one unit vector per chunk, in chunk order.
	Landmarks [][]float32
	// Norms holds the lengths of the raw states: the mean of
	// Norms[i]*Landmarks[i] has the direction of Document, but in the style ST,
	// whose closing landmarks enter Document alone.
	Norms []float32
	// Chunks are the byte ranges that the vectors stand for.
	Chunks []chunker.Range
	// Tokens counts the text's own tokens, each once; Encoded counts the
	// positions that went through the model, special tokens and the overlap of
	// windows included.
	Tokens, Encoded int
	// Windows is how many sequences the text needed.
	Windows int
}

// New returns a Model that feeds enc with what tok makes of a text. It refuses
// a configuration that would lose landmarks or does not fit the encoder.
func New(tok Tokenizer, enc Encoder, cfg Config, opts *Options) (*Model, error) {
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if enc.Dim() != cfg.Dim {
		return nil, fmt.Errorf("model dimension %d: the encoder's states have %d", cfg.Dim, enc.Dim())
	}
	m := &Model{tok: tok, enc: enc, cfg: cfg}
	if opts != nil {
		m.opt = *opts
	}
	m.opt = m.opt.withDefaults(cfg.MaxLength)
	var err error
	if m.documents, err = newSide(tok, cfg, cfg.DocumentPrefix); err != nil {
		return nil, fmt.Errorf("document prefix %q: %w", cfg.DocumentPrefix, err)
	}
	if m.queries, err = newSide(tok, cfg.query(), cfg.QueryPrefix); err != nil {
		return nil, fmt.Errorf("query prefix %q: %w", cfg.QueryPrefix, err)
	}
	return m, nil
}

func newSide(tok Tokenizer, cfg Config, prefix string) (side, error) {
	tokens, err := tok.Tokens(prefix)
	if err != nil {
		return side{}, err
	}
	ids := make([]int32, len(tokens))
	for i, t := range tokens {
		ids[i] = t.ID
	}
	if cfg.Pooling == Naive {
		cfg.Pooling = cfg.Base
	}
	s := side{cfg: cfg, frame: cfg.frame(ids)}
	s.room, s.perBlock = s.frame.room(cfg.MaxLength)
	if s.room < minRoom {
		return side{}, fmt.Errorf("its %d tokens leave no room in a window of %d", len(ids), cfg.MaxLength)
	}
	return s, nil
}

// Config returns the configuration in force.
func (m *Model) Config() Config { return m.cfg }

// Overlap returns how many tokens of context windows repeat at most.
func (m *Model) Overlap() int { return m.opt.Overlap }

// Offsets makes m a chunker.Tokenizer, so that chunk sizes are counted in the
// tokens that will be encoded.
func (m *Model) Offsets(text string) ([]chunker.Range, error) {
	tokens, err := m.tok.Tokens(text)
	if err != nil {
		return nil, err
	}
	out := make([]chunker.Range, len(tokens))
	for i, t := range tokens {
		out[i] = t.Range
	}
	return out, nil
}

// Encode returns an embedding for each input, in order. The chunks of an input
// must tile its text; an input without chunks is one chunk. On an error there
// are no embeddings. The inputs are neither changed nor kept.
func (m *Model) Encode(ctx context.Context, inputs []Input) ([]Embedding, error) {
	return m.encode(ctx, m.documents, m.cfg.Pooling == Naive, inputs)
}

// EmbedDocuments returns the document vector of each text, cut at the model's
// own interval.
func (m *Model) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	embeddings, err := m.EmbedLandmarks(ctx, texts)
	if err != nil {
		return nil, err
	}
	out := make([][]float32, len(embeddings))
	for i, e := range embeddings {
		out[i] = e.Document
	}
	return out, nil
}

// EmbedLandmarks is EmbedDocuments with the landmarks: each text is cut at the
// model's own interval and comes back with a vector and a byte range for every
// chunk.
func (m *Model) EmbedLandmarks(ctx context.Context, texts []string) ([]Embedding, error) {
	inputs := make([]Input, len(texts))
	for i, text := range texts {
		tokens, err := m.tok.Tokens(text)
		if err != nil {
			return nil, fmt.Errorf("text %d: %w", i, err)
		}
		first := m.cfg.Interval
		if m.cfg.Style == ST { // where the prefix counts as content
			first -= len(m.documents.frame.open) - 1
		}
		inputs[i] = Input{Text: text, Chunks: intervals(tokens, len(text), first, m.cfg.Interval)}
	}
	return m.Encode(ctx, inputs)
}

// EmbedQuery returns the vector of a query, which is a document of one chunk
// with the query prefix.
func (m *Model) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	out, err := m.EmbedQueries(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// EmbedQueries is EmbedQuery for many.
func (m *Model) EmbedQueries(ctx context.Context, texts []string) ([][]float32, error) {
	inputs := make([]Input, len(texts))
	for i, text := range texts {
		inputs[i] = Input{Text: text}
	}
	embeddings, err := m.encode(ctx, m.queries, false, inputs)
	if err != nil {
		return nil, err
	}
	out := make([][]float32, len(embeddings))
	for i, e := range embeddings {
		out[i] = e.Document
	}
	return out, nil
}

// unit returns v scaled to length 1 and the length it had. A zero or
// non-finite vector is an error: it would score the same against everything.
func unit(v []float64) ([]float32, float32, error) {
	var sum float64
	for _, x := range v {
		sum += x * x
	}
	norm := math.Sqrt(sum)
	if norm == 0 || math.IsNaN(norm) || math.IsInf(norm, 0) {
		return nil, 0, fmt.Errorf("the model returned a state of length %v", norm)
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x / norm)
	}
	return out, float32(norm), nil
}
