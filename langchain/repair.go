package langchain

import (
	"strings"
	"unicode/utf8"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/ingest"
)

const (
	byteOrderMark = "\uFEFF"
	replacement   = "\uFFFD"
)

// isClean reports whether s is UTF-8 without NUL, which is what a store takes.
func isClean(s string) bool {
	return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// repair puts U+FFFD in place of each byte that is not UTF-8 and of each NUL.
func repair(s string) string {
	if isClean(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s { // which yields U+FFFD for each bad byte
		if r == 0 {
			r = utf8.RuneError
		}
		b.WriteRune(r)
	}
	return b.String()
}

// repairText is repair for a whole text. It leaves out a byte order mark in front
// and returns the map from the result to the text given.
func repairText(s string) (string, chunker.SourceMap) {
	var m chunker.SourceMapBuilder
	body := strings.TrimPrefix(s, byteOrderMark)
	skipped := len(s) - len(body)
	if isClean(body) {
		m.Add(len(body), skipped, len(body))
		return body, m.Finish([]byte(s))
	}
	for at := 0; at < len(body); {
		r, size := utf8.DecodeRuneInString(body[at:])
		bad := r == 0 || r == utf8.RuneError && size == 1
		if bad {
			m.Add(len(replacement), skipped+at, size)
		} else {
			m.Add(size, skipped+at, size)
		}
		at += size
	}
	return repair(body), m.Finish([]byte(s))
}

// repairName makes a key or an id clean so that different ones stay different.
func repairName(s string) string {
	if isClean(s) {
		return s
	}
	return strings.ReplaceAll(ingest.ID(s), "\x00", "%00")
}
