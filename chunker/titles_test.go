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
