package ingest

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// pdfPage is what stands on a page, in the order in which it is read.
type pdfPage struct {
	number int
	height float64
	lines  []pdfLine
}

// pdfLine is a line of text and the box around it, in points from the lower left
// corner of the page. The box is empty for text whose place is not known.
type pdfLine struct {
	text                     string
	left, right, bottom, top float64
	size                     float64 // of the letters
	hyphen                   bool    // it ends in a part of a word
}

// leader is the row of dots that leads to the number at the end of a line.
var leader = regexp.MustCompile(`(?:\s?\.){5,}\s*(\S{1,12})$`)

// page reads a page. One that has no text but something to see, and one that cannot be read,
// is told by a Skip.
func (f *pdfFile) page(index int) (pdfPage, *Skip) {
	page := pdfPage{number: index + 1}
	loaded, err := f.pdfium.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: f.doc, Index: index})
	if err != nil {
		return page, &Skip{Reason: Damaged, Err: err}
	}
	defer f.pdfium.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page})
	reference := requests.Page{ByReference: &loaded.Page}
	if h, err := f.pdfium.FPDF_GetPageHeightF(&requests.FPDF_GetPageHeightF{Page: reference}); err == nil {
		page.height = float64(h.PageHeight)
	}
	text, err := f.pdfium.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: reference})
	if err != nil {
		return page, &Skip{Reason: Damaged, Err: err}
	}
	defer f.pdfium.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage})
	unknown, skip := f.lines(&page, text.TextPage)
	if skip != nil {
		return page, skip
	}
	if len(page.lines) > 0 {
		page.sort()
		return page, nil
	}
	objects, err := f.pdfium.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: reference})
	switch {
	case unknown:
		return page, &Skip{Reason: NoText, Detail: "its font does not say what its letters are; run OCR over it, such as ocrmypdf --force-ocr"}
	case err == nil && objects.Count == 0: // it is blank
		return page, nil
	}
	return page, &Skip{Reason: NoText, Detail: "run OCR over it, such as ocrmypdf"}
}

// lines reads the lines of a page in the order of the file. Where most letters are
// unknown there are none.
func (f *pdfFile) lines(page *pdfPage, text references.FPDF_TEXTPAGE) (unknown bool, skip *Skip) {
	count, err := f.pdfium.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text})
	if err != nil {
		return false, &Skip{Reason: Damaged, Err: err}
	}
	var line strings.Builder
	start, known, strange := 0, 0, 0
	end := func(i int, hyphen bool) {
		if s := leader.ReplaceAllString(oneLine(line.String()), " … $1"); s != "" {
			l := pdfLine{text: s, hyphen: hyphen}
			f.box(&l, text, start, i-start)
			page.lines = append(page.lines, l)
		}
		line.Reset()
	}
	for i := range count.Count {
		if i%1024 == 0 {
			if skip := f.b.over(); skip != nil {
				return false, skip
			}
		}
		got, err := f.pdfium.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: text, Index: i})
		if err != nil {
			return false, &Skip{Reason: Damaged, Err: err}
		}
		r := rune(got.Unicode)
		if line.Len() == 0 {
			start = i
		}
		switch {
		case r == '\r':
		case r == '\n':
			end(i, false)
		case r == 2 || r == 0xfffe: // PDFium's mark of a hyphen that cuts a word
			end(i, true)
		case r == 0 || unicode.Is(unicode.Co, r) || r == unicode.ReplacementChar || r > unicode.MaxRune:
			strange++
		default:
			if !unicode.IsSpace(r) {
				known++
			}
			line.WriteString(unligate(r))
		}
		if f.size++; f.size > f.b.opts.MaxBytes {
			return false, tooMuchText(f.b.opts.MaxBytes)
		}
	}
	end(count.Count, false)
	if strange > known {
		page.lines = nil
	}
	return strange > known, nil
}

// unligate writes out the Latin ligatures.
func unligate(r rune) string {
	if r < 0xfb00 || r > 0xfb06 {
		return string(r)
	}
	return [...]string{"ff", "fi", "fl", "ffi", "ffl", "st", "st"}[r-0xfb00]
}

// box finds where a line of so many characters stands and how large they are.
func (f *pdfFile) box(l *pdfLine, text references.FPDF_TEXTPAGE, start, count int) {
	var sizes []float64 // of three letters: the first may be a bullet, another a mark of a note
	for _, at := range []int{start + count/4, start + count/2, start + count*3/4} {
		if size, err := f.pdfium.FPDFText_GetFontSize(&requests.FPDFText_GetFontSize{TextPage: text, Index: at}); err == nil {
			sizes = append(sizes, size.FontSize)
		}
	}
	if slices.Sort(sizes); len(sizes) > 0 {
		l.size = sizes[len(sizes)/2]
	}
	rects, err := f.pdfium.FPDFText_CountRects(&requests.FPDFText_CountRects{TextPage: text, StartIndex: start, Count: count})
	if err != nil {
		return
	}
	l.left, l.bottom = math.Inf(1), math.Inf(1)
	l.right, l.top = math.Inf(-1), math.Inf(-1)
	for i := range rects.Count {
		r, err := f.pdfium.FPDFText_GetRect(&requests.FPDFText_GetRect{TextPage: text, Index: i})
		if err != nil {
			continue
		}
		l.left, l.right = min(l.left, r.Left), max(l.right, r.Right)
		l.bottom, l.top = min(l.bottom, r.Bottom), max(l.top, r.Top)
	}
	if !(l.left <= l.right && l.bottom <= l.top) {
		l.left, l.right, l.bottom, l.top = 0, 0, 0, 0
	}
}

func (l pdfLine) height() float64 { return l.top - l.bottom }
func (l pdfLine) middle() float64 { return (l.top + l.bottom) / 2 }
func (l pdfLine) placed() bool    { return l.top > l.bottom }

// beside tells whether two lines share a part of the page's width.
func (l pdfLine) beside(o pdfLine) bool { return l.left < o.right && o.left < l.right }
