package pipeline

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// parse runs the parser over pieces.
func parse(passages int, pieces ...string) (string, *citationParser) {
	p := newCitationParser(passages)
	var b strings.Builder
	for _, piece := range pieces {
		b.WriteString(p.write(piece))
	}
	b.WriteString(p.close())
	return b.String(), p
}

func TestCitations(t *testing.T) {
	tests := []struct {
		name, in, want string
		used           []int // passages, of three
		dropped        int
	}{
		{"tracker case", "Yes [2][0][9] and [２]", "Yes [1] and [1]", []int{2}, 2},
		{"one", "Sleep. [1]", "Sleep. [1]", []int{1}, 0},
		{"order of first use", "a [3]. b [1]. c [3].", "a [1]. b [2]. c [1].", []int{3, 1}, 0},
		{"adjacent", "a [1][2]", "a [1][2]", []int{1, 2}, 0},
		{"repeated", "a [2][2] [2]. b", "a [1]. b", []int{2}, 0},
		{"list", "a [1, 2]; b [3,1]; c [1;2]; d [1 and 3]", "a [1][2]; b [3][1]; c [1][2]; d [1][3]", []int{1, 2, 3}, 0},
		{"list in part out of range", "a [1, 7, 0]", "a [1]", []int{1}, 2},
		{"range", "a [1-3] b [2–3]", "a [1][2][3] b [2][3]", []int{1, 2, 3}, 0},
		{"range too long", "a [2-900]", "a [1][2]", []int{2, 3}, 1},
		{"range backwards", "a [3-1]", "a [1][2]", []int{3, 1}, 0},
		{"footnotes", "a [^1] b [^2^]", "a [1] b [2]", []int{1, 2}, 0},
		{"full-width", "a［２］b【1】c【３†source】", "a[1]b[2]c[3]", []int{2, 1, 3}, 0},
		{"labels", "a [Source 1] b [passage 2] c [doc 3] d [Source: 1, Source 2]", "a [1] b [2] c [3] d [1][2]", []int{1, 2, 3}, 0},
		{"more labels", "a [#1] b [doc_2] c [cite: 3, 1] d [Quelle 2] e [来源1]", "a [1] b [2] c [3][1] d [2] e [1]", []int{1, 2, 3}, 0},
		{"labels in parentheses", "a (Source 2), b (passages 1 and 3). c（来源２）", "a [1], b [2][3]. c[1]", []int{2, 1, 3}, 0},
		{"parenthesis out of range", "a (Source 9). b (see [9]) c ([9])", "a. b (see) c (…)", nil, 3},
		{"parentheses of other kinds", "a (see source 1) (1) (Smith 12) (no. 3)", "a (see source 1) (1) (Smith 12) (no. 3)", nil, 0},
		{"link behind a label", "(Source 1)(x) [1](Source 2)", "(Source 1)(x) [1](Source 2)", nil, 0},
		{"dropped before a label", "([9]Source 1) (Source [9] 2)", "(…Source 1) (Source … 2)", nil, 2},
		{"doubled brackets", "a [[1]]", "a [[1]]", []int{1}, 0},
		{"parentheses", "a (1)", "a (1)", nil, 0},
		{"year", "in [2024] and [1066-1087]", "in [2024] and [1066-1087]", nil, 0},
		{"words", "see [text] and [a1]", "see [text] and [a1]", nil, 0},
		{"link", "see [1](https://x.test/) and ![2](y.png)", "see [1](https://x.test/) and ![2](y.png)", nil, 0},
		{"code span", "use `a[1] [2]` [1]", "use `a[1] [2]` [1]", []int{1}, 0},
		{"long code span", "use ``x ` [1]`` [2]", "use ``x ` [1]`` [1]", []int{2}, 0},
		{"open code span", "it`s [1]", "it`s [1]", []int{1}, 0},
		{"fence", "a [2]\n```go\nx[0] = [1]\n\n  y\n```\nb [1]", "a [1]\n```go\nx[0] = [1]\n\n  y\n```\nb [2]", []int{2, 1}, 0},
		{"tilde fence", "~~~\n[1]\n~~~\n[2]", "~~~\n[1]\n~~~\n[1]", []int{2}, 0},
		{"open fence", "```\n[1]", "```\n[1]", nil, 0},
		{"fence without a line", "```[9]", "```[9]", nil, 0},
		{"index", "arr[0] and m[7][9]", "arr[0] and m[7][9]", nil, 0},
		{"behind a word", "Paris[2], 1889[1].", "Paris[1], 1889[2].", []int{2, 1}, 0},
		{"escaped", `a \[1\]`, `a \[1\]`, nil, 0},
		{"dropped before a stop", "Yes [9].", "Yes.", nil, 1},
		{"dropped in the middle", "Yes [9] and [0] no", "Yes and no", nil, 2},
		{"dropped at the start", "[9] Yes", "Yes", nil, 1},
		{"dropped on a line", "a\n[9]\n\nb", "a\n\nb", nil, 1},
		{"dropped before a marker", "a [9][1]", "a [1]", []int{1}, 1},
		{"dropped inside a bracket", "[[9]1] and [see [9]]", "[…1] and [see …]", nil, 2},
		{"white space around", "\n  a [1] \n\n", "a [1]", []int{1}, 0},
		{"unfinished", "a [1", "a [1", nil, 0},
		{"not UTF-8", "a\xff [1]", "a\uFFFD [1]", []int{1}, 0},
		{"empty", "", "", nil, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, p := parse(3, test.in)
			if got != test.want || p.dropped != test.dropped {
				t.Errorf("got %q, dropped %d: want %q, %d", got, p.dropped, test.want, test.dropped)
			}
			if diff := cmp.Diff(test.used, p.used); diff != "" {
				t.Errorf("passages used (-want +got):\n%s", diff)
			}
			if bytewise, _ := parse(3, strings.Split(test.in, "")...); bytewise != got {
				t.Errorf("rune by rune: got %q: want %q", bytewise, got)
			}
		})
	}
}

