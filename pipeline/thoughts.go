package pipeline

import (
	"strings"
	"unicode"
)

const (
	thoughtsOpen  = "<think>"
	thoughtsClose = "</think>"
)

// thoughts takes out of a reply, while it is written, what some models put in
// front of it between <think> and </think>: it is not meant for the reader, and
// the numbers in it cite nothing.
type thoughts struct {
	in       string // not decided yet, or inside what may be the end of the tag
	inside   bool
	answered bool // the reply proper has begun
}

// write takes the next piece and returns what of the reply is certain.
func (t *thoughts) write(piece string) string {
	if t.answered {
		return piece
	}
	t.in += piece
	if !t.inside {
		start := strings.TrimLeftFunc(t.in, unicode.IsSpace)
		if rest, ok := strings.CutPrefix(start, thoughtsOpen); ok {
			t.in, t.inside = rest, true
		} else if !strings.HasPrefix(thoughtsOpen, start) {
			return t.close()
		} else {
			return ""
		}
	}
	if _, rest, ok := strings.Cut(t.in, thoughtsClose); ok {
		t.in, t.inside = rest, false
		return t.close()
	}
	t.in = t.in[max(0, len(t.in)-len(thoughtsClose)+1):]
	return ""
}

// close returns the rest: nothing of thoughts that have no end.
func (t *thoughts) close() string {
	rest := t.in
	if t.inside {
		rest = ""
	}
	t.in, t.answered = "", true
	return rest
}

// withoutThoughts is the reply without them.
func withoutThoughts(reply string) string {
	var t thoughts
	head := t.write(reply)
	return head + t.close()
}
