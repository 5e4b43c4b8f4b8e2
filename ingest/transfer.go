package ingest

import (
	"bytes"
	"encoding/base64"
	"io"
	"strings"

	"github.com/waymark-rag/waymark/chunker"
)

// transfer is the body of a part of a mail, as it was encoded to be sent.
type transfer struct {
	mail     []byte
	body     chunker.Range // in mail
	encoding string        // of the Content-Transfer-Encoding header, in lower case
	// mbox says that a > stands before lines that start with "From ".
	mbox bool
}

// decode returns the part's bytes and the map from them to the mail, NoSource for
// base64.
func (t transfer) decode(b *budget) ([]byte, chunker.SourceMap, *Skip) {
	if t.encoding == "base64" {
		data, skip := b.unpack(base64.NewDecoder(base64.StdEncoding, &base64Bytes{data: t.mail[t.body.Start:t.body.End]}))
		return data, chunker.NoSource(), skip
	}
	var out bytes.Buffer
	var m chunker.SourceMapBuilder
	body := t.mail[t.body.Start:t.body.End]
	for at := 0; at < len(body); {
		line := body[at:]
		if n := bytes.IndexByte(line, '\n'); n >= 0 {
			line = line[:n+1]
		}
		next := at + len(line)
		if quoted := bytes.TrimLeft(line, ">"); t.mbox && len(quoted) < len(line) && bytes.HasPrefix(quoted, []byte("From ")) {
			line = line[1:]
			at++
		}
		if t.encoding == "quoted-printable" {
			unquote(&out, &m, line, at)
		} else {
			out.Write(line)
			m.Add(len(line), at, len(line))
		}
		at = next
	}
	return out.Bytes(), m.Finish(body).In(t.body.Start, 0), nil
}

// unquote decodes a line of quoted-printable text that stands at a position. What is
// no escape is kept.
func unquote(out *bytes.Buffer, m *chunker.SourceMapBuilder, line []byte, at int) {
	text := bytes.TrimRight(line, " \t\r\n")
	end := line[len(bytes.TrimRight(line, "\r\n")):]
	if bytes.HasSuffix(text, []byte("=")) && (len(end) > 0 || len(text) > 1) {
		text, end = text[:len(text)-1], nil // the line goes on in the next
	}
	for i := 0; i < len(text); {
		if c, ok := hexByte(text[i:]); ok {
			out.WriteByte(c)
			m.Add(1, at+i, 3)
			i += 3
			continue
		}
		n := bytes.IndexByte(text[i+1:], '=') + 1
		if n == 0 {
			n = len(text) - i
		}
		out.Write(text[i : i+n])
		m.Add(n, at+i, n)
		i += n
	}
	out.Write(end)
	m.Add(len(end), at+len(line)-len(end), len(end))
}

// hexByte reads the escape =XX that b starts with.
func hexByte(b []byte) (byte, bool) {
	const digits = "0123456789ABCDEF0123456789abcdef"
	if len(b) < 3 || b[0] != '=' {
		return 0, false
	}
	high, low := strings.IndexByte(digits, b[1]), strings.IndexByte(digits, b[2])
	return byte(high%16<<4 | low%16), high >= 0 && low >= 0
}

// base64Bytes reads data without what is not in the alphabet, up to the padding, which
// it completes.
type base64Bytes struct {
	data []byte
	n    int // letters so far
}

func (r *base64Bytes) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && len(r.data) > 0 && r.data[0] != '=' {
		if c := r.data[0]; isAlphanumeric(c) || c == '+' || c == '/' {
			p[n] = c
			n++
			r.n++
		}
		r.data = r.data[1:]
	}
	for n < len(p) && r.n%4 > 1 {
		p[n] = '='
		n++
		r.n++
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}
