package retriever

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// unitTolerance is how far from 1 the length of a unit vector may be.
const unitTolerance = 1e-3

// Check reports the first thing that keeps doc from being stored in a
// collection of vectors of length dim, or of any length if dim is 0.
//
// The ID is not empty; all vectors are there, of length dim, finite and of unit
// length; chunks tile the text; ranges, lines and counts are possible; all text
// is valid UTF-8 without NUL bytes; metadata has keys and holds strings, bools,
// ints, int64s, finite float64s and string lists.
func Check(doc *Document, dim int) error {
	if doc.ID == "" {
		return errors.New("document without an ID")
	}
	if err := checkDocument(doc, dim); err != nil {
		return fmt.Errorf("document %q: %w", doc.ID, err)
	}
	return nil
}

func checkDocument(doc *Document, dim int) error {
	for _, part := range []struct{ name, text string }{
		{"ID", doc.ID}, {"title", doc.Title}, {"hash", doc.Hash}, {"text", doc.Text},
	} {
		if err := checkText(part.text); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	if err := checkMetadata(doc.Metadata); err != nil {
		return err
	}
	if dim == 0 {
		dim = len(doc.Vector)
	}
	if err := CheckVector(doc.Vector, dim); err != nil {
		return err
	}
	end := 0
	for i := range doc.Chunks {
		c := &doc.Chunks[i]
		if c.Text.Start != end || c.Text.End < end || c.Text.End > len(doc.Text) {
			return fmt.Errorf("chunk %d covers bytes %v of a text of %d: want it to start at %d, where the one before ends", i, c.Text, len(doc.Text), end)
		}
		end = c.Text.End
		if err := checkChunk(c, dim); err != nil {
			return fmt.Errorf("chunk %d: %w", i, err)
		}
		if c.Header.Start < 0 || c.Header.End < c.Header.Start || c.Header.End > c.Text.Start && c.Header.Len() > 0 {
			return fmt.Errorf("chunk %d at %v has a header at %v: want one above it, or none", i, c.Text, c.Header)
		}
	}
	if end != len(doc.Text) {
		return fmt.Errorf("chunks end at byte %d of a text of %d: want them to cover it all", end, len(doc.Text))
	}
	return nil
}

func checkChunk(c *Chunk, dim int) error {
	if c.Source.Start < 0 || c.Source.End < c.Source.Start {
		return fmt.Errorf("source range %v: want a start of 0 or more and an end not before it", c.Source)
	}
	if known := c.Lines != (Lines{}); known && (c.Lines.First < 1 || c.Lines.Last < c.Lines.First) {
		return fmt.Errorf("lines %d to %d: want both 0, or a first of 1 or more and a last not before it", c.Lines.First, c.Lines.Last)
	}
	if c.Tokens < 0 {
		return fmt.Errorf("%d tokens: want 0 or more", c.Tokens)
	}
	if norm := float64(c.Norm); !(norm >= 0) || math.IsInf(norm, 0) {
		return fmt.Errorf("norm %v: want a finite number of 0 or more", c.Norm)
	}
	for _, h := range c.Headings {
		if err := checkText(h); err != nil {
			return fmt.Errorf("heading %q: %w", h, err)
		}
	}
	for _, p := range []string{c.Place.Kind, c.Place.In, c.Place.First, c.Place.Last} {
		if err := checkText(p); err != nil {
			return fmt.Errorf("place %q: %w", c.Place, err)
		}
	}
	return CheckVector(c.Vector, dim)
}

// CheckVector reports why v is not a unit vector of length dim.
func CheckVector(v []float32, dim int) error {
	switch {
	case len(v) == 0:
		return errors.New("it has no vector")
	case len(v) != dim:
		return fmt.Errorf("vector of length %d: want %d", len(v), dim)
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if norm := math.Sqrt(sum); !(math.Abs(norm-1) <= unitTolerance) { // also when it is NaN
		return fmt.Errorf("vector with a norm of %v: want finite numbers and a norm of 1", norm)
	}
	return nil
}

func checkText(s string) error {
	if i := strings.IndexByte(s, 0); i >= 0 {
		return fmt.Errorf("NUL at byte %d: want none", i)
	}
	if utf8.ValidString(s) {
		return nil
	}
	for i, r := range s {
		if _, size := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && size == 1 {
			return fmt.Errorf("byte %d is not UTF-8", i)
		}
	}
	return nil
}

func checkMetadata(metadata map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		err := checkText(key)
		if key == "" {
			err = errors.New("the key is empty")
		}
		switch v := metadata[key].(type) {
		case bool, int, int64:
		case float64:
			if math.IsNaN(v) || math.IsInf(v, 0) {
				err = errors.Join(err, fmt.Errorf("%v: want a finite number", v))
			}
		case string:
			err = errors.Join(err, checkText(v))
		case []string:
			for _, e := range v {
				err = errors.Join(err, checkText(e))
			}
		default:
			err = errors.Join(err, fmt.Errorf("a value of type %T: want string, bool, int64, float64 or []string", v))
		}
		if err != nil {
			return fmt.Errorf("metadata %q: %w", key, err)
		}
	}
	return nil
}

// Validate reports the first setting of q that cannot be used with vectors of
// length dim, or of any length if dim is 0.
func (q Query) Validate(dim int) error {
	if q.Vector == nil && q.Words == "" {
		return errors.New("query without a vector or words: want at least one")
	}
	if q.Limit < 1 {
		return fmt.Errorf("query limit %d: want 1 or more", q.Limit)
	}
	if q.PerDocument < 0 {
		return fmt.Errorf("query per document %d: want 0 or more", q.PerDocument)
	}
	if q.Vector != nil {
		if dim == 0 {
			dim = len(q.Vector)
		}
		if err := CheckVector(q.Vector, dim); err != nil {
			return fmt.Errorf("query: %w", err)
		}
		if err := q.Weights.validate(); err != nil {
			return err
		}
	}
	return q.Filter.Validate()
}

func (w Weights) validate() error {
	sum := w.Landmark + w.Document
	if !(w.Landmark >= 0 && w.Document >= 0 && sum > 0) || math.IsInf(sum, 0) {
		return fmt.Errorf("weights %v for landmark and %v for document: want 0 or more and not both 0", w.Landmark, w.Document)
	}
	return nil
}
