package chunker

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
