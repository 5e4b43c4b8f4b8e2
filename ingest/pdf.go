package ingest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/klippa-app/go-pdfium"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"github.com/waymark-rag/waymark/chunker"
)

// pdfReader reads PDF, page by page, with PDFium. Paragraphs are made of the lines
// of a page by where they stand on it; what repeats at the top or bottom of most
// pages is left out.
type pdfReader struct{}

func (pdfReader) read(b *budget, data []byte) (doc chunker.Document, skip *Skip) {
	var instance pdfium.Pdfium
	var err error
	b.pause(func() { // to start, or to wait for another file to end, is not this one's time
		var pool pdfium.Pool
		if pool, err = pdfPool(); err == nil {
			instance, err = pool.GetInstanceWithContext(b.ctx)
		}
	})
	switch over := b.over(); {
	case err == nil:
	case over != nil:
		return doc, over
	default:
		return doc, &Skip{Reason: Unreadable, Detail: "PDFium does not start", Err: err}
	}
	// Once the time is over, the sandbox is ended, whatever it does.
	killed := make(chan struct{})
	stop := context.AfterFunc(b.ctx, func() {
		defer close(killed)
		instance.Kill()
	})
	defer func() {
		if r := recover(); r != nil { // the bindings trust what comes out of the sandbox
			doc, skip = chunker.Document{}, &Skip{Reason: Damaged, Detail: "PDFium gave up", Err: fmt.Errorf("%v", r)}
		}
		if stop() {
			instance.Close()
		} else {
			<-killed
		}
		if over := b.over(); over != nil {
			doc, skip = chunker.Document{}, over
		}
	}()
	f := &pdfFile{b: b, pdfium: instance}
	if skip := f.open(data); skip != nil {
		return doc, skip
	}
	return f.document()
}

// pdfFile is an open file.
type pdfFile struct {
	b      *budget
	pdfium pdfium.Pdfium
	doc    references.FPDF_DOCUMENT
	size   int64 // of the text so far
}

func (f *pdfFile) open(data []byte) *Skip {
	opened, err := f.pdfium.OpenDocument(&requests.OpenDocument{File: &data})
	switch {
	case errors.Is(err, pdferrors.ErrPassword):
		return &Skip{Reason: Encrypted, Detail: "save it without a password"}
	case errors.Is(err, pdferrors.ErrSecurity):
		return &Skip{Reason: Encrypted, Detail: "in a way that is not known; save it without a password"}
	case err != nil:
		return &Skip{Reason: Damaged, Detail: "it is cut short, or no PDF at all", Err: err}
	}
	f.doc = opened.Document
	return nil
}

func (f *pdfFile) document() (chunker.Document, *Skip) {
	count, err := f.pdfium.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: f.doc})
	if err != nil {
		return chunker.Document{}, &Skip{Reason: Damaged, Err: err}
	}
	var pages []pdfPage
	var left leftPages
	for i := range count.PageCount {
		if skip := f.b.over(); skip != nil {
			return chunker.Document{}, skip
		}
		page, skip := f.page(i)
		switch {
		case skip != nil && skip.Reason == TooLarge:
			return chunker.Document{}, skip
		case skip != nil:
			left.add(i+1, skip)
		}
		pages = append(pages, page)
	}
	dropRepeated(pages)
	c := newComposer(f.b)
	write(c, pages)
	doc, skip := c.document()
	if skip != nil {
		return doc, skip
	}
	if doc.Text == "" && left.count > 0 {
		all := *left.ranges[0].skip
		all.Detail = strings.TrimPrefix(fmt.Sprintf("none of its %d pages can be read; %s", count.PageCount, all.Detail), "none of its 1 pages can be read; ")
		return doc, &all
	}
	for _, r := range left.ranges {
		f.b.leaveOut(r.named())
	}
	describe(&doc, f.meta("Title"), f.meta("Author"), pdfDate(f.meta("ModDate")))
	return doc, nil
}

func (f *pdfFile) meta(tag string) string {
	got, err := f.pdfium.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: f.doc, Tag: tag})
	if err != nil {
		return ""
	}
	return got.Value
}

// pdfDate turns a date such as D:20240301100000+01'00' into one in RFC 3339.
func pdfDate(s string) string {
	s = strings.ReplaceAll(strings.TrimPrefix(s, "D:"), "'", "")
	for _, layout := range []string{"20060102150405-0700", "20060102150405Z0000", "20060102150405Z", "20060102150405"} {
		if at, err := time.Parse(layout, s); err == nil {
			return at.Format(time.RFC3339)
		}
	}
	return ""
}

// leftPages are the pages that give no text, those that follow each other as one.
type leftPages struct {
	count  int
	ranges []leftRange
}

type leftRange struct {
	first, last int
	skip        *Skip
}

func (l *leftPages) add(page int, skip *Skip) {
	l.count++
	if n := len(l.ranges); n > 0 && l.ranges[n-1].last == page-1 && l.ranges[n-1].skip.Why() == skip.Why() {
		l.ranges[n-1].last = page
		return
	}
	l.ranges = append(l.ranges, leftRange{page, page, skip})
}

func (r leftRange) named() *Skip {
	named := *r.skip
	named.Path = chunker.Place{Kind: chunker.PagePlace, First: strconv.Itoa(r.first), Last: strconv.Itoa(r.last)}.String()
	return &named
}
