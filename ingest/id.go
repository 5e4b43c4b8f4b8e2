package ingest

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ID makes a file name, or a path with slashes, into a document id, which must
// be valid UTF-8. Almost every name is its own id. A byte that is not UTF-8 is
// written as % and two upper-case hex digits, and a % that stands before two
// such digits as %25, so that different names never share an id.
func ID(name string) string {
	if utf8.ValidString(name) && !strings.Contains(name, "%") {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "%%%02X", name[i])
		case r == '%' && looksEscaped(name[i:]):
			b.WriteString("%25")
		default:
			b.WriteString(name[i : i+size])
		}
		i += size
	}
	return b.String()
}

func looksEscaped(s string) bool {
	const digits = "0123456789ABCDEF"
	return len(s) >= 3 && strings.IndexByte(digits, s[1]) >= 0 && strings.IndexByte(digits, s[2]) >= 0
}
