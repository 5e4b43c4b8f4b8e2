package ingest

import (
	"bytes"
	"mime"
	"regexp"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/waymark-rag/waymark/chunker"
)

const (
	// maxParts and maxPartDepth bound the parts of a mail.
	maxParts     = 1000
	maxPartDepth = 20
	// maxHeaderField bounds what is read of a field of a header.
	maxHeaderField = 16 << 10
)

// part is a part of a mail, or the mail itself, by its place in it.
type part struct {
	header    header
	mediaType string // in lower case
	params    map[string]string
	body      chunker.Range
	parts     []part // of a multipart
}

// parsePart reads the part r of a mail. The standard library and others read parts
// well, but do not tell where they stand.
func parsePart(mail []byte, r chunker.Range, depth int, parts *int) part {
	*parts++
	end := headerEnd(mail[r.Start:r.End])
	p := part{header: parseHeader(mail[r.Start : r.Start+end]), body: chunker.Range{Start: r.Start + end, End: r.End}}
	if len(p.header) == 0 && len(bytes.TrimSpace(mail[r.Start:p.body.Start])) > 0 {
		p.body.Start = r.Start // what stands there is no header
	}
	p.mediaType, p.params = p.header.mediaType("Content-Type")
	if p.mediaType == "" {
		p.mediaType = "text/plain"
	}
	boundary := p.params["boundary"]
	if !strings.HasPrefix(p.mediaType, "multipart/") || boundary == "" || depth == maxPartDepth {
		return p
	}
	for _, inner := range boundedParts(mail, p.body, boundary) {
		if *parts < maxParts {
			p.parts = append(p.parts, parsePart(mail, inner, depth+1, parts))
		}
	}
	return p
}

// boundedParts are the stretches of a body between the lines that name the boundary.
func boundedParts(mail []byte, body chunker.Range, boundary string) []chunker.Range {
	var out []chunker.Range
	mark, start := []byte("--"+boundary), -1
	for at := body.Start; at < body.End; {
		next := body.End
		if n := bytes.IndexByte(mail[at:body.End], '\n'); n >= 0 {
			next = at + n + 1
		}
		if line := bytes.TrimRight(mail[at:next], " \t\r\n"); bytes.HasPrefix(line, mark) {
			rest := string(line[len(mark):])
			if rest == "" || rest == "--" {
				if start >= 0 {
					out = append(out, chunker.Range{Start: start, End: max(start, beforeLineBreak(mail, at))})
				}
				start = next
				if rest == "--" {
					return out
				}
			}
		}
		at = next
	}
	if start >= 0 && start < body.End {
		out = append(out, chunker.Range{Start: start, End: body.End})
	}
	return out
}

// beforeLineBreak is where the line ends that is above a position; its line break
// belongs to the boundary.
func beforeLineBreak(mail []byte, at int) int {
	if at > 0 && mail[at-1] == '\n' {
		at--
	}
	if at > 0 && mail[at-1] == '\r' {
		at--
	}
	return at
}

// headerEnd is the size of a header with the blank line that ends it.
func headerEnd(b []byte) int {
	for at := 0; at < len(b); {
		n := bytes.IndexByte(b[at:], '\n')
		if n < 0 {
			break
		}
		if len(bytes.TrimRight(b[at:at+n], "\r")) == 0 {
			return at + n + 1
		}
		at += n + 1
	}
	return len(b)
}

// header has the first value of each field, by its name in lower case, as it is written.
type header map[string]string

// fieldLine is the first line of a field.
var fieldLine = regexp.MustCompile(`^([!-9;-~]+)[ \t]*:[ \t]*(.*)$`)

func parseHeader(b []byte) header {
	h := header{}
	last := ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\r\n")
		m := fieldLine.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"):
			if last != "" && len(h[last]) < maxHeaderField {
				more := strings.TrimSpace(line)
				h[last] += " " + more[:min(len(more), maxHeaderField)]
			}
		case m == nil:
			last = ""
		default:
			last = strings.ToLower(m[1])
			if _, ok := h[last]; ok {
				last = "" // the first counts
			} else {
				h[last] = m[2][:min(len(m[2]), maxHeaderField)]
			}
		}
	}
	return h
}

// text is a field as it is shown: encoded words are decoded.
func (h header) text(name string) string {
	value := h[strings.ToLower(name)]
	if src, skip := decode([]byte(value)); skip == nil {
		value = src.text
	}
	return cleanLine(decodeWords(value))
}

var wordDecoder = &mime.WordDecoder{CharsetReader: charset.NewReaderLabel}

func decodeWords(s string) string {
	if text, err := wordDecoder.DecodeHeader(s); err == nil {
		return text
	}
	return s
}

// cleanLine makes one line of valid UTF-8 without NUL.
func cleanLine(s string) string {
	return strings.Join(strings.Fields(cleanYAML(s)), " ")
}

// param finds a parameter in a field that the standard library does not take.
var param = regexp.MustCompile(`(?i);\s*([a-z]+)\s*=\s*(?:"([^"]*)"|([^;\s]*))`)

// mediaType reads a field such as "text/plain; charset=utf-8".
func (h header) mediaType(name string) (string, map[string]string) {
	value := h[strings.ToLower(name)]
	if kind, params, err := mime.ParseMediaType(value); err == nil {
		return kind, params
	}
	kind, _, _ := strings.Cut(value, ";")
	params := map[string]string{}
	for _, m := range param.FindAllStringSubmatch(value, -1) {
		if key := strings.ToLower(m[1]); params[key] == "" {
			params[key] = m[2] + m[3]
		}
	}
	return strings.ToLower(strings.TrimSpace(kind)), params
}
