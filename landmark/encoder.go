package landmark

import (
	"context"
	"errors"
	"fmt"

	"github.com/waymark-rag/waymark/chunker"
)

// Token is one token of a text.
type Token struct {
	ID int32
	chunker.Range
}

// Tokenizer splits text into a model's tokens.
type Tokenizer interface {
	// Tokens returns the tokens of text in order of position, with their byte
	// ranges, without special tokens and without any truncation. The names of
	// special tokens inside the text ("[SEP]") are ordinary text. The text is
	// any string: invalid UTF-8 and NUL bytes are allowed and shift no range.
	// Safe for concurrent use.
	Tokens(text string) ([]Token, error)
}

// Sequence is one input of the model.
type Sequence struct {
	IDs       []int32
	Positions []int32 // indexes into IDs at which the hidden state is wanted
}

// Check refuses a sequence that no encoder can take.
func (s Sequence) Check() error {
	if len(s.IDs) == 0 {
		return errors.New("it has no tokens")
	}
	for _, id := range s.IDs {
		if id < 0 { // a runtime may count from the vocabulary's end
			return fmt.Errorf("token id %d: want 0 or more", id)
		}
	}
	for _, p := range s.Positions {
		if p < 0 || int(p) >= len(s.IDs) {
			return fmt.Errorf("position %d is outside its %d tokens", p, len(s.IDs))
		}
	}
	return nil
}

// Encoder runs the transformer.
//
// Encode takes a batch and returns, for each sequence in order, the last hidden
// states at its Positions, one after another: len(Positions) x Dim values. It
// pads as it needs and masks by length, so that padding never reaches a
// result; sorting and batching are the caller's work. The arguments are neither
// kept nor changed and the results belong to the caller. On an error, a
// cancelled context included, there are no results. Encode is safe for
// concurrent use and bounds by itself how much runs at once.
//
// landmarktest.TestEncoder checks all this.
type Encoder interface {
	Encode(ctx context.Context, batch []Sequence) ([][]float32, error)
	// Dim is the length of a hidden state.
	Dim() int
}
