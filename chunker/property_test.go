package chunker

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rivo/uniseg"
)

// checkChunks fails the test unless chunks are what any tokenizer, mode and text
// must give: they tile the text, obey the limits, end between grapheme clusters
// and stand under the right headings.
func checkChunks(t testing.TB, tok Tokenizer, opts Options, doc Document, chunks []Chunk) {
	t.Helper()
	opts = opts.WithDefaults()
	tokens, err := tok.Offsets(doc.Text)
	if err != nil {
		t.Fatal(err)
	}
	count := func(r Range) (n int) {
		for _, token := range tokens {
			if token.Start >= r.Start && token.Start < r.End {
				n++
			}
		}
		return n
	}
	fits := func(r Range) bool { return r.Len() <= opts.MaxBytes && count(r) <= opts.MaxTokens }
	headings := scan(doc.Text, doc.Syntax, doc.Headings, doc.Tables).headings
	clusters := clustersOf(doc.Text)
	end := 0
	for i, c := range chunks {
		if c.Index != i || c.Start != end || c.End <= c.Start || c.End > len(doc.Text) {
			t.Fatalf("chunk %d is %+v, after one that ends at %d of %d", i, c, end, len(doc.Text))
		}
		end = c.End
		if c.Tokens != count(c.Range) {
			t.Fatalf("chunk %d claims %d tokens, has %d", i, c.Tokens, count(c.Range))
		}
		if !fits(c.Range) && utf8.RuneCountInString(c.Of(doc.Text)) > 1 {
			t.Fatalf("chunk %d exceeds %s: %d tokens, %d bytes %q", i, opts, c.Tokens, c.Len(), c.Of(doc.Text))
		}
		n, between := slices.BinarySearchFunc(clusters, c.End, func(r Range, at int) int { return r.End - at })
		if !between && fits(clusters[n]) {
			t.Fatalf("chunk %d ends inside the cluster %q", i, clusters[n].Of(doc.Text))
		}
		if !utf8.ValidString(c.Of(doc.Text)) {
			t.Fatalf("chunk %d ends inside a rune", i)
		}
		if c.Header.Len() > 0 && (c.Header.End > firstVisible(doc.Text, c.Range) || !fits(c.Header)) {
			t.Fatalf("chunk %d at %s has the header %s %q", i, c.Range, c.Header, c.Header.Of(doc.Text))
		}
		if want := wantHeadings(doc.Text, headings, c.Range); !slices.Equal(c.Headings, want) {
			t.Fatalf("chunk %d %q stands under %q, want %q", i, c.Of(doc.Text), c.Headings, want)
		}
	}
	if end != len(doc.Text) {
		t.Fatalf("chunks end at %d of %d", end, len(doc.Text))
	}
}

// clustersOf is the ranges of the grapheme clusters of text.
func clustersOf(text string) []Range {
	var out []Range
	for g := uniseg.NewGraphemes(text); g.Next(); {
		from, to := g.Positions()
		out = append(out, Range{from, to})
	}
	return out
}

// wantHeadings finds the headings above r by going back from its first visible
// character.
func wantHeadings(text string, headings []Heading, r Range) []string {
	first := r.Start
	if visible := strings.TrimSpace(r.Of(text)); visible != "" {
		first += strings.Index(r.Of(text), visible)
	}
	var path []string
	level := lowestLevel + 1
	for _, h := range slices.Backward(headings) {
		if h.Start <= first && h.Level < level {
			level = h.Level
			if h.Title != "" {
				path = append(path, h.Title)
			}
		}
	}
	slices.Reverse(path)
	return path
}

// runeTokenizer makes n tokens of every rune.
type runeTokenizer int

func (n runeTokenizer) Offsets(text string) ([]Range, error) {
	var tokens []Range
	for i, r := range text {
		for range n {
			tokens = append(tokens, Range{i, i + utf8.RuneLen(r)})
		}
	}
	return tokens, nil
}

// noTokens finds no tokens in any text.
type noTokens struct{}

func (noTokens) Offsets(string) ([]Range, error) { return nil, nil }

func FuzzSplit(f *testing.F) {
	for i, text := range []string{
		"", " \n\t\n ", "# Title\n\nOne. Two.\n\n- a\n  - b\n    ```\n    x\n", "a\r\n\r\nb\rc\r\r\n",
		"今天下雨。明天晴。", "👨‍👩‍👧‍👦🇩🇪🇫🇷e\u0301\u0301", "a | b\n--|--\n1 | 2\n\n> q\n>\n> r\n", "---\na: b\n---\n<!-- x\n\n-->\n<div>\n\n===\nx\n===\n",
		"x.\u0600X \u0600\u0600a", strings.Repeat("\u0301", 300), strings.Repeat("a", 700), "func f() {\n\n\tx()\n}\n\nvar a\n",
		"[a](b) `c` *d* _e_ ![f][g]\n---\n", "한국어 문장입니다. 각각", "1. a\n\n   b\n2. c\n      d\n* * *\n~~~\n",
	} {
		f.Add(text, uint64(i), uint16(8), uint16(64), uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64, tokens, bytes uint16, choice uint8) {
		if len(text) > 4<<10 {
			return
		}
		opts := Options{
			Mode:      []Mode{Structure, Sentence, Fixed}[choice%3],
			MaxTokens: minTokens + int(tokens)%200,
			MaxBytes:  minBytes + int(bytes)%1000,
		}
		doc := Document{Text: text, Syntax: []Syntax{Plain, Markdown, Code}[choice/3%3]}
		if random := rand.New(rand.NewPCG(seed, 0)); random.IntN(3) == 0 {
			for at := 0; at < len(text); at += 1 + random.IntN(len(text)) {
				doc.Headings = append(doc.Headings, Heading{Range: Range{at, at + random.IntN(len(text)-at)}, Level: random.IntN(12), Title: "given"})
			}
		}
		tok := []Tokenizer{WordTokenizer{}, runeTokenizer(1), runeTokenizer(9), noTokens{}}[choice/9%4]
		c, err := New(tok, opts)
		if err != nil {
			t.Fatal(err)
		}
		chunks, err := c.Split(doc)
		if !utf8.ValidString(text) {
			if err == nil {
				t.Fatal("took text that is not valid UTF-8")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		checkChunks(t, tok, opts, doc, chunks)
		again, err := c.Split(doc)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(chunks, again); diff != "" {
			t.Fatalf("the same text is cut in two ways (-first +second):\n%s", diff)
		}
	})
}