func TestCitationsWithoutPassages(t *testing.T) {
	if got, p := parse(0, "a [1] b"); got != "a b" || p.dropped != 1 {
		t.Errorf("got %q, dropped %d: want %q, 1", got, p.dropped, "a b")
	}
}

// A streamed answer must not be held back until its end.
func TestCitationsComeEarly(t *testing.T) {
	p := newCitationParser(3)
	if got := p.write("Dragons sleep. [2] They"); got != "Dragons sleep. [1] They" {
		t.Errorf("got %q before the end", got)
	}
	if got := p.write(" [x"); got != "" {
		t.Errorf("got %q: want nothing while a marker may follow", got)
	}
	if got := p.write("y]"); got != " [xy]" {
		t.Errorf("got %q", got)
	}
}

func FuzzCitations(f *testing.F) {
	for _, s := range []string{
		"Yes [2][0][9] and [２]", "a `b[1]` [1](u) 【2】[^1]", "```\n[1]\n```\n[2]", "[[9]1] x[0][1]", "` [9] ``[1]", "a [1-3]\n\n[9] b",
		"``[9]`", "[1,[9]2]", "[Source 1 to 3†x]", "~~[9]~\n[1]",
		"(Source 2) ([9]Source 1) (doc [9]3)", "[1](Source 2)(Source 1)[1]", "（来源１）(ref [9", "[(Source [9]1)]",
	} {
		f.Add(s, uint(1), 3)
		f.Add(s, uint(3), 1)
	}
	f.Fuzz(func(t *testing.T, text string, step uint, passages int) {
		passages = int(uint(passages) % 20)
		step = step%7 + 1
		whole, p := parse(passages, text)
		var pieces []string
		for rest := text; rest != ""; {
			n := min(int(step), len(rest))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		split, q := parse(passages, pieces...)
		if split != whole {
			t.Fatalf("in pieces of %d: %q, in one: %q", step, split, whole)
		}
		if diff := cmp.Diff(p.marks, q.marks, cmp.AllowUnexported(mark{})); diff != "" {
			t.Fatalf("marks differ with the split:\n%s", diff)
		}
		if !utf8.ValidString(whole) || whole != strings.TrimSpace(whole) {
			t.Fatalf("text is not UTF-8 or not trimmed: %q", whole)
		}
		for _, m := range p.marks {
			if m.number < 1 || m.number > len(p.used) || p.used[m.number-1] > passages || whole[m.start] != '[' || whole[m.end-1] != ']' {
				t.Fatalf("mark %+v of %q with %d passages used", m, whole, len(p.used))
			}
		}
		// No other reader finds a marker that is out of range, or one more.
		if again, r := parse(len(p.used), whole); len(text) < maxCode && (again != whole || r.dropped > 0) {
			t.Fatalf("read again: %q, dropped %d: want %q, 0", again, r.dropped, whole)
		}
	})
}
