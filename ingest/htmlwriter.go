package ingest

import (
	"strings"
	"unicode"

	"github.com/waymark-rag/waymark/chunker"
)

// gap is what separates the next text from the last.
type gap int

const (
	noGap gap = iota
	spaceGap
	lineGap
	blankGap // a blank line
)

// pageWriter builds the text of a page. White space and block boundaries are
// held back until text follows, so none is doubled or left at either end.
type pageWriter struct {
	src  *source
	text strings.Builder
	b    chunker.SourceMapBuilder

	gap     gap
	gapAt   chunker.Range // white space that a spaceGap stands for, or an empty range
	cells   int           // " | " to write before the next text
	marker  string        // of a list item, to write before its text
	started bool          // text has followed the start of the innermost cell or item

	headings []chunker.Heading
	level    int // of the open heading, 0 for none
	start    int // of its text, -1 until there is some
}

func newPageWriter(src *source) *pageWriter {
	return &pageWriter{src: src, started: true, start: -1}
}

// breakBlock asks for at least the gap g before the next text. Blocks that open
// a cell or list item do not move its text away from its start.
func (w *pageWriter) breakBlock(g gap, at int) {
	if w.start >= 0 {
		w.closeHeading()
	}
	if w.started && g >= w.gap {
		w.setGap(g, at)
	}
}

// setGap asks for exactly the gap g before the next text.
func (w *pageWriter) setGap(g gap, at int) {
	w.gap, w.gapAt = g, chunker.Range{Start: at, End: at}
}

// space notes white space, which stands for at most one space.
func (w *pageWriter) space(r chunker.Range) {
	if w.gap == noGap {
		w.gap, w.gapAt = spaceGap, r
	}
}

// same writes bytes of the page as they are.
func (w *pageWriter) same(r chunker.Range) {
	if r.Len() > 0 {
		w.begin(r.Start)
		w.text.WriteString(r.Of(w.src.text))
		w.src.same(&w.b, r)
	}
}

// instead writes text in the place of bytes of the page.
func (w *pageWriter) instead(text string, r chunker.Range) {
	if text != "" {
		w.begin(r.Start)
		w.text.WriteString(text)
		w.src.instead(&w.b, len(text), r)
	}
}

// begin writes what was held back, before text that comes from at.
func (w *pageWriter) begin(at int) {
	if text := w.text.String(); text != "" && w.gap != noGap {
		// The text of a <pre> may end in white space of its own.
		tail := text[max(0, len(text)-len("\r\n\r\n")):]
		tail = tail[len(strings.TrimRight(tail, " \t\r\n")):]
		switch {
		case w.gap >= lineGap:
			missing := int(w.gap-spaceGap) - strings.Count(tail, "\n")
			w.insert(strings.Repeat("\n", max(0, missing)), w.gapAt)
		case w.gap == spaceGap && w.cells == 0 && tail == "":
			w.insert(" ", w.gapAt)
		}
	}
	if w.cells > 0 || w.marker != "" {
		w.insert(strings.Repeat(" | ", w.cells)+w.marker, chunker.Range{Start: at, End: at})
	}
	w.gap, w.cells, w.marker, w.started = noGap, 0, "", true
	if w.level > 0 && w.start < 0 {
		w.start = w.text.Len()
	}
}

func (w *pageWriter) insert(text string, at chunker.Range) {
	w.text.WriteString(text)
	w.src.instead(&w.b, len(text), at)
}

// words writes text in which runs of white space collapse to one space.
func (w *pageWriter) words(r chunker.Range) {
	text := r.Of(w.src.text)
	for len(text) > 0 {
		word := text
		if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
			word = text[:i]
		}
		rest := strings.TrimLeftFunc(text[len(word):], unicode.IsSpace)
		end := r.Start + len(word)
		w.same(chunker.Range{Start: r.Start, End: end})
		r.Start = r.End - len(rest)
		if end < r.Start {
			w.space(chunker.Range{Start: end, End: r.Start})
		}
		text = rest
	}
}

// openHeading makes a heading of what follows, up to closeHeading.
func (w *pageWriter) openHeading(level int) {
	w.closeHeading()
	w.level = level
}

func (w *pageWriter) closeHeading() {
	if w.start >= 0 {
		r := chunker.Range{Start: w.start, End: w.text.Len()}
		title := strings.Join(strings.Fields(w.text.String()[r.Start:]), " ")
		w.headings = append(w.headings, chunker.Heading{Range: r, Level: w.level, Title: title})
	}
	w.level, w.start = 0, -1
}
