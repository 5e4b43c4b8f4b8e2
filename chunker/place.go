package chunker

import (
	"sort"
	"strings"
)

// Place says where a passage stands in the terms of those who read the file: on
// a page, in rows of a sheet, at a time of a recording. The zero value says
// nothing, as for a text file, whose lines say it.
type Place struct {
	Kind  string `json:"kind,omitempty"` // "page", "slide", "row", "time": what First and Last count
	In    string `json:"in,omitempty"`   // a part of the file that counts for itself: a sheet's name
	First string `json:"first,omitempty"`
	Last  string `json:"last,omitempty"` // the same as First for a single one
}

// IsZero reports whether the place says nothing.
func (p Place) IsZero() bool { return p == Place{} }

// String is the place in words: "page 12", "slides 3-4", "Costs, rows 2-40",
// "00:01:02-00:01:30".
func (p Place) String() string {
	out := p.First
	if p.Last != p.First && p.Last != "" {
		out += "-" + p.Last
	}
	if out != "" && p.Kind != "" && p.Kind != TimePlace {
		kind := p.Kind
		if p.Last != p.First && p.Last != "" {
			kind += "s"
		}
		out = kind + " " + out
	}
	if p.In != "" {
		out = strings.TrimSuffix(p.In+", "+out, ", ")
	}
	return out
}

// The kinds of place that readers name.
const (
	PagePlace      = "page"
	SlidePlace     = "slide"
	RowPlace       = "row"
	CellPlace      = "cell"
	ParagraphPlace = "paragraph"
	TimePlace      = "time"
	LinePlace      = "line"
	MessagePlace   = "message"
)

// Through is the place from p to a later one of the same document.
func (p Place) Through(last Place) Place {
	switch {
	case p.IsZero():
		return last
	case last.IsZero() || last.Kind != p.Kind:
		return p
	case last.In != p.In:
		return Place{Kind: p.Kind, First: within(p.In, p.First), Last: within(last.In, last.Last)}
	}
	p.Last = last.Last
	return p
}

// within names a place in a part of the file, as spreadsheets do; without a part it is
// whole, or goes through several already.
func within(part, name string) string {
	if part == "" {
		return name
	}
	return part + "!" + name
}

// Placed is a stretch of a document's text and the place it stands at.
type Placed struct {
	Range // in Document.Text
	Place Place
}

// Place returns where the visible text of r stands: from the first of the
// document's places that it touches to the last.
func (d *Document) Place(r Range) Place {
	r = visible(d.Text, r)
	at := sort.Search(len(d.Places), func(i int) bool { return d.Places[i].End > r.Start })
	var out Place
	for ; at < len(d.Places) && d.Places[at].Start < max(r.End, r.Start+1); at++ {
		out = out.Through(d.Places[at].Place)
	}
	return out
}

// visible is r without the white space at its ends, r itself when there is
// nothing else.
func visible(text string, r Range) Range {
	if body := strings.TrimSpace(r.Of(text)); body != "" {
		r.Start = firstVisible(text, r)
		r.End = r.Start + len(body)
	}
	return r
}
