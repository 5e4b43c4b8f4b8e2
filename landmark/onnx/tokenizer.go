//go:build cgo && onnx

package onnx

import (
	"errors"
	"fmt"
	"sync"

	"github.com/daulet/tokenizers"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark"
)

var errClosed = errors.New("the model is closed")

// tokenizer is a landmark.Tokenizer on the Hugging Face library.
type tokenizer struct {
	mu  sync.RWMutex // held for reading while tok is in use
	tok *tokenizers.Tokenizer
}

func newTokenizer(file []byte) (*tokenizer, error) {
	// Special tokens spelt out in a text stay text, so that no document can
	// forge a landmark.
	tok, err := tokenizers.FromBytes(file, tokenizers.WithEncodeSpecialTokens())
	if err != nil {
		return nil, fmt.Errorf("tokenizer.json: %w", err)
	}
	return &tokenizer{tok: tok}, nil
}

// Tokens implements landmark.Tokenizer.
func (t *tokenizer) Tokens(text string) ([]landmark.Token, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.tok == nil {
		return nil, errClosed
	}
	clean := sanitise(text)
	var out []landmark.Token
	for at := 0; at < len(clean); {
		end := at + cut(clean[at:], maxSegment)
		var err error
		if out, err = t.appendTokens(out, clean, chunker.Range{Start: at, End: end}); err != nil {
			return nil, fmt.Errorf("tokenizing bytes %d-%d: %w", at, end, err)
		}
		at = end
	}
	return out, nil
}

// appendTokens adds the tokens of one segment of text.
func (t *tokenizer) appendTokens(out []landmark.Token, text string, segment chunker.Range) ([]landmark.Token, error) {
	enc := t.tok.EncodeWithOptions(segment.Of(text), false, tokenizers.WithReturnOffsets())
	if len(enc.IDs) == 0 && !t.encodes(segment.Of(text)) {
		return nil, errors.New("the tokenizer failed: its vocabulary may lack the unknown token")
	}
	if len(enc.Offsets) != len(enc.IDs) {
		return nil, fmt.Errorf("the tokenizer gave %d offsets for %d tokens", len(enc.Offsets), len(enc.IDs))
	}
	start := segment.Start
	for i, o := range enc.Offsets {
		r := chunker.Range{Start: segment.Start + int(o[0]), End: segment.Start + int(o[1])}
		r = trimBlanks(text, toRunes(text, r, segment))
		// Some tokenizers give inserted tokens a range at 0; ranges are to be
		// in order.
		start = max(start, r.Start)
		r.Start, r.End = start, max(start, r.End)
		out = append(out, landmark.Token{ID: int32(enc.IDs[i]), Range: r})
	}
	return out, nil
}

// encodes tells a text without tokens, such as blanks, from a failure: the
// library reports both as no tokens. With a letter added only the failure has
// none.
func (t *tokenizer) encodes(text string) bool {
	ids, _ := t.tok.Encode(text+" a", false)
	return len(ids) > 0
}

// close frees the tokenizer once no call uses it.
func (t *tokenizer) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tok == nil {
		return nil
	}
	err := t.tok.Close()
	t.tok = nil
	return err
}
