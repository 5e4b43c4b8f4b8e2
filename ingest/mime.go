package ingest

import (
	"bytes"
	"strings"

	"github.com/waymark-rag/waymark/chunker"
)

const (
	// maxParts and maxPartDepth bound the parts of a mail.
	maxParts     = 1000
	maxPartDepth = 20
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
