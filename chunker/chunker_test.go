package chunker

import (
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
