package prose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBlocks(t *testing.T) {
	type block struct {
		Kind Kind
		Text string
	}
	tests := []struct {
		name, in string
		want     []block
	}{
		{"paragraphs", "a\nb\n\n c ", []block{{Paragraph, "a\nb"}, {Paragraph, "c"}}},
		{"headings", "# A\nb\n\nC\n===\nD\n---", []block{{Heading, "A"}, {Paragraph, "b"}, {Heading, "C"}, {Heading, "D"}}},
		{"list", "- a\n  more\n* b\n12. c", []block{{Item, "a\n  more"}, {Item, "b"}, {Item, "c"}}},
		{"table", "| a | b |\n|---|:-:|\n| 1 | 2 |", []block{{Row, "| a | b |"}, {Rule, "|---|:-:|"}, {Row, "| 1 | 2 |"}}},
		{"fence", "a\n```go\n# x\n\n- y\n```\nb", []block{{Paragraph, "a"}, {Fence, "```go\n# x\n\n- y\n```"}, {Paragraph, "b"}}},
		{"open fence", "~~~\na\n```", []block{{Fence, "~~~\na\n```"}}},
		{"quotation", "> a\n> b", []block{{Paragraph, "a\n> b"}}},
		{"rule", "a\n\n***\nb", []block{{Paragraph, "a"}, {Rule, "***"}, {Paragraph, "b"}}},
		{"carriage returns", "# A\r\n\r\nb\r\n", []block{{Heading, "A"}, {Paragraph, "b"}}},
		{"nothing", " \n\n", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []block
			for _, b := range Blocks(test.in) {
				got = append(got, block{b.Kind, b.Of(test.in)})
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSentences(t *testing.T) {
	log := strings.Repeat("2026-01-01 10:00:00 ok\n", 40)
	tests := []struct {
		name, in string
		want     []string
	}{
		{"plain", "He came. She saw! Did they? Yes", []string{"He came.", "She saw!", "Did they?", "Yes"}},
		{"wrapped lines", "He came\nhome. She\nsaw.", []string{"He came\nhome.", "She\nsaw."}},
		{"abbreviations", "Dr. Smith met J. R. Brown, e.g. Tom, in the U.S. Army. No. 5 won. He said no. She left.",
			[]string{"Dr. Smith met J. R. Brown, e.g. Tom, in the U.S. Army.", "No. 5 won.", "He said no.", "She left."}},
		{"numbers", "It is 3.5 m. Long.", []string{"It is 3.5 m.", "Long."}},
		{"war", "It was World War I. Then peace.", []string{"It was World War I.", "Then peace."}},
		{"chinese", "龙睡觉。它醒了！", []string{"龙睡觉。", "它醒了！"}},
		{"hindi", "वह आया। वह गया।", []string{"वह आया।", "वह गया।"}},
		{"blocks", "# Head. Line\n- one. two\n\n| a. b | c |\n|---|---|\n\n```\nx. y\n```",
			[]string{"Head. Line", "one. two", "| a. b | c |", "```\nx. y\n```"}},
		{"text without punctuation", log, strings.Split(strings.TrimSpace(log), "\n")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, s := range Sentences(test.in) {
				got = append(got, s.Of(test.in))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWords(t *testing.T) {
	tests := []struct{ in, want string }{ // folded content words
		{"The Dragons' caves", "dragon cav"},
		{"sleeping slept sleeps sleep", "sleep sleep sleep sleep"},
		{"running stopped", "run stop"},
		{"cities city", "citi citi"},
		{"boxes classes bus glass", "box class bus glass"},
		{"quickly quick", "quick quick"},
		{"making makes made make", "mak mak mak mak"},
		{"men women children wives", "man woman child wif"},
		{"king's kings", "king king"},
		{"1,000 1000 07 3rd three 3.50 1980s", "1000 1000 7 3 3 3.50 1980"},
		{"2024-05-01", "2024 5 1"},
		{"don’t e-mail x_y", "e mail x y"},
		{"龙睡觉 龙", "龙睡 睡觉 龙"},
		{"café Ünïcode", "café ünïcod"},
		{"", ""},
	}
	for _, test := range tests {
		var got []string
		for _, w := range Content(test.in) {
			got = append(got, w.Folded)
		}
		if joined := strings.Join(got, " "); joined != test.want {
			t.Errorf("%q: got %q, want %q", test.in, joined, test.want)
		}
	}
}

func TestWordKinds(t *testing.T) {
	want := []Word{
		{Span: Span{0, 3}, Folded: "the", Upper: true, Stop: true},
		{Span: Span{4, 9}, Folded: "smaug", Upper: true},
		{Span: Span{10, 13}, Folded: "171", Number: true},
	}
	if diff := cmp.Diff(want, Words("The Smaug 171")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestClean(t *testing.T) {
	tests := []struct{ in, want string }{
		{"a  b\n\tc", "a b c"},
		{"a\n> b", "a b"},
		{"He **really** came.", "He really came."},
		{"2**3 and a**b**c", "2**3 and a**b**c"},
		{"Paris [1], Rome[2][3].", "Paris, Rome."},
		{"a[1]b", "a b"},
		{"see [text] and [link](x)", "see [text] and [link](x)"},
		{"a【2】 b［３］", "a b"},
	}
	for _, test := range tests {
		if got := Clean(test.in); got != test.want {
			t.Errorf("%q: got %q, want %q", test.in, got, test.want)
		}
	}
}

func FuzzProse(f *testing.F) {
	for _, s := range []string{"# A\n- b. C\n\n| d |\n```\ne", "Dr. X. y\xff\n>z", "龙睡觉。1,0.5's", "\r\n***\r"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		check := func(what string, at int, p Span) int {
			if p.Start < at || p.End <= p.Start || p.End > len(text) {
				t.Fatalf("%s %v after %d in %q", what, p, at, text)
			}
			return p.End
		}
		at := 0
		for _, b := range Blocks(text) {
			at = check("block", at, b.Span)
		}
		at = 0
		for _, s := range Sentences(text) {
			at = check("sentence", at, s.Span)
		}
		start := 0
		for _, w := range Words(text) {
			check("word", start, w.Span)
			start = w.Start // pairs of characters overlap
		}
		Clean(text)
	})
}
