package ingest

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// readNotes reads footnotes or endnotes. Those with a type are only lines.
func (w *wordReader) readNotes(x *elements, kind string) error {
	w.x = x
	return x.find(kind, func(e xml.StartElement) error {
		if t := attribute(e, "type"); t != "" && t != "normal" {
			return nil
		}
		s := wordPieces{w: w}
		if err := w.blocks(&s); err != nil {
			return err
		}
		w.notes[kind+attribute(e, "id")] = strings.Join(s.pieces, " ")
		w.boxes, w.pending = nil, nil
		return nil
	})
}

// refer gives the mark of a note and has the note written after the block.
func (w *wordReader) refer(kind, id string) string {
	text := w.notes[kind+id]
	if text == "" {
		return ""
	}
	delete(w.notes, kind+id) // it is written once
	if w.noted == nil {
		w.noted = map[string]int{}
	}
	w.noted[kind]++
	mark := strconv.Itoa(w.noted[kind])
	if kind == "endnote" {
		mark = roman(w.noted[kind])
	}
	mark = "[^" + mark + "]"
	w.pending = append(w.pending, mark+": "+text)
	return mark
}
