package ingest_test

import (
	"strings"
	"testing"
)

func TestParseHTMLText(t *testing.T) {
	for _, tc := range []struct{ name, page, want string }{
		{"blocks", "<p>One</p><p>Two</p>", "One\n\nTwo"},
		{"inline", "<b>a</b><i>b</i> <u> c </u>d", "ab c d"},
		{"white space", " a\n\t b\u00a0&nbsp; &#32;c ", "a b c"},
		{"once", "&amp;lt;", "&lt;"},
		{"not references", "a & b &; &# &nope; AT&T", "a & b &; &# &nope; AT&T"},
		{"nav", "a<nav>b<navigation>c</navigation>d</NAV >e", "a\n\ne"},
		{"nav in nav", "<nav>a<nav>b</nav>c</nav>d", "c\n\nd"},
		{"script to the end", "a<script>b<p>c", "a"},
		{"self-closing script", "a<script src='x'/>b", "ab"},
		{"end tag in a script", `a<nav><script>"</nav>"</script>b</nav>c`, "a\n\nb\n\nc"},
		{"noscript, frames", "a<noscript>b</noscript><iframe>c</iframe>d", "ad"},
		{"second title", "<title>a</title>b<title>c</title>d", "bd"},
		{"cells without a table", "<td>a<td>b", "a\nb"},
		{"empty cells", "<table><tr><td><td>a<td><td>b<td></table>c", " | a |  | b\n\nc"},
		{"empty item", "<ul><li></ul><p>a", "a"},
		{"list in a list", "<ul><li><ul><li>a</ul>b</ul>c", "  - a\nb\n\nc"},
		{"stray end tags", "a</ul></table></pre></tr>b", "a\n\nb"},
		{"pre then block", "<pre>a\n\n</pre>b<pre>c </pre> d", "a\n\nb\n\nc \n\nd"},
		{"breaks", "a<br>b<br><br>c<br><br><br>d", "a\nb\n\nc\n\nd"},
	} {
		l, err := parse("page.html", []byte(tc.page))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		checkLoaded(t, []byte(tc.page), l)
		if got := l.Document.Text; got != tc.want {
			t.Errorf("%s: %q gives %q, want %q", tc.name, tc.page, got, tc.want)
		}
	}
}

// Pages that would take long or much memory if work on one tag grew with what
// came before it.
func TestParseHTMLStaysLinear(t *testing.T) {
	const n = 200_000
	for name, page := range map[string]string{
		"unclosed nav":    strings.Repeat("<nav>x", n),
		"unclosed lists":  strings.Repeat("<ul><li>x", n),
		"unclosed tables": strings.Repeat("<table><tr><td>x", n),
		"empty cells":     "<table><tr>" + strings.Repeat("<td>", n) + "x",
		"breaks in pre":   "x<pre>" + strings.Repeat("\n<div>", n) + "x",
		"headings":        strings.Repeat("<h1>x", n),
		"one attribute":   `<p title="` + strings.Repeat("x", 10*n) + `">x`,
		"references":      strings.Repeat("&", n) + "x",
		"long reference":  "&" + strings.Repeat("x", 10*n) + ";",
	} {
		l, err := parse("page.html", []byte(page))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := len(l.Document.Text); got > 20*n {
			t.Errorf("%s: the text has %d bytes, the page %d", name, got, len(page))
		}
	}
}
