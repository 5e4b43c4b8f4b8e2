package landmark

import (
	"fmt"
	"slices"
)

// Style says where landmarks stand in a sequence.
type Style string

const (
	// Paper closes every chunk with a landmark: [CLS] c1 [LMK] ... cn [LMK].
	Paper Style = "paper"
	// ST is the layout of sentence-transformers' landmark pull request #3642:
	// as Paper, and the tokenizer's own closing separator stays behind the last
	// landmark and, having the landmark's id, is pooled with the others.
	ST Style = "st"
	// Decoder puts a landmark in front of every chunk, for causal models.
	Decoder Style = "decoder"
)

// Pooling says how hidden states become vectors.
type Pooling string

const (
	// Landmark reads each chunk's vector at its landmark.
	Landmark Pooling = "landmark"
	// CLS gives every chunk of a window the state of that window's first token.
	CLS Pooling = "cls"
	// Mean gives every chunk of a window the mean of all states in that window.
	Mean Pooling = "mean"
	// Late is late chunking (arXiv 2409.04701): a chunk's vector is the mean of
	// the states of its own tokens.
	Late Pooling = "late"
	// MultiCLS puts a CLS token in front of every chunk and reads it there.
	MultiCLS Pooling = "multicls"
	// Naive encodes every chunk alone and pools it by Config.Base.
	Naive Pooling = "naive"
)

// Config says how a model is fed and read. It is what a model directory's
// waymark.json holds; see docs/model-format.md.
type Config struct {
	// Style is the layout; empty means Paper.
	Style Style
	// Pooling is how vectors are read; empty means Landmark.
	Pooling Pooling
	// Base is the pooling the model was trained with: Landmark, Mean or CLS.
	// Naive uses it for each chunk, Late and MultiCLS for queries. Empty means
	// Landmark.
	Base Pooling
	// Landmark is the id of the landmark token.
	Landmark int32
	// CLS is the id of the token in front of a sequence, -1 for none.
	CLS int32
	// Pad is the id of the padding token, -1 for none.
	Pad int32
	// Separator is the id that closes a sequence of the pooling modes that have
	// no landmarks, -1 for none.
	Separator int32
	// Interval is the chunk size in tokens that EmbedDocuments cuts at; 0
	// means 128.
	Interval int
	// MaxLength is the most positions in a sequence.
	MaxLength int
	// Dim is the length of a vector.
	Dim int
	// QueryPrefix and DocumentPrefix go in front of a text.
	QueryPrefix, DocumentPrefix string
	// OnePerBatch is set for graphs that quantise activations by the range
	// found in the whole batch: there a vector stays independent of its
	// neighbours only when each sequence runs alone.
	OnePerBatch bool
}

func (c Config) withDefaults() Config {
	if c.Style == "" {
		c.Style = Paper
	}
	if c.Pooling == "" {
		c.Pooling = Landmark
	}
	if c.Base == "" {
		c.Base = Landmark
	}
	if c.Interval == 0 {
		c.Interval = 128
	}
	return c
}

// minRoom is the least content, in tokens, that a window must have room for.
const minRoom = 8

// Validate reports the first setting that cannot be used.
func (c Config) Validate() error {
	c = c.withDefaults()
	if all := []Style{Paper, ST, Decoder}; !slices.Contains(all, c.Style) {
		return fmt.Errorf("landmark style %q: want one of %q", c.Style, all)
	}
	if all := []Pooling{Landmark, CLS, Mean, Late, MultiCLS, Naive}; !slices.Contains(all, c.Pooling) {
		return fmt.Errorf("pooling %q: want one of %q", c.Pooling, all)
	}
	if all := []Pooling{Landmark, CLS, Mean}; !slices.Contains(all, c.Base) {
		return fmt.Errorf("base pooling %q: want one of %q", c.Base, all)
	}
	if c.usesLandmarks() && c.Landmark < 0 {
		return fmt.Errorf("landmark token id %d: the model names no landmark token", c.Landmark)
	}
	if c.usesLandmarks() && c.Landmark == c.Pad {
		return fmt.Errorf("landmark token id %d is also the padding id: a padded batch would lose its landmarks; give the tokenizer another pad token", c.Landmark)
	}
	if (c.Pooling == CLS || c.Pooling == MultiCLS || c.Pooling == Naive && c.Base == CLS) && c.CLS < 0 {
		return fmt.Errorf("pooling %q needs a CLS token, the model names none", c.Pooling)
	}
	if c.Interval < 1 {
		return fmt.Errorf("landmark interval %d: want 1 or more", c.Interval)
	}
	if c.Dim < 1 {
		return fmt.Errorf("dimension %d: want 1 or more", c.Dim)
	}
	if c.MaxLength < minRoom+3 {
		return fmt.Errorf("max length %d: want %d or more", c.MaxLength, minRoom+3)
	}
	return nil
}

// usesLandmarks reports whether any sequence of the model holds landmarks.
func (c Config) usesLandmarks() bool {
	return c.Pooling == Landmark || c.Base == Landmark
}

// query is the configuration that queries are encoded with: a query is one
// chunk, so modes that differ only in how chunks share a window fall back to
// the pooling the model was trained with.
func (c Config) query() Config {
	if c.Pooling == Naive || c.Pooling == Late || c.Pooling == MultiCLS {
		c.Pooling = c.Base
	}
	return c
}

// Options tunes how much runs at once. The zero value is the default; none of
// it changes a vector but Overlap.
type Options struct {
	// Overlap is how many tokens of the preceding window a window repeats as
	// context, in whole chunks; 0 means none, half a window is the most.
	Overlap int
	// BatchTokens is the most padded tokens in one Encode call; 0 means 4096.
	BatchTokens int
	// BatchAttention caps batch size x length², what attention costs in memory;
	// 0 means 4M. A single sequence is always let through.
	BatchAttention int
	// Parallel is how many Encode calls may be open at once; 0 means 4. The
	// encoder bounds what really runs.
	Parallel int
}

func (o Options) withDefaults(window int) Options {
	o.Overlap = min(max(o.Overlap, 0), window/2)
	if o.BatchTokens <= 0 {
		o.BatchTokens = 4096
	}
	if o.BatchAttention <= 0 {
		o.BatchAttention = 4 << 20
	}
	if o.Parallel <= 0 {
		o.Parallel = 4
	}
	return o
}
