package chunker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// texts are the texts of chunks.
func texts(text string, chunks []Chunk) []string {
	var out []string
	for _, c := range chunks {
		out = append(out, c.Of(text))
	}
	return out
}

func TestSplitEmpty(t *testing.T) {
	for _, mode := range []Mode{Structure, Sentence, Fixed} {
		if got := split(t, Options{Mode: mode}, Document{}); len(got) != 0 {
			t.Errorf("%s: %d chunks of an empty text", mode, len(got))
		}
		doc := Document{Text: strings.Repeat(" \r\n\t", 100), Syntax: Markdown}
		opts := Options{Mode: mode, MaxBytes: 64}
		got := split(t, opts, doc)
		if len(got) == 0 {
			t.Errorf("%s: no chunks of white space", mode)
		}
		checkChunks(t, WordTokenizer{}, opts, doc, got)
	}
}

func TestSplitFixed(t *testing.T) {
	text := strings.Repeat("Seven words, a comma and a stop. ", 40)
	tokens, _ := WordTokenizer{}.Offsets(text)
	const size = 16
	var want []string
	for i := 0; i < len(tokens); i += size {
		end := len(text)
		if i+size < len(tokens) {
			end = tokens[i+size].Start
		}
		want = append(want, text[tokens[i].Start:end])
	}
	got := split(t, Options{Mode: Fixed, MaxTokens: size}, Document{Text: text})
	if diff := cmp.Diff(want, texts(text, got)); diff != "" {
		t.Errorf("chunks (-want +got):\n%s", diff)
	}
}

// TestSplitGivenHeadings splits a page whose headings are not in its text's
// syntax.
func TestSplitGivenHeadings(t *testing.T) {
	text := "Menu\nWelcome\nWords of welcome, and some more of them to fill it.\n\n# no heading here\nOpening hours\nEvery day from nine to five, but not on holidays.\n"
	at := func(s string) Range {
		i := strings.Index(text, s)
		return Range{i, i + len(s)}
	}
	for _, syntax := range []Syntax{Plain, Markdown} {
		doc := Document{Text: text, Syntax: syntax, Headings: []Heading{
			{at("Welcome"), 1, "Welcome!"},
			{at("Opening hours"), 3, "Opening hours"},
		}}
		got := split(t, Options{MaxTokens: 22}, doc)
		checkChunks(t, WordTokenizer{}, Options{MaxTokens: 22}, doc, got)
		want := [][]string{nil, {"Welcome!", "Opening hours"}}
		var paths [][]string
		for _, c := range got {
			paths = append(paths, c.Headings)
		}
		if diff := cmp.Diff(want, paths); diff != "" {
			t.Errorf("%q: headings (-want +got):\n%s", syntax, diff)
		}
	}
}

// TestHeadingStaysWithText holds that no chunk but the last ends with a heading
// when all that follows a heading is small.
func TestHeadingStaysWithText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var b strings.Builder
		for range 30 {
			for range random.IntN(3) {
				fmt.Fprintf(&b, "%s Heading\n", strings.Repeat("#", 1+random.IntN(6)))
			}
			words := strings.Repeat("word ", 1+random.IntN(20))
			switch random.IntN(4) {
			case 0:
				fmt.Fprintf(&b, "\n%s\n\n", words)
			case 1:
				fmt.Fprintf(&b, "- %s\n- %s\n\n", words, words)
			case 2:
				fmt.Fprintf(&b, "```\n%s\n```\n", words)
			case 3:
				fmt.Fprintf(&b, "One %s. Two %s.\n\n***\n\n", words, words)
			}
		}
		doc := Document{Text: b.String(), Syntax: Markdown}
		chunks := split(t, Options{MaxTokens: 40}, doc)
		for _, c := range chunks[:len(chunks)-1] {
			s := strings.TrimSpace(c.Of(doc.Text))
			if strings.HasPrefix(s[strings.LastIndex(s, "\n")+1:], "#") {
				t.Fatalf("a chunk ends with a heading:\n%s", c.Of(doc.Text))
			}
		}
	}
}

