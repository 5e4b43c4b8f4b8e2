package chunker

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTitle(t *testing.T) {
	long := ""
	for range 40 {
		long += "ten bytes "
	}
	tests := []struct{ heading, want string }{
		{"# Plain", "Plain"},
		{"###### Deep \t", "Deep"},
		{"  ## Indented ##  \n", "Indented"},
		{"# C#", "C#"},
		{"## Closed #######", "Closed"},
		{"#", ""},
		{"# #", ""},
		{"Set\next\n", "Set ext"},
		{"# *One* **two** ***three*** _four_ __five__ ~~six~~", "One two three four five six"},
		{"# snake_case and 2 * 3 ~ 4 _ 5", "snake_case and 2 * 3 ~ 4 _ 5"},
		{"# `code *kept*` and ``a ` b``", "code *kept* and a ` b"},
		{"# `unclosed", "unclosed"},
		{"# A [link](https://example.org/a_b) here", "A link here"},
		{"# [![image](a.png)](b) and ![alt text](c)", "image and alt text"},
		{"# A [reference][ref] and a[i][j] and [x]", "A reference and a[i][j] and [x]"},
		{"# ] [ ](", "] [ ]("},
		{`# \*not\* \[markup\]`, "*not* [markup]"},
		{"# 标题 *强调*", "标题 强调"},
		{"# " + long, long[:longestTitle-len("# ")] + "…"},
	}
	for _, tt := range tests {
		if got := title(tt.heading); got != tt.want {
			t.Errorf("title of %q: %q, want %q", tt.heading, got, tt.want)
		}
	}
}

func TestHeadingPaths(t *testing.T) {
	headings := []Heading{
		{Level: 2, Title: "a"}, {Level: 4, Title: "b"}, {Level: 3, Title: "c"}, {Level: 1, Title: ""}, {Level: 2, Title: "d"}, {Level: 2, Title: "e"},
	}
	want := [][]string{{"a"}, {"a", "b"}, {"a", "c"}, nil, {"d"}, {"e"}}
	if diff := cmp.Diff(want, headingPaths(headings)); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

func TestMarkdownLines(t *testing.T) {
	type opens struct {
		ATX, Setext   int
		Divider       bool
		Fence         string
		Delimiter     bool
		Width, Number int
		Tag           string
		Markup        bool
	}
	tests := []struct {
		body string
		want opens
	}{
		{"text", opens{}},
		{"# a", opens{ATX: 1}},
		{"######", opens{ATX: 6}},
		{"#######", opens{}},
		{"#a", opens{}},
		{"===", opens{Setext: 1}},
		{"= =", opens{}},
		{"-", opens{Setext: 2, Width: 1}},
		{"---", opens{Setext: 2, Divider: true}},
		{"* * *", opens{Divider: true, Width: 1}},
		{"_ _", opens{}},
		{"***a", opens{}},
		{"```go", opens{Fence: "```"}},
		{"~~~~ a`b", opens{Fence: "~~~~"}},
		{"```a```", opens{}},
		{"``", opens{}},
		{"|---|:-:|", opens{Delimiter: true}},
		{"-|-", opens{Delimiter: true}},
		{"|:|", opens{}},
		{"- a", opens{Width: 1}},
		{"-a", opens{}},
		{"+\ta", opens{Width: 1}},
		{"5. a", opens{Width: 2, Number: 5}},
		{"12) a", opens{Width: 3, Number: 12}},
		{"1.", opens{Width: 2, Number: 1}},
		{"1.5", opens{}},
		{"123456789. a", opens{Width: 10, Number: 123456789}},
		{"1234567890. a", opens{}},
		{"<!-- a", opens{Tag: "-->", Markup: true}},
		{"<?php", opens{Tag: "?>", Markup: true}},
		{"<![CDATA[", opens{Tag: "]]>", Markup: true}},
		{"<!DOCTYPE html>", opens{Tag: ">", Markup: true}},
		{"<PRE class='a'>", opens{Tag: "</pre>", Markup: true}},
		{"</div>", opens{Markup: true}},
		{"<div", opens{Markup: true}},
		{"<b>", opens{Markup: true}},
		{"<b>bold</b> text", opens{}},
		{"<https://example.org>", opens{}},
		{"<", opens{}},
		{"< 5", opens{}},
	}
	for _, tt := range tests {
		var got opens
		got.ATX, got.Setext = atxLevel(tt.body), setextLevel(tt.body)
		got.Divider, got.Fence, got.Delimiter = isDivider(tt.body), opensFence(tt.body), isDelimiterRow(tt.body)
		got.Width, got.Number = listMarker(tt.body)
		got.Tag, got.Markup = opensMarkup(tt.body, true)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.body, diff)
		}
	}
}

