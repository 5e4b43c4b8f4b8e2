package chunker

import (
	"slices"
	"sort"
)

// SourceMap ties a document's text to the bytes of the file it was read from.
// The two differ where a reader left bytes out (a byte order mark, HTML tags),
// put other bytes in their place (U+FFFD for a byte that is not UTF-8, "&" for
// "&amp;") or inserted some (a line break between two HTML blocks).
//
// The zero value maps every text offset to the same file offset; such a map
// knows no lines. [NoSource] maps none, for text that is in no bytes of the file,
// as in a PDF. Build any other with a [SourceMapBuilder].
type SourceMap struct {
	runs     []run
	newlines []int // offsets of '\n' in the part of the file
	start    int   // of the part of the file that the text is of
	lines    int   // of the file before that part
	size     int   // bytes in the part
	text     int   // bytes in the text
	none     bool
}

// NoSource is the map of a text that stands in no bytes of its file: all its ranges
// are empty, and no line is known.
func NoSource() SourceMap { return SourceMap{none: true} }

// run is a stretch of n equal units: each takes textUnit bytes of the text and
// stands for sourceUnit bytes of the file. Text that is in the file as it is has
// units of one byte; a page of UTF-16 or a row of bad bytes is one run too.
type run struct {
	text, source, n      int
	textUnit, sourceUnit int
}

func (r run) textEnd() int   { return r.text + r.n*r.textUnit }
func (r run) sourceEnd() int { return r.source + r.n*r.sourceUnit }

// Part is the range of the file that the text was read from: all of it, or a record
// or message of it. It is empty for the zero map and for [NoSource].
func (m *SourceMap) Part() Range { return Range{m.start, m.start + m.size} }

// In returns the map for the text's file as a part of a larger one, which has it
// from byte start on, after so many lines.
func (m SourceMap) In(start, lines int) SourceMap {
	if m.size > 0 {
		m.start += start
		m.lines += lines
	}
	return m
}

// Tile maps a range of the text to the file so that ranges which tile the text
// map to ranges which tile the file: bytes the reader left out belong to the
// range that follows them, and those after the last text byte to the range
// that ends the text.
func (m *SourceMap) Tile(r Range) Range {
	switch {
	case m.none:
		return Range{}
	case m.size == 0:
		return r
	}
	return Range{m.start + m.boundary(r.Start), m.start + m.boundary(r.End)}
}

// boundary maps a position between two text bytes to one between bytes of the part.
func (m *SourceMap) boundary(text int) int {
	if text <= 0 {
		return 0
	}
	if text >= m.text {
		return m.size
	}
	// The run that holds the byte before the boundary.
	r := m.runs[m.runAfter(text-1)]
	// A unit that the boundary would cut belongs to what follows.
	return r.source + (text-r.text)/r.textUnit*r.sourceUnit
}

// span is the file range that stands for a text range and nothing around it:
// from the source of its first byte to that of its last. A unit that r holds a
// part of is in it.
func (m *SourceMap) span(r Range) Range {
	if m.none || m.size == 0 || r.Len() == 0 || r.End > m.text {
		return m.Tile(r) // there is no first or last byte to go by
	}
	first := m.runs[m.runAfter(r.Start)]
	last := m.runs[m.runAfter(r.End-1)]
	return Range{
		Start: m.start + first.source + (r.Start-first.text)/first.textUnit*first.sourceUnit,
		End:   m.start + last.source + ((r.End-1-last.text)/last.textUnit+1)*last.sourceUnit,
	}
}

// runAfter is the index of the first run that ends after the text offset.
func (m *SourceMap) runAfter(text int) int {
	return sort.Search(len(m.runs), func(i int) bool { return m.runs[i].textEnd() > text })
}

// Lines returns the first and last line, counted from 1, that the file range r
// touches; both are 0 when the map knows no lines. A line break belongs to the
// line it ends. The lines of a passage are better had from [Document.Lines],
// which leaves out those that hold none of its visible text.
func (m *SourceMap) Lines(r Range) (first, last int) {
	if m.size == 0 {
		return 0, 0
	}
	first = m.line(r.Start)
	return first, max(first, m.line(r.End-1))
}

func (m *SourceMap) line(offset int) int {
	n, _ := slices.BinarySearch(m.newlines, offset-m.start)
	return m.lines + n + 1
}

// SourceMapBuilder makes a SourceMap while a reader goes through a file from
// start to end. Calls must come in the order of the text.
type SourceMapBuilder struct {
	m SourceMap
}

// Add says that the next textLen bytes of the text stand for the sourceLen
// bytes of the file at source. With equal lengths they correspond byte by byte.
// A sourceLen of 0 stands for inserted text.
func (b *SourceMapBuilder) Add(textLen, source, sourceLen int) {
	if textLen == 0 {
		return
	}
	m := &b.m
	next := run{text: m.text, source: source, n: 1, textUnit: textLen, sourceUnit: sourceLen}
	if textLen == sourceLen {
		next.n, next.textUnit, next.sourceUnit = textLen, 1, 1
	}
	m.text += textLen
	if n := len(m.runs); n > 0 {
		last := &m.runs[n-1]
		if last.textUnit == next.textUnit && last.sourceUnit == next.sourceUnit && last.sourceEnd() == source {
			last.n += next.n
			return
		}
	}
	m.runs = append(m.runs, next)
}

// AddText says that the next size bytes of the text are a text that has the map m to
// bytes which are themselves the text of the map file, such as those that a part of a
// mail is decoded to.
func (b *SourceMapBuilder) AddText(size int, m, file *SourceMap) {
	runs := m.runs
	if m.size == 0 {
		runs = []run{{n: size, textUnit: 1, sourceUnit: 1}}
	}
	at := 0 // index of the run of file that has the next byte
	for _, r := range runs {
		for i := 0; i < r.n; {
			start := r.source + i*r.sourceUnit
			for at < len(file.runs) && file.runs[at].textEnd() <= start {
				at++
			}
			if r.textUnit == 1 && r.sourceUnit == 1 && at < len(file.runs) && file.runs[at].textUnit == 1 && file.runs[at].sourceUnit == 1 {
				n := min(r.n-i, file.runs[at].textEnd()-start)
				b.Add(n, file.start+file.runs[at].source+start-file.runs[at].text, n)
				i += n
				continue
			}
			span := file.Tile(Range{start, start}) // of inserted text
			if r.sourceUnit > 0 {
				span = file.span(Range{start, start + r.sourceUnit})
			}
			b.Add(r.textUnit, span.Start, span.Len())
			i++
		}
	}
}

// Finish returns the map for a file with the given content.
func (b *SourceMapBuilder) Finish(file []byte) SourceMap {
	m := b.m
	m.size = len(file)
	for i, c := range file {
		if c == '\n' {
			m.newlines = append(m.newlines, i)
		}
	}
	return m
}
