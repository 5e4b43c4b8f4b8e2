package ingest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/waymark-rag/waymark/chunker"
)

const (
	utf8BOM     = "\xef\xbb\xbf"
	replacement = "\uFFFD" // stands for a byte that cannot be in a text
)

// source is a file's content as clean UTF-8, with the way back to the file.
type source struct {
	text     string
	m        *chunker.SourceMap // nil when text is the file, byte for byte
	lines    []byte             // as long as the file, with '\n' wherever a line ends
	encoding string             // as browsers name it; empty for UTF-8
}

// decode reads UTF-8, and what a byte order mark or the content itself tell to be in
// another character set.
func decode(file []byte) (*source, *Skip) {
	if order := utf16Order(file); order != nil {
		return decodeUTF16(file, utf16BOM, order)
	}
	if bytes.HasPrefix(file, []byte(utf8BOM)) {
		return decodeUTF8(file)
	}
	if utf8.Valid(file) && !bytes.ContainsAny(file, "\x00\x1b") {
		return &source{text: string(file), lines: file}, nil
	}
	return decodeAs(file, detect(file))
}

// decodeAs reads a character set by its name; none is UTF-8.
func decodeAs(file []byte, name string) (*source, *Skip) {
	switch name {
	case "", "utf-8":
		return decodeUTF8(file)
	case "utf-16le":
		return decodeUTF16(file, 0, binary.LittleEndian)
	case "utf-16be":
		return decodeUTF16(file, 0, binary.BigEndian)
	}
	enc, _ := charset.Lookup(name)
	return decodeLegacy(file, name, enc)
}

// decodeUTF8 reads UTF-8, and bytes that cannot be in it as U+FFFD.
func decodeUTF8(file []byte) (*source, *Skip) {
	start := 0
	if bytes.HasPrefix(file, []byte(utf8BOM)) {
		start = len(utf8BOM)
	}
	clean := utf8.Valid(file) && bytes.IndexByte(file, 0) < 0
	if clean && start == 0 {
		return &source{text: string(file), lines: file}, nil
	}
	if !clean {
		bad := 0
		for i := start; i < len(file); i++ {
			i += goodPrefix(file[i:])
			if i < len(file) {
				bad++
			}
		}
		if skip := tooManyBad(bad, len(file)); skip != nil {
			return nil, skip
		}
	}
	var d decoding
	for i := start; i < len(file); {
		n := goodPrefix(file[i:])
		d.add(string(file[i:i+n]), i, n)
		i += n
		if i < len(file) {
			d.add(replacement, i, 1)
			i++
		}
	}
	return d.finish(file, ""), nil
}

// goodPrefix is the length of the longest prefix that is UTF-8 without NUL.
func goodPrefix(b []byte) int {
	for i := 0; i < len(b); {
		c, size := b[i], 1
		if c >= utf8.RuneSelf {
			_, size = utf8.DecodeRune(b[i:])
		}
		if c == 0 || c >= utf8.RuneSelf && size == 1 {
			return i
		}
		i += size
	}
	return len(b)
}

// tooManyBad says whether so many bytes cannot be in a text that the file is
// none. A few are no reason: logs hold NULs, and old texts stray bytes.
func tooManyBad(bad, size int) *Skip {
	if bad <= size/2 && (bad <= 8 || bad <= size/10) {
		return nil
	}
	return &Skip{
		Reason: Binary,
		Detail: fmt.Sprintf("%d of its %d bytes are not UTF-8 text; if it is text in another encoding, convert it to UTF-8", bad, size),
	}
}

// document has the text from a position on, its map and encoding.
func (s *source) document(start int) chunker.Document {
	var doc chunker.Document
	doc.Text, doc.Source = s.from(start)
	s.encoded(&doc)
	return doc
}

// encoded notes in the metadata what the file's text is encoded in.
func (s *source) encoded(doc *chunker.Document) {
	delete(doc.Metadata, MetaEncoding)
	if s.encoding == "" {
		return
	}
	if doc.Metadata == nil {
		doc.Metadata = map[string]any{}
	}
	doc.Metadata[MetaEncoding] = s.encoding
}

// from returns the text from a position on and its map.
func (s *source) from(start int) (string, chunker.SourceMap) {
	if s.m != nil && start == 0 {
		return s.text, *s.m
	}
	var b chunker.SourceMapBuilder
	s.same(&b, chunker.Range{Start: start, End: len(s.text)})
	return s.text[start:], b.Finish(s.lines)
}

// same adds the bytes of s.text in r to a map of another text that holds them
// unchanged.
func (s *source) same(b *chunker.SourceMapBuilder, r chunker.Range) {
	if s.m == nil {
		b.Add(r.Len(), r.Start, r.Len())
		return
	}
	at := s.position(r.Start)
	for i, c := range r.Of(s.text) {
		size := utf8.RuneLen(c)
		next := s.position(r.Start + i + size)
		b.Add(size, at, next-at)
		at = next
	}
}

// instead adds textLen bytes to a map of another text that has them in place of
// the bytes of s.text in r.
func (s *source) instead(b *chunker.SourceMapBuilder, textLen int, r chunker.Range) {
	start, end := s.position(r.Start), s.position(r.End)
	b.Add(textLen, start, end-start)
}

// position maps a position between two bytes of s.text to one in the file.
func (s *source) position(text int) int {
	if s.m == nil {
		return text
	}
	return s.m.Tile(chunker.Range{End: text}).End
}

// decoding builds a source whose text is not the file byte for byte.
type decoding struct {
	text strings.Builder
	b    chunker.SourceMapBuilder
}

// add appends text that stands for size bytes of the file.
func (d *decoding) add(text string, at, size int) {
	d.text.WriteString(text)
	d.b.Add(len(text), at, size)
}

// finish names the encoding, empty for UTF-8.
func (d *decoding) finish(lines []byte, encoding string) *source {
	m := d.b.Finish(lines)
	return &source{text: d.text.String(), m: &m, lines: lines, encoding: encoding}
}
