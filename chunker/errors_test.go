package chunker

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// badTokenizer returns what it holds.
type badTokenizer struct {
	tokens []Range
	err    error
}

func (b badTokenizer) Offsets(string) ([]Range, error) { return b.tokens, b.err }

func TestSplitErrors(t *testing.T) {
	failed := errors.New("no vocabulary")
	text := "añb"
	tests := []struct {
		name string
		tok  Tokenizer
		doc  Document
		want string
	}{
		{"syntax", WordTokenizer{}, Document{ID: "d", Syntax: "rst"}, `document "d": syntax "rst": want one of`},
		{"utf-8", WordTokenizer{}, Document{ID: "d", Text: "a\xff"}, "not valid UTF-8"},
		{"heading outside", WordTokenizer{}, Document{Text: text, Headings: []Heading{{Range: Range{0, 9}, Title: "T"}}}, `heading "T" covers bytes 0-9 of a text of 4 bytes`},
		{"headings out of order", WordTokenizer{}, Document{Text: text, Headings: []Heading{{Range: Range{3, 4}}, {Range: Range{1, 2}}}}, "want headings in order"},
		{"heading backwards", WordTokenizer{}, Document{Text: text, Headings: []Heading{{Range: Range{3, 1}}}}, "want headings in order"},
		{"tokenizer fails", badTokenizer{err: failed}, Document{Text: text}, "no vocabulary"},
		{"token outside", badTokenizer{tokens: []Range{{0, 9}}}, Document{Text: text}, "token 0 at bytes 0-9 of a text of 4 bytes"},
		{"token inside a rune", badTokenizer{tokens: []Range{{0, 1}, {2, 3}}}, Document{Text: text}, "token 1 at bytes 2-3"},
		{"tokens out of order", badTokenizer{tokens: []Range{{1, 3}, {0, 1}}}, Document{Text: text}, "token 1 at bytes 0-1"},
		{"negative token", badTokenizer{tokens: []Range{{-1, 1}}}, Document{Text: text}, "token 0 at bytes -1-1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := New(tt.tok, Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Split(tt.doc)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
			if tt.name == "tokenizer fails" && !errors.Is(err, failed) {
				t.Errorf("%v does not wrap the tokenizer's error", err)
			}
		})
	}
}

func TestNewErrors(t *testing.T) {
	tests := []struct {
		name string
		tok  Tokenizer
		opts Options
		want string
	}{
		{"no tokenizer", nil, Options{}, "no tokenizer"},
		{"mode", WordTokenizer{}, Options{Mode: "magic"}, `mode "magic": want one of ["structure" "sentence" "fixed"]`},
		{"few tokens", WordTokenizer{}, Options{MaxTokens: 7}, "max tokens 7: want 8 to"},
		{"negative tokens", WordTokenizer{}, Options{MaxTokens: -1}, "max tokens -1"},
		{"too many tokens", WordTokenizer{}, Options{MaxTokens: maxTokens + 1}, "max tokens 16777217"},
		{"few bytes", WordTokenizer{}, Options{MaxBytes: 63}, "max bytes 63: want 64 to"},
		{"too many bytes", WordTokenizer{}, Options{MaxBytes: maxBytes + 1}, "max bytes 1073741825"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := New(tt.tok, tt.opts); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestOptionsString(t *testing.T) {
	if got, want := (Options{}).String(), fmt.Sprintf("structure/128/4096/v%d", Version); got != want {
		t.Errorf("options %q, want %q", got, want)
	}
}
