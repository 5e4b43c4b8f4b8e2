package landmarktest

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark"
)

// The special tokens of the fake model.
const (
	Pad       = 0
	CLS       = 1
	Separator = 2
	firstWord = 10
)

// Config is the configuration of the fake model: windows of 128 positions,
// chunks of 16 tokens, 256 dimensions.
func Config() landmark.Config {
	return landmark.Config{
		Landmark:       Separator,
		CLS:            CLS,
		Pad:            Pad,
		Separator:      Separator,
		Interval:       16,
		MaxLength:      128,
		Dim:            256,
		QueryPrefix:    "query: ",
		DocumentPrefix: "passage: ",
	}
}

// New returns the fake model.
func New() *landmark.Model {
	cfg := Config()
	m, err := landmark.New(Tokenizer{}, &Encoder{Size: cfg.Dim}, cfg, nil)
	if err != nil {
		panic(err) // the configuration above is valid
	}
	return m
}

// Tokenizer makes one token of each run of letters, marks and digits and one of
// every other rune that is no space.
type Tokenizer struct{}

// Tokens implements landmark.Tokenizer.
func (Tokenizer) Tokens(text string) ([]landmark.Token, error) {
	var out []landmark.Token
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		end := i + size
		if word(r) {
			for end < len(text) {
				r, size := utf8.DecodeRuneInString(text[end:])
				if !word(r) {
					break
				}
				end += size
			}
		}
		if !unicode.IsSpace(r) {
			out = append(out, landmark.Token{ID: TokenID(text[i:end]), Range: chunker.Range{Start: i, End: end}})
		}
		i = end
	}
	return out, nil
}

// TokenID is the token of a word, whatever its case.
func TokenID(word string) int32 {
	h := fnv.New32a()
	h.Write([]byte(strings.ToLower(word)))
	return int32(firstWord + h.Sum32()%(1<<20))
}

// Encoder is the fake transformer. Its zero value is not usable: set Size.
type Encoder struct {
	// Size is the dimension of a state.
	Size int
	// Err, when set, is what every call fails with.
	Err error
	// Seen, when set, is called with every batch.
	Seen func(batch []landmark.Sequence)
}

// Dim implements landmark.Encoder.
func (e *Encoder) Dim() int { return e.Size }

// Encode implements landmark.Encoder.
func (e *Encoder) Encode(ctx context.Context, batch []landmark.Sequence) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if e.Err != nil {
		return nil, e.Err
	}
	if e.Seen != nil {
		e.Seen(batch)
	}
	out := make([][]float32, len(batch))
	for i, s := range batch {
		states := make([]float32, 0, len(s.Positions)*e.Size)
		for _, p := range s.Positions {
			if p < 0 || int(p) >= len(s.IDs) {
				return nil, fmt.Errorf("position %d is outside a sequence of %d", p, len(s.IDs))
			}
			states = append(states, e.state(s.IDs, int(p))...)
		}
		out[i] = states
	}
	return out, nil
}

// state is the sum of the words that a position stands for, and a twentieth of
// the mean of all.
func (e *Encoder) state(ids []int32, p int) []float32 {
	out := make([]float32, e.Size)
	add := func(id int32, weight float32) {
		for k, x := range wordVector(id, e.Size) {
			out[k] += weight * x
		}
	}
	if ids[p] == Separator {
		for i := p - 1; i >= 0 && ids[i] >= firstWord; i-- {
			add(ids[i], 1)
		}
	}
	add(ids[p], 0.5)
	for _, id := range ids {
		add(id, 0.05/float32(len(ids)))
	}
	return out
}

// wordVector is a fixed random vector of length about 1.
func wordVector(id int32, dim int) []float32 {
	out := make([]float32, dim)
	x := uint64(id)*0x9e3779b97f4a7c15 + 0xbf58476d1ce4e5b9
	scale := float32(math.Sqrt(3 / float64(dim)))
	for i := range out {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		out[i] = scale * (2*float32(x>>40)/float32(1<<24) - 1)
	}
	return out
}

// Similarity is how much of a word there is in a vector: about 1/sqrt(n) when
// it is one of the n words of the chunk that the vector stands for, about 0
// when it is not.
func Similarity(vector []float32, word string) float64 {
	var dot, norm float64
	for i, x := range wordVector(TokenID(word), len(vector)) {
		dot += float64(x) * float64(vector[i])
		norm += float64(x) * float64(x)
	}
	return dot / math.Sqrt(norm)
}
