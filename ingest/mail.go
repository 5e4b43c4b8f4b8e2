package ingest

import (
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/waymark-rag/waymark/chunker"
)

// mailFile is a mail: its text, and its attachments as members.
type mailFile struct {
	mbox bool // it is in a mailbox
}

func mailFormat(mbox bool) format { return format{name: "email", container: mailFile{mbox}} }

func (f mailFile) members(b *budget, data []byte) iter.Seq2[member, *Skip] {
	return func(yield func(member, *Skip) bool) {
		m := parseMail(data, f.mbox)
		if !yield(member{data: data, kept: true, format: format{name: "email", reader: mailReader{m}}}, nil) {
			return
		}
		names := map[string]bool{}
		for i, p := range m.attachments {
			name := cleanPath(p.fileName())
			if name == "" {
				name = numbered("attachment", i+1)
			}
			if names[name] {
				name = fmt.Sprintf("%d-%s", i+1, name)
			}
			names[name] = true
			a := member{name: name}
			if p.mediaType == "message/rfc822" {
				a.format = mailFormat(false)
			}
			skip := unsupportedName(name)
			if skip == nil {
				a.data, _, skip = m.transfer(p).decode(b)
			}
			if !yield(a, skip) {
				return
			}
		}
	}
}

// message is a mail with its parts sorted.
type message struct {
	part
	data        []byte
	mbox        bool
	texts       []part // in order
	attachments []part
	encrypted   bool
}

func parseMail(data []byte, mbox bool) *message {
	count := 0
	m := &message{part: parsePart(data, chunker.Range{End: len(data)}, 0, &count), data: data, mbox: mbox}
	m.sort(m.part)
	return m
}

// sort finds what of a part is text and what is attached.
func (m *message) sort(p part) {
	kind, _ := p.header.mediaType("Content-Disposition")
	switch {
	case p.mediaType == "multipart/encrypted" || strings.HasSuffix(p.mediaType, "/pkcs7-mime") || strings.HasSuffix(p.mediaType, "/x-pkcs7-mime"):
		m.encrypted = true
	case p.mediaType == "multipart/alternative" && len(p.parts) > 0:
		m.sort(m.best(p.parts))
	case strings.HasPrefix(p.mediaType, "multipart/") && len(p.parts) == 0: // cut short, or not what it says
		m.texts = append(m.texts, p)
	case strings.HasPrefix(p.mediaType, "multipart/"):
		for _, inner := range p.parts {
			m.sort(inner)
		}
	case kind != "attachment" && p.fileName() == "" && p.isText():
		m.texts = append(m.texts, p)
	case kind != "attachment" && p.header["content-id"] != "" && !p.isText():
		// a picture that is shown in the text
	case strings.HasSuffix(p.mediaType, "pgp-signature") || strings.HasSuffix(p.mediaType, "pkcs7-signature"):
	default:
		m.attachments = append(m.attachments, p)
	}
}

func (p part) isText() bool {
	return p.mediaType == "text/plain" || p.mediaType == "text/html" || p.mediaType == "message/delivery-status"
}

// best chooses among parts that say the same: plain text that says something, else
// HTML, else the last, which mail programs take for the best.
func (m *message) best(parts []part) part {
	for _, p := range parts {
		if p.mediaType == "text/plain" && strings.TrimSpace(string(m.data[p.body.Start:p.body.End])) != "" {
			return p
		}
	}
	for _, p := range parts {
		if p.mediaType == "text/html" {
			return p
		}
	}
	return parts[len(parts)-1]
}

func (p part) fileName() string {
	_, params := p.header.mediaType("Content-Disposition")
	name := params["filename"]
	if name == "" {
		name = p.params["name"]
	}
	return cleanLine(decodeWords(name))
}

func (m *message) transfer(p part) transfer {
	encoding := strings.ToLower(strings.TrimSpace(p.header["content-transfer-encoding"]))
	return transfer{mail: m.data, body: p.body, encoding: encoding, mbox: m.mbox}
}

// mailReader makes a document of a mail's text, plain text where there is some, else
// HTML. The header becomes title and metadata.
type mailReader struct{ m *message }

func (r mailReader) read(b *budget, data []byte) (chunker.Document, *Skip) {
	m := r.m
	doc := chunker.Document{Title: m.header.text("Subject"), Metadata: m.metadata()}
	var text strings.Builder
	var sources chunker.SourceMapBuilder
	kept := true
	for _, p := range m.texts {
		content, file, skip := m.transfer(p).decode(b)
		if skip != nil {
			return chunker.Document{}, skip
		}
		inner, skip := p.document(content)
		if skip != nil || strings.TrimSpace(inner.Text) == "" {
			continue
		}
		if text.Len() > 0 {
			text.WriteString("\n\n")
			sources.Add(2, p.body.Start, 0)
		}
		for _, h := range inner.Headings {
			h.Start, h.End = h.Start+text.Len(), h.End+text.Len()
			doc.Headings = append(doc.Headings, h)
		}
		text.WriteString(inner.Text)
		if kept = kept && m.transfer(p).encoding != "base64"; kept {
			sources.AddText(len(inner.Text), &inner.Source, &file)
		}
		if encoding := inner.Metadata[MetaEncoding]; encoding != nil {
			doc.Metadata[MetaEncoding] = encoding
		}
	}
	doc.Text, doc.Source = text.String(), sources.Finish(data)
	switch {
	case m.encrypted && doc.Text == "":
		return chunker.Document{}, &Skip{Reason: Encrypted, Detail: "save the mail without encryption"}
	case doc.Text == "" && doc.Title != "":
		doc.Text, doc.Source = doc.Title, chunker.NoSource()
	case !kept:
		doc.Source = chunker.NoSource()
	}
	return doc, nil
}

// document reads the content of a text part.
func (p part) document(content []byte) (chunker.Document, *Skip) {
	html := p.mediaType == "text/html"
	src, skip := p.decode(content, html)
	if skip != nil {
		return chunker.Document{}, skip
	}
	if html {
		return htmlDocument(src), nil
	}
	return src.document(0), nil
}

// decode reads a part in the character set that its header names, unless the content
// shows that this is not so.
func (p part) decode(content []byte, html bool) (*source, *Skip) {
	label := strings.ToLower(p.params["charset"])
	_, name := charset.Lookup(label)
	if label == "us-ascii" { // which many programs say of anything
		name = ""
	}
	switch {
	case name == "" && html:
		return decodeHTML(content)
	case name == "" || name == "replacement" || name == "utf-8" || strings.HasPrefix(name, "utf-16"):
		return decode(content)
	case strings.HasPrefix(name, "windows-125") && utf8.Valid(content):
		return decode(content)
	}
	return decodeAs(content, name)
}