// TestBlocksStayWhole holds that a list item, fence or table that fits is never
// cut, unless the heading above it takes the room.
func TestBlocksStayWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		var b strings.Builder
		var wholes []string
		for n := range 30 {
			words := strings.Repeat(fmt.Sprintf("w%d ", n), 1+random.IntN(10))
			whole := ""
			switch random.IntN(4) {
			case 0:
				fmt.Fprintf(&b, "Text. %s\n", strings.Repeat(words+". ", random.IntN(9)))
			case 1:
				whole = fmt.Sprintf("- %s\n  - %s\n\n    ~~~\n    %s\n\n    ~~~\n", words, words, words)
			case 2:
				whole = fmt.Sprintf("```\n%s\n\n# %s\n```\n", words, words)
			case 3:
				whole = fmt.Sprintf("| a | b |\n|---|---|\n| %s | b |\n", words)
			}
			b.WriteString(whole + "\n")
			if whole != "" {
				wholes = append(wholes, whole)
			}
		}
		doc := Document{Text: b.String(), Syntax: Markdown}
		chunks := split(t, Options{MaxTokens: 48}, doc)
		for _, whole := range wholes {
			found := false
			for _, c := range chunks {
				found = found || strings.Contains(c.Of(doc.Text), whole)
			}
			if !found {
				t.Fatalf("cut, though it fits:\n%s\nin\n%s", whole, doc.Text)
			}
		}
	}
}

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
		{"too many tokens", WordTokenizer{}, Options{MaxTokens: 1 << 40}, "max tokens 1099511627776"},
		{"few bytes", WordTokenizer{}, Options{MaxBytes: 63}, "max bytes 63: want 64 to"},
		{"too many bytes", WordTokenizer{}, Options{MaxBytes: 1 << 40}, "max bytes 1099511627776"},
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

// counted counts the calls of a tokenizer.
type counted struct {
	WordTokenizer
	calls *int
}

func (c counted) Offsets(text string) ([]Range, error) {
	*c.calls++
	return c.WordTokenizer.Offsets(text)
}

func TestTokenizerIsCalledOnce(t *testing.T) {
	for _, mode := range []Mode{Structure, Sentence, Fixed} {
		calls := 0
		c, err := New(counted{calls: &calls}, Options{Mode: mode, MaxTokens: 8})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Split(Document{Text: strings.Repeat("Many words. ", 500)}); err != nil {
			t.Fatal(err)
		}
		if calls != 1 {
			t.Errorf("%s: %d calls for one document", mode, calls)
		}
	}
}

// TestSplitHostile splits large texts made to be slow; anything that is not
// linear in the text would take minutes.
func TestSplitHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("large texts")
	}
	const size = 1 << 18
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	deep := func(mark string) string {
		var b strings.Builder
		for depth := 0; b.Len() < size; depth++ {
			fmt.Fprintf(&b, "%s%sx\n", strings.Repeat(" ", depth*len(mark)), mark)
		}
		return b.String()
	}
	tests := map[string]string{
		"blank lines":           fill("\n"),
		"spaces":                fill(" "),
		"spaces after a stop":   "A. " + fill(" "),
		"brackets after a stop": fill("." + strings.Repeat(")", 1000)),
		"one word":              fill("a"),
		"one cluster":           "e" + fill("\u0301"),
		"flags":                 fill("🇩🇪"),
		"joined emoji":          fill("👩\u200d"),
		"prefixes":              fill(".\u0600"),
		"short lines":           fill("a\n"),
		"lone cr":               fill("a\r"),
		"headings":              fill("# a\n"),
		"nested items":          deep("- "),
		"nested quotes":         deep("> "),
		"lazy lines":            deep("- ") + fill("lazy\n"),
		"brackets":              "# " + fill("["),
		"backticks":             "# " + fill("`a"),
		"unclosed comment":      "<!--" + fill("<!-- -\n"),
		"unclosed front matter": "---\na: b\n" + fill("--\n"),
		"table":                 "a|b\n-|-\n" + fill("|\n"),
		"markers":               fill("- 1. "),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			for _, mode := range []Mode{Structure, Sentence, Fixed} {
				chunks := split(t, Options{Mode: mode}, Document{Text: text, Syntax: Markdown})
				if end := chunks[len(chunks)-1].End; end != len(text) {
					t.Errorf("%s: chunks end at %d of %d", mode, end, len(text))
				}
			}
		})
	}
}

func BenchmarkSplit(b *testing.B) {
	const page = "# Title\n\nA paragraph of the usual kind. It has a few sentences,\nand some of them are wrapped. Others are not!\n\n" +
		"## Section\n\n- an item\n- another one\n  - nested, with `code`\n\n```go\nfunc f() int {\n\treturn 1\n}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
	doc := Document{Text: strings.Repeat(page, 1<<20/len(page)), Syntax: Markdown}
	tokens, _ := WordTokenizer{}.Offsets(doc.Text)
	for _, mode := range []Mode{Structure, Sentence, Fixed} {
		b.Run(string(mode), func(b *testing.B) {
			c, err := New(badTokenizer{tokens: tokens}, Options{Mode: mode})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(doc.Text)))
			for b.Loop() {
				if _, err := c.Split(doc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
