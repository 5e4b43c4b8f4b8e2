package ingest

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
)

// elements goes through the elements of an XML part and holds no more of it than the
// path to the one at hand. Entities are not expanded but for those of XML itself.
type elements struct {
	d      *xml.Decoder
	b      *budget
	r      *tokenReader
	depth  int
	tokens int
}

func newElements(b *budget, r io.Reader) *elements {
	bounded := &tokenReader{r: r, limit: b.opts.MaxBytes}
	return &elements{d: xmlDecoder(bounded), b: b, r: bounded}
}

// xmlDecoder reads XML in the character set that it declares or that a byte order
// mark tells.
func xmlDecoder(r io.Reader) *xml.Decoder {
	start := make([]byte, 2)
	n, err := io.ReadFull(r, start)
	start = start[:n]
	if err == nil || err == io.EOF || err == io.ErrUnexpectedEOF {
		r = io.MultiReader(bytes.NewReader(start), r)
	} else {
		r = failing{err}
	}
	wide := utf16Order(start) != nil
	if wide {
		r, _ = charset.NewReaderLabel("utf-16", r)
	}
	d := xml.NewDecoder(r)
	d.CharsetReader = func(label string, r io.Reader) (io.Reader, error) {
		if wide {
			return r, nil
		}
		return charset.NewReaderLabel(label, r)
	}
	return d
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// maxElementDepth is deeper than any program nests elements.
const maxElementDepth = 400

// next is the next token, io.EOF after the last.
func (x *elements) next() (xml.Token, error) {
	if x.tokens++; x.tokens%1024 == 0 {
		if skip := x.b.over(); skip != nil {
			return nil, skip
		}
	}
	x.r.size = 0
	token, err := x.d.RawToken()
	if err != nil {
		if err == io.EOF && x.depth > 0 {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	switch token.(type) {
	case xml.StartElement:
		if x.depth++; x.depth > maxElementDepth {
			return nil, &Skip{Reason: Damaged, Detail: fmt.Sprintf("its elements are nested more than %d deep", maxElementDepth)}
		}
	case xml.EndElement:
		x.depth--
	}
	return token, nil
}

// children calls f with each element in the one that was started last, up to its
// end. What f does not read of an element is passed over.
func (x *elements) children(f func(e xml.StartElement) error) error {
	inside := x.depth
	for {
		token, err := x.next()
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if err := f(token); err != nil {
				return err
			}
			for x.depth > inside {
				if _, err := x.next(); err != nil {
					return err
				}
			}
		case xml.EndElement:
			if x.depth < inside {
				return nil
			}
		}
	}
}

// find calls f with each element of a name, however deep in the one that was started
// last.
func (x *elements) find(name string, f func(e xml.StartElement) error) error {
	return x.children(func(e xml.StartElement) error {
		if e.Name.Local == name {
			return f(e)
		}
		return x.find(name, f)
	})
}

// text is the text that the element that was started last has itself.
func (x *elements) text() (string, error) { return x.read(false) }

// allText is that text with the text of the elements in it.
func (x *elements) allText() (string, error) { return x.read(true) }

func (x *elements) read(all bool) (string, error) {
	inside := x.depth
	var text strings.Builder
	for {
		token, err := x.next()
		if err != nil {
			return "", err
		}
		switch token := token.(type) {
		case xml.CharData:
			if all || x.depth == inside {
				text.Write(token)
			}
		case xml.EndElement:
			if x.depth < inside {
				return text.String(), nil
			}
		}
	}
}

// attribute is the value of an attribute by its local name, or empty.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// tokenReader fails where a single token is larger than a file may be.
type tokenReader struct {
	r           io.Reader
	size, limit int64
}

func (t *tokenReader) Read(p []byte) (int, error) {
	if t.size > t.limit {
		return 0, &Skip{Reason: TooLarge, Detail: fmt.Sprintf("it has an element of more than %d bytes", t.limit)}
	}
	n, err := t.r.Read(p)
	t.size += int64(n)
	return n, err
}
