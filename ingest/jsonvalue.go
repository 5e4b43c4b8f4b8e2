package ingest

import (
	"encoding/json"
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/waymark-rag/waymark/chunker"
)

// What is here finds its way in text that is known to be valid JSON, so that a value
// is a range of the text.

// checkJSON tells what is wrong with JSON.
func checkJSON(data []byte) error {
	if json.Valid(data) {
		return nil
	}
	var v json.RawMessage
	return json.Unmarshal(data, &v)
}

// jsonSpace is where the next token starts.
func jsonSpace(s string, at int) int {
	for at < len(s) && strings.IndexByte(" \t\r\n,:", s[at]) >= 0 {
		at++
	}
	return at
}

// jsonEnd is where the value ends that starts at a position.
func jsonEnd(s string, at int) int {
	for depth := 0; at < len(s); {
		switch s[at] {
		case '"':
			at = jsonStringEnd(s, at)
		case '{', '[':
			depth++
			at++
			continue
		case '}', ']':
			depth--
			at++
		case ' ', '\t', '\r', '\n', ',', ':':
			at++
			continue
		default:
			for at < len(s) && strings.IndexByte(" \t\r\n,:]}", s[at]) < 0 {
				at++
			}
		}
		if depth <= 0 {
			break
		}
	}
	return at
}

// jsonStringEnd is where the string ends whose quote is at a position.
func jsonStringEnd(s string, at int) int {
	for at++; at < len(s) && s[at] != '"'; at++ {
		if s[at] == '\\' {
			at++
		}
	}
	return min(at+1, len(s))
}

// jsonItems yields the values of the array r, none if it is something else.
func jsonItems(s string, r chunker.Range) iter.Seq[chunker.Range] {
	return func(yield func(chunker.Range) bool) {
		if !isJSON(s, r, '[') {
			return
		}
		for at := jsonSpace(s, r.Start+1); at < r.End-1; {
			end := jsonEnd(s, at)
			if !yield(chunker.Range{Start: at, End: end}) {
				return
			}
			at = jsonSpace(s, end)
		}
	}
}

// jsonFields has the values of the object r by their keys, none if it is something else.
func jsonFields(s string, r chunker.Range) map[string]chunker.Range {
	if !isJSON(s, r, '{') {
		return nil
	}
	fields := map[string]chunker.Range{}
	for at := jsonSpace(s, r.Start+1); at < r.End-1; {
		key := chunker.Range{Start: at, End: jsonEnd(s, at)}
		at = jsonSpace(s, key.End)
		end := jsonEnd(s, at)
		fields[jsonString(s, key)] = chunker.Range{Start: at, End: end}
		at = jsonSpace(s, end)
	}
	return fields
}

// isJSON reports whether the value r starts with c.
func isJSON(s string, r chunker.Range, c byte) bool { return r.Len() > 1 && s[r.Start] == c }

// jsonString is what the string r says, empty if it is something else.
func jsonString(s string, r chunker.Range) string {
	var b strings.Builder
	for part, text := range jsonParts(s, r) {
		if text == "" {
			text = part.Of(s)
		}
		b.WriteString(text)
	}
	return b.String()
}

// string writes what the string r of a JSON text says.
func (e *extract) string(r chunker.Range) {
	for part, text := range jsonParts(e.src.text, r) {
		if text == "" {
			e.same(part)
		} else {
			e.instead(text, part)
		}
	}
}

// jsonParts cuts the inside of the string r into stretches that say what they are
// and escapes, each with what it stands for.
func jsonParts(s string, r chunker.Range) iter.Seq2[chunker.Range, string] {
	return func(yield func(chunker.Range, string) bool) {
		if !isJSON(s, r, '"') {
			return
		}
		for at, end := r.Start+1, r.End-1; at < end; {
			n := strings.IndexByte(s[at:end], '\\')
			if n < 0 {
				n = end - at
			}
			if n > 0 && !yield(chunker.Range{Start: at, End: at + n}, "") {
				return
			}
			at += n
			if at == end {
				return
			}
			text, size := jsonEscape(s[at:end])
			if !yield(chunker.Range{Start: at, End: at + size}, text) {
				return
			}
			at += size
		}
	}
}

// jsonEscape reads the escape that s starts with.
func jsonEscape(s string) (text string, size int) {
	const names, chars = `bfnrt"\/`, "\b\f\n\r\t\"\\/"
	if len(s) < 2 {
		return replacement, len(s)
	}
	if i := strings.IndexByte(names, s[1]); i >= 0 {
		return chars[i : i+1], 2
	}
	r, ok := jsonUnit(s)
	if !ok {
		return replacement, 2
	}
	size = len(`\u0000`)
	if utf16.IsSurrogate(r) {
		if low, ok := jsonUnit(s[size:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
			return string(utf16.DecodeRune(r, low)), 2 * size
		}
		r = utf8.RuneError
	}
	if r == 0 {
		r = utf8.RuneError
	}
	return string(r), size
}

// jsonUnit is the UTF-16 unit of a \u escape.
func jsonUnit(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}

// jsonScalar is a value that metadata can hold, or nil.
func jsonScalar(s string, r chunker.Range) any {
	raw := r.Of(s)
	switch {
	case isJSON(s, r, '"'):
		return jsonString(s, r)
	case raw == "true" || raw == "false":
		return raw == "true"
	}
	if n, err := strconv.ParseInt(raw, 10, 64); err == nil {
		return n
	}
	if n, err := strconv.ParseFloat(raw, 64); err == nil {
		return n
	}
	return nil
}
