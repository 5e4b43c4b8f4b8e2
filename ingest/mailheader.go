package ingest

import (
	"bytes"
	"mime"
	"net/mail"
	"regexp"
	"strings"
	"time"

	"golang.org/x/net/html/charset"
)

// maxHeaderField bounds what is read of a field of a header.
const maxHeaderField = 16 << 10

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

func parseHeader(b []byte) header {
	h := header{}
	last := ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\r\n")
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.TrimRight(name, " \t"), strings.TrimLeft(value, " \t")
		switch {
		case strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"):
			if last != "" && len(h[last]) < maxHeaderField {
				more := strings.TrimSpace(line)
				h[last] += " " + more[:min(len(more), maxHeaderField)]
			}
		case !ok || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }):
			last = ""
		default:
			last = strings.ToLower(name)
			if _, ok := h[last]; ok {
				last = "" // the first counts
			} else {
				h[last] = value[:min(len(value), maxHeaderField)]
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

// Metadata keys of mails.
const (
	MetaFrom      = "from"
	MetaTo        = "to"         // a list
	MetaDate      = "date"       // UTC, as in 2024-02-29T12:00:00Z
	MetaMessageID = "message_id" // without < and >
)

func (m *message) metadata() map[string]any {
	out := map[string]any{}
	if from := m.header.text("From"); from != "" {
		out[MetaFrom] = from
	}
	var to []string
	for _, address := range append(m.header.addresses("To"), m.header.addresses("Cc")...) {
		to = append(to, clip(address))
	}
	if len(to) > 0 {
		out[MetaTo] = to
	}
	if id := m.header.messageID(); id != "" {
		out[MetaMessageID] = id
	}
	if date := m.header.text("Date"); date != "" {
		if t, err := mail.ParseDate(date); err == nil {
			date = t.UTC().Format(time.RFC3339)
		}
		out[MetaDate] = date
	}
	return out
}

// addresses are those of a field, as "Name <address>", or the field as it is.
func (h header) addresses(name string) []string {
	p := mail.AddressParser{WordDecoder: wordDecoder}
	list, err := p.ParseList(h[strings.ToLower(name)])
	if err != nil {
		if text := h.text(name); text != "" {
			return []string{text}
		}
		return nil
	}
	out := make([]string, len(list))
	for i, a := range list {
		out[i] = a.Address
		if a.Name != "" {
			out[i] = a.Name + " <" + a.Address + ">"
		}
		out[i] = cleanLine(out[i])
	}
	return out
}

func (h header) messageID() string {
	return strings.Trim(h.text("Message-ID"), "<> ")
}