func TestFrontMatter(t *testing.T) {
	tests := []struct{ text, want string }{
		{"---\na: b\n---\ntext\n", "---\na: b\n---\n"},
		{"---\r\na: b\r\n...\r\ntext\r\n", "---\r\na: b\r\n...\r\n"},
		{"---\n# comment\nlist:\n  - a\n---", "---\n# comment\nlist:\n  - a\n---"},
		{"---\n---\ntext\n", "---\n---\n"},
		{"+++\na = 1\n+++\ntext\n", "+++\na = 1\n+++\n"},
		{"---\na: b\n", ""},
		{"---\n\ntext: a\n---\n", ""},
		{"---\nJust text.\n---\n", ""},
		{"\n---\na: b\n---\n", ""},
		{" ---\na: b\n---\n", ""},
		{"----\na: b\n----\n", ""},
		{"", ""},
	}
	for _, tt := range tests {
		if got := tt.text[:frontMatterEnd(tt.text)]; got != tt.want {
			t.Errorf("front matter of %q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestSentenceRanges(t *testing.T) {
	tests := []struct {
		name string
		text string
		want []string
	}{
		{"latin", "One. Two! Three? Four", []string{"One. ", "Two! ", "Three? ", "Four"}},
		{"numbers", "It is 3.14 now. Yes.", []string{"It is 3.14 now. ", "Yes."}},
		{"initials", "The U.S.A. is large. So is it.", []string{"The U.S.A. is large. ", "So is it."}},
		{"lower case goes on", "See e.g. this one. Yes.", []string{"See e.g. this one. ", "Yes."}},
		{"capital after initials", "The U.S. Army.", []string{"The U.S. ", "Army."}}, // a known limit of the rules
		{"wrapped", "One\ntwo. Three\r\nfour.", []string{"One\ntwo. ", "Three\r\nfour."}},
		{"stop at line end", "One.\r\nTwo.", []string{"One.\r\n", "Two."}},
		{"quotes", "He said: \"Go.\" Then (he went.) Done.", []string{"He said: \"Go.\" ", "Then (he went.) ", "Done."}},
		{"chinese", "今天下雨。明天晴！真的？好", []string{"今天下雨。", "明天晴！", "真的？", "好"}},
		{"hindi", "यह पहला है। यह दूसरा है॥ अंत", []string{"यह पहला है। ", "यह दूसरा है॥ ", "अंत"}},
		{"arabic", "هل هذا سؤال؟ نعم.", []string{"هل هذا سؤال؟ ", "نعم."}},
		{"thai", "ภาษาไทยไม่มีจุด เว้นวรรค", []string{"ภาษาไทยไม่มีจุด เว้นวรรค"}},
		{"armenian", "Մեկ։ Երկու։", []string{"Մեկ։ ", "Երկու։"}},
		{"inside a cluster", "Go.\u0600X", []string{"Go.\u0600X"}},
		{"empty", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for r := range sentenceRanges("<"+tt.text+">", Range{1, 1 + len(tt.text)}) {
				got = append(got, r.Of("<"+tt.text+">"))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("sentences (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWordTokenizer(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{"", nil},
		{" \n\t", nil},
		{"Hello, world!", []string{"Hello", ",", "world", "!"}},
		{"x2 = 3.14", []string{"x2", "=", "3", ".", "14"}},
		{"今天 ok", []string{"今", "天", "ok"}},
		{"cafe\u0301 👩\u200d👧 नमस्ते", []string{"cafe\u0301", "👩\u200d", "👧", "नमस्ते"}},
		{"\u0301a\xff", []string{"\u0301", "a", "\xff"}},
	}
	for _, tt := range tests {
		ranges, err := WordTokenizer{}.Offsets(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range ranges {
			got = append(got, r.Of(tt.text))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("tokens of %q (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestWholeClusters(t *testing.T) {
	const family, flags = "👨\u200d👩\u200d👧", "🇩🇪🇫🇷🇯🇵"
	tests := []struct {
		text            string
		start, end, cut int
	}{
		{"abc", 0, 2, 2},
		{"a\r\nb", 0, 2, 1},
		{"a\r\nb", 0, 3, 3},
		{"e\u0301x", 0, 1, 0},
		{family + "x", 0, len("👨\u200d"), 0},
		{"x" + family, 0, 1 + len("👨\u200d👩"), 1},
		{flags, 0, 8, 8},
		{flags, 0, 12, 8},
		{flags, 4, 12, 12}, // start is taken for a boundary
		{"한국", 0, 3, 3},
	}
	for _, tt := range tests {
		if got := wholeClusters(tt.text, tt.start, tt.end); got != tt.cut {
			t.Errorf("%q from %d to %d: cut at %d, want %d", tt.text, tt.start, tt.end, got, tt.cut)
		}
	}
}
