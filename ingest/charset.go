package ingest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

// utf16Order is the byte order that the file's first two bytes tell, or nil.
func utf16Order(file []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(file, []byte("\xff\xfe")):
		return binary.LittleEndian
	case bytes.HasPrefix(file, []byte("\xfe\xff")):
		return binary.BigEndian
	}
	return nil
}

const utf16BOM = 2 // bytes

// decodeUTF16 reads UTF-16 from byte start on.
func decodeUTF16(file []byte, start int, order binary.ByteOrder) (*source, *Skip) {
	bad := 0
	for i := start; i < len(file); {
		r, size := utf16Rune(file[i:], order)
		if r == utf8.RuneError {
			bad += size
		}
		i += size
	}
	if skip := tooManyBad(bad, len(file)); skip != nil {
		return nil, skip
	}
	var d decoding
	// A 0x0A byte is half of many characters, so lines are marked apart.
	lines := make([]byte, len(file))
	for i := start; i < len(file); {
		r, size := utf16Rune(file[i:], order)
		d.add(string(r), i, size)
		i += size
		if r == '\n' {
			lines[i-1] = '\n'
		}
	}
	return d.finish(lines, utf16Name(order)), nil
}

// utf16Rune decodes the first character of b. What cannot be in a text, such as
// half a surrogate pair, is U+FFFD.
func utf16Rune(b []byte, order binary.ByteOrder) (r rune, size int) {
	if len(b) < 2 {
		return utf8.RuneError, len(b)
	}
	r = rune(order.Uint16(b))
	switch {
	case r == 0:
		return utf8.RuneError, 2
	case !utf16.IsSurrogate(r):
		return r, 2
	case len(b) < 4:
		return utf8.RuneError, 2
	}
	if pair := utf16.DecodeRune(r, rune(order.Uint16(b[2:]))); pair != utf8.RuneError {
		return pair, 4
	}
	return utf8.RuneError, 2
}

var xmlEncoding = regexp.MustCompile(`^<\?xml\s[^>]*\bencoding\s*=\s*["']([^"'>]+)["']`)

// decodeHTML reads a page in the character set that it declares.
func decodeHTML(file []byte) (*source, *Skip) {
	if bytes.HasPrefix(file, []byte(utf8BOM)) || utf16Order(file) != nil {
		return decode(file)
	}
	enc, name, _ := charset.DetermineEncoding(file, "")
	if m := xmlEncoding.FindSubmatch(file[:min(len(file), 256)]); m != nil {
		if e, n := charset.Lookup(string(m[1])); e != nil {
			enc, name = e, n
		}
	}
	switch {
	case name == "replacement": // for sets that browsers refuse to decode
		return nil, &Skip{Reason: Unsupported, Detail: "it declares a character set that is no longer decoded; convert it to UTF-8"}
	case name == "utf-8" || strings.HasPrefix(name, "utf-16"):
		return decode(file) // UTF-16 without its mark could not declare itself
	case name == "windows-1252" && utf8.Valid(file):
		return decode(file) // it is the default, and often declared by mistake
	}
	return decodeLegacy(file, name, enc)
}

// transformer is the part of a character set's decoder that is used here.
type transformer interface {
	Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error)
}

// decodeLegacy decodes any other character set one character at a time, which
// is what tells the bytes of each.
func decodeLegacy(file []byte, name string, enc encoding.Encoding) (*source, *Skip) {
	if skip := tooManyControls(file); skip != nil {
		return nil, skip
	}
	// In all sets but one, a byte below 0x80 where a character starts is that
	// ASCII character.
	ascii := name != "iso-2022-jp"
	t := enc.NewDecoder()
	next := func(b []byte) (string, int) { return nextCharacter(t, b) }
	if table, ok := enc.(*charmap.Charmap); ok { // of single bytes
		characters := characters(table)
		next = func(b []byte) (string, int) { return characters[b[0]], 1 }
	}
	var d decoding
	for i := 0; i < len(file); {
		if ascii && file[i] < utf8.RuneSelf && file[i] != 0 {
			n := asciiPrefix(file[i:])
			d.add(string(file[i:i+n]), i, n)
			i += n
			continue
		}
		text, size := next(file[i:])
		d.add(text, i, size)
		i += size
	}
	return d.finish(file, name), nil
}

// characters are what the bytes of a character set stand for.
func characters(set *charmap.Charmap) *[256]string {
	var out [256]string
	for b := range out {
		if r := set.DecodeByte(byte(b)); r == 0 {
			out[b] = replacement
		} else {
			out[b] = string(r)
		}
	}
	return &out
}

// nextCharacter decodes the first character of b. The text is empty for bytes
// that only switch the decoder's state.
func nextCharacter(t transformer, b []byte) (text string, size int) {
	var dst [utf8.UTFMax]byte
	// The decoder fills the room it is given; the least room that is enough
	// gives one character.
	for room := 1; room <= len(dst); room++ {
		nDst, nSrc, _ := t.Transform(dst[:room], b, true)
		if nSrc > 0 {
			if bytes.IndexByte(dst[:nDst], 0) >= 0 {
				return replacement, nSrc
			}
			return string(dst[:nDst]), nSrc
		}
	}
	return replacement, 1
}

// asciiPrefix is the length of the longest prefix of ASCII without NUL.
func asciiPrefix(b []byte) int {
	for i, c := range b {
		if c == 0 || c >= utf8.RuneSelf {
			return i
		}
	}
	return len(b)
}

// tooManyControls finds binary content where any byte would be a character.
func tooManyControls(file []byte) *Skip {
	bad := 0
	for _, c := range file {
		if c < ' ' && !strings.ContainsRune("\t\n\f\r\x1b", rune(c)) {
			bad++
		}
	}
	if tooManyBad(bad, len(file)) == nil {
		return nil
	}
	return &Skip{Reason: Binary, Detail: fmt.Sprintf("%d of its %d bytes are control characters", bad, len(file))}
}
