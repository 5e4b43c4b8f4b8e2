package chunker

import (
	"fmt"
	"strings"
	"testing"
)

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
