package chunker

import (
	"fmt"
	"slices"
)

// Mode names a way of choosing where chunks end.
type Mode string

// The modes. Each obeys the hard limits of [Options].
const (
	// Structure keeps headings with what follows them, and paragraphs, list
	// items, code fences and tables whole where they fit. Larger ones are cut at
	// sentence or line ends, then between words. The pieces are packed up to the
	// limit, but a chunk that is half full ends in front of a heading of level 1
	// or 2, and others end at the best place that leaves them a quarter full.
	Structure Mode = "structure"
	// Sentence packs whole sentences (UAX #29, all scripts) up to the limit. A
	// blank line ends a sentence, a single line break does not.
	Sentence Mode = "sentence"
	// Fixed cuts in front of every MaxTokens-th token, as landmark models are
	// trained, or of the grapheme cluster that the token stands inside of.
	Fixed Mode = "fixed"
)

// Options says where to cut. The zero value is the default.
type Options struct {
	// Mode is how boundaries are chosen; empty means Structure.
	Mode Mode
	// MaxTokens is the most tokens in a chunk; 0 means 128. Only a character
	// that has more by itself exceeds it, as a chunk of its own.
	MaxTokens int
	// MaxBytes is the most bytes in a chunk, never exceeded; 0 means 32 for
	// each token. It bounds text of which the tokenizer makes few tokens,
	// such as a kilobyte of base64 that it takes for one unknown word.
	MaxBytes int
}

// The limits accepted. A single character may need several tokens and bytes, so
// they must not be too small.
const (
	minTokens, maxTokens = 8, 1 << 24
	minBytes, maxBytes   = 64, 1 << 30
)

// WithDefaults returns o with every zero replaced by its default.
func (o Options) WithDefaults() Options {
	if o.Mode == "" {
		o.Mode = Structure
	}
	if o.MaxTokens == 0 {
		o.MaxTokens = 128
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 32 * o.MaxTokens
	}
	return o
}

// Validate reports the first value that cannot be used.
func (o Options) Validate() error {
	o = o.WithDefaults()
	if modes := []Mode{Structure, Sentence, Fixed}; !slices.Contains(modes, o.Mode) {
		return fmt.Errorf("chunker mode %q: want one of %q", o.Mode, modes)
	}
	if o.MaxTokens < minTokens || o.MaxTokens > maxTokens {
		return fmt.Errorf("chunker max tokens %d: want %d to %d", o.MaxTokens, minTokens, maxTokens)
	}
	if o.MaxBytes < minBytes || o.MaxBytes > maxBytes {
		return fmt.Errorf("chunker max bytes %d: want %d to %d", o.MaxBytes, minBytes, maxBytes)
	}
	return nil
}

// String names the options and the chunker's version, for fingerprints.
func (o Options) String() string {
	o = o.WithDefaults()
	return fmt.Sprintf("%s/%d/%d/v%d", o.Mode, o.MaxTokens, o.MaxBytes, Version)
}
