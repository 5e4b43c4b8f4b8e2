package chunker

import "strings"

// The functions below say what a line of Markdown opens. They get the line
// without indentation and trailing white space, and never an empty one.

// atxLevel is the level of a heading such as "## Title", 0 for other lines.
func atxLevel(body string) int {
	n := len(body) - len(strings.TrimLeft(body, "#"))
	if n > 6 || n < len(body) && body[n] != ' ' && body[n] != '\t' {
		return 0
	}
	return n
}

// setextLevel is the level that the line under a heading gives it, 0 for other
// lines.
func setextLevel(body string) int {
	switch {
	case strings.Trim(body, "=") == "":
		return 1
	case strings.Trim(body, "-") == "":
		return 2
	}
	return 0
}

// isDivider reports whether the line is a thematic break such as "* * *".
func isDivider(body string) bool {
	c := body[0]
	if c != '-' && c != '*' && c != '_' {
		return false
	}
	n := 0
	for i := range len(body) {
		switch body[i] {
		case c:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

// opensFence returns the run of backticks or tildes that opens a code fence,
// empty for other lines.
func opensFence(body string) string {
	c := body[0]
	if c != '`' && c != '~' {
		return ""
	}
	info := strings.TrimLeft(body, body[:1])
	run := body[:len(body)-len(info)]
	if len(run) < 3 || c == '`' && strings.Contains(info, "`") {
		return ""
	}
	return run
}

// closesFence reports whether the line closes a fence that run opened.
func closesFence(body, run string) bool {
	return strings.HasPrefix(body, run) && strings.Trim(body, run[:1]) == ""
}

// isDelimiterRow reports whether the line stands between the head of a table
// and its rows, such as "|---|:-:|".
func isDelimiterRow(body string) bool {
	return strings.Trim(body, "|-: \t") == "" && strings.Contains(body, "-") && strings.Contains(body, "|")
}

// listMarker returns the width of the marker that opens a list item, 0 for
// other lines, and the item's number, 0 for a bullet.
func listMarker(body string) (width, number int) {
	if c := body[0]; c == '-' || c == '+' || c == '*' {
		width = 1
	} else {
		for width < len(body) && width < 9 && '0' <= body[width] && body[width] <= '9' {
			number = number*10 + int(body[width]-'0')
			width++
		}
		if width == 0 || width == len(body) || body[width] != '.' && body[width] != ')' {
			return 0, 0
		}
		width++
	}
	if width < len(body) && body[width] != ' ' && body[width] != '\t' {
		return 0, 0
	}
	return width, number
}

// opensMarkup reports whether the line opens a block of HTML and what ends it;
// an empty tag stands for a blank line. A line that is one tag of any name opens
// a block only when anyTag is set.
func opensMarkup(body string, anyTag bool) (tag string, ok bool) {
	if body[0] != '<' || len(body) < 2 {
		return "", false
	}
	for _, special := range [][2]string{{"<!--", "-->"}, {"<?", "?>"}, {"<![CDATA[", "]]>"}} {
		if strings.HasPrefix(body, special[0]) {
			return special[1], true
		}
	}
	if body[1] == '!' {
		return ">", true
	}
	after := strings.TrimPrefix(body[1:], "/")
	rest := strings.TrimLeft(after, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")
	name := strings.ToLower(after[:len(after)-len(rest)])
	if name == "" || rest != "" && !strings.Contains(" \t/>", rest[:1]) {
		return "", false
	}
	switch {
	case rawTags[name] && body[1] != '/':
		return "</" + name + ">", true
	case blockTags[name]:
		return "", true
	}
	alone := strings.IndexByte(body, '>') == len(body)-1 && strings.LastIndexByte(body, '<') == 0
	return "", anyTag && alone
}

var (
	rawTags   = set("pre script style textarea")
	blockTags = set("address article aside base basefont blockquote body caption center col colgroup dd details " +
		"dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr " +
		"html iframe legend li link main menu menuitem nav noframes ol optgroup option p param search section summary " +
		"table tbody td tfoot th thead title tr track ul")
)

func set(words string) map[string]bool {
	s := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		s[w] = true
	}
	return s
}

// containsFold reports whether s contains the lower-case tag in any case.
func containsFold(s, tag string) bool { return strings.Contains(strings.ToLower(s), tag) }

// frontMatterEnd is where the YAML or TOML at the start of a text ends, 0 when
// there is none: a text may begin with a thematic break as well.
func frontMatterEnd(text string) int {
	delimiter, assigns := "---", ":"
	n := 0
	for l := range linesOf(text, Range{0, len(text)}) {
		n++
		switch {
		case l.indent > 0:
			if n <= 2 {
				return 0
			}
		case n == 1:
			if l.body == "+++" {
				delimiter, assigns = "+++", "="
			}
			if l.body != delimiter {
				return 0
			}
		case l.body == delimiter || l.body == "..." && delimiter == "---":
			return l.End
		case n == 2 && !strings.Contains(l.body, assigns) && !strings.HasPrefix(l.body, "#"):
			return 0
		}
	}
	return 0
}
