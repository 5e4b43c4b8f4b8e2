package ingest

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf8"

	icu "github.com/gogs/chardet"
	mozilla "github.com/wlynxg/chardet"
	"golang.org/x/net/html/charset"
)

const (
	// maxSample is how much of a file is looked at to tell its character set.
	maxSample = 64 << 10
	// sure is the confidence from which the Mozilla detector is believed. It is above
	// what that detector gives to any Western European text.
	sure = 0.75
)

// detect names the character set of a file that is not UTF-8, as browsers name it,
// or returns "" for one that is UTF-8 with a few bad bytes, or no text.
func detect(file []byte) string {
	if order := unmarkedUTF16(file); order != nil {
		return utf16Name(order)
	}
	high, good := countHigh(file)
	switch {
	case high == 0 && (bytes.Contains(file, []byte("\x1b$B")) || bytes.Contains(file, []byte("\x1b$@"))):
		return "iso-2022-jp"
	case high == 0 || good >= high-good || tooManyLegacyControls(file):
		return ""
	}
	sample := file[startOfHigh(file):]
	sample = sample[:min(len(sample), maxSample)]
	// One of the two knows East Asian, Cyrillic, Greek, Hebrew and Thai sets from short
	// texts, the other tells the sets of Latin and Arabic script apart; docs/formats.md
	// has figures.
	if r := mozilla.Detect(sample); r.Confidence > sure {
		if _, name := charset.Lookup(r.Encoding); name != "" && !strings.HasPrefix(name, "utf-") {
			return name
		}
	}
	if r, err := icu.NewTextDetector().DetectBest(sample); err == nil {
		_, name := charset.Lookup(r.Charset)
		if strings.HasPrefix(name, "windows-") || strings.HasPrefix(name, "iso-8859-") || name != "" && r.Confidence > 50 && !strings.HasPrefix(name, "utf-") {
			return name
		}
	}
	return "windows-1252"
}

// countHigh counts the bytes above ASCII, and those of them that are in UTF-8
// characters.
func countHigh(file []byte) (high, good int) {
	for i := 0; i < len(file); {
		if file[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, size := utf8.DecodeRune(file[i:])
		high += size
		if size > 1 {
			good += size
		}
		i += size
	}
	return high, good
}

// startOfHigh is where the line starts that has the first byte above ASCII.
func startOfHigh(file []byte) int {
	at := bytes.IndexFunc(file, func(r rune) bool { return r >= utf8.RuneSelf })
	return bytes.LastIndexByte(file[:max(at, 0)], '\n') + 1
}

// tooManyLegacyControls finds binary content more strictly than tooManyControls, as
// here nothing but a guess says that the file is text.
func tooManyLegacyControls(file []byte) bool {
	bad := 0
	for _, c := range file {
		if c < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b", rune(c)) || c == 0x7f {
			bad++
		}
	}
	return bad > len(file)/100
}

func utf16Name(order binary.ByteOrder) string {
	if order == binary.BigEndian {
		return "utf-16be"
	}
	return "utf-16le"
}

// unmarkedUTF16 is the byte order of UTF-16 without a byte order mark, or nil. It
// knows such text by its spaces, line ends and other ASCII, one byte of which is 0.
func unmarkedUTF16(file []byte) binary.ByteOrder {
	sample := file[:min(len(file), maxSample)&^1]
	var zeros [2]int
	for i, c := range sample {
		if c == 0 {
			zeros[i&1]++
		}
	}
	order := binary.ByteOrder(binary.LittleEndian)
	few, many := zeros[0], zeros[1]
	if few > many {
		order, few, many = binary.BigEndian, many, few
	}
	units := len(sample) / 2
	if units < 4 || many < max(2, units/20) || few > many/50 {
		return nil
	}
	bad, ascii := 0, 0
	for i := 0; i < len(sample); {
		r, size := utf16Rune(sample[i:], order)
		if r < utf8.RuneSelf {
			ascii++
		}
		if r == utf8.RuneError || unicode.IsControl(r) && !unicode.IsSpace(r) || !unicode.IsGraphic(r) && !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r) {
			bad++
		}
		i += size
	}
	if bad > units/100 || ascii < many*2/3 {
		return nil
	}
	return order
}
