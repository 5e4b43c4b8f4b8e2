package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/waymark-rag/waymark/chunker"
)

// jsonLines is a file with a JSON value on each line. When those are records, each is
// a document; otherwise the file is, as it is.
type jsonLines struct{}

// jsonFile is a file with one JSON value: a record, a list of records, or anything
// else, which stays as it is.
type jsonFile struct{}

func (jsonLines) members(b *budget, data []byte) iter.Seq2[member, *Skip] {
	return func(yield func(member, *Skip) bool) {
		j, skip := newJSONText(b, data)
		if skip != nil {
			yield(member{}, skip)
			return
		}
		j.lines(yield)
	}
}

func (jsonFile) members(b *budget, data []byte) iter.Seq2[member, *Skip] {
	return func(yield func(member, *Skip) bool) {
		j, skip := newJSONText(b, data)
		if skip != nil {
			yield(member{}, skip)
			return
		}
		start := jsonSpace(j.text, 0)
		whole := chunker.Range{Start: start, End: jsonEnd(j.text, start)}
		switch {
		case !json.Valid([]byte(j.text)):
			j.lines(yield) // of which there may be more than one
		case newRecord(j.text, whole, j.b.opts.JSON).isText():
			yield(member{data: data, kept: true, format: recordFormat("")}, nil) // which decodes it, too
		case j.anyRecord(jsonItems(j.text, whole)):
			j.items(whole, yield)
		default:
			yield(j.asItIs(), nil)
		}
	}
}

// jsonText is a file of JSON.
type jsonText struct {
	b        *budget
	file     []byte
	text     string
	skip     int    // bytes of the file before the text
	encoding string // empty when the text is the file's bytes
}

func newJSONText(b *budget, file []byte) (*jsonText, *Skip) {
	if bytes.HasPrefix(file, []byte(utf8BOM)) {
		return &jsonText{b: b, file: file, text: string(file[len(utf8BOM):]), skip: len(utf8BOM)}, nil
	}
	src, skip := decode(file)
	if skip != nil {
		return nil, skip
	}
	if src.encoding == "" { // bad bytes are left to the record that has them
		return &jsonText{b: b, file: file, text: string(file)}, nil
	}
	return &jsonText{b: b, file: file, text: src.text, encoding: src.encoding}, nil
}

// asItIs is the file as one document.
func (j *jsonText) asItIs() member {
	return member{data: j.file, kept: true, format: codeFormat("json")}
}

// maxLooks bounds how many values are looked at to tell whether they are records.
const maxLooks = 20

// anyRecord reports whether one of the first values is a record with text.
func (j *jsonText) anyRecord(values iter.Seq[chunker.Range]) bool {
	looks := 0
	for v := range values {
		if newRecord(j.text, v, j.b.opts.JSON).isText() {
			return true
		}
		if looks++; looks == maxLooks {
			break
		}
	}
	return false
}

// isText reports whether the record has a text.
func (r record) isText() bool {
	parts, _ := r.text()
	return len(parts) > 0
}

// lines yields the records of a file that has one on each line.
func (j *jsonText) lines(yield func(member, *Skip) bool) {
	valid := func(yield func(chunker.Range) bool) {
		for line := range j.eachLine() {
			if json.Valid([]byte(line.Of(j.text))) && !yield(line.Range) {
				return
			}
		}
	}
	if !j.anyRecord(valid) {
		yield(j.asItIs(), nil)
		return
	}
	for line := range j.eachLine() {
		place := chunker.Place{Kind: chunker.LinePlace, First: strconv.Itoa(line.number), Last: strconv.Itoa(line.number)}
		if !j.value(line.Range, numbered("line", line.number), line.number-1, place, yield) {
			return
		}
	}
}

type jsonLine struct {
	chunker.Range     // without white space at the ends
	number        int // from 1
}

// eachLine yields the lines that are not blank.
func (j *jsonText) eachLine() iter.Seq[jsonLine] {
	return func(yield func(jsonLine) bool) {
		const space = " \t\r\n"
		number := 0
		for at := 0; at < len(j.text); {
			number++
			end := len(j.text)
			if n := strings.IndexByte(j.text[at:], '\n'); n >= 0 {
				end = at + n + 1
			}
			body := chunker.Range{Start: at, End: end}
			for body.Len() > 0 && strings.IndexByte(space, j.text[body.End-1]) >= 0 {
				body.End--
			}
			for body.Len() > 0 && strings.IndexByte(space, j.text[body.Start]) >= 0 {
				body.Start++
			}
			if body.Len() > 0 && !yield(jsonLine{body, number}) {
				return
			}
			at = end
		}
	}
}

// items yields the records of a list.
func (j *jsonText) items(list chunker.Range, yield func(member, *Skip) bool) {
	lines, at, n := 0, 0, 0
	for v := range jsonItems(j.text, list) {
		n++
		lines += strings.Count(j.text[at:v.Start], "\n")
		at = v.Start
		if !j.value(v, numbered("item", n), lines, chunker.Place{}, yield) {
			return
		}
	}
}

// value yields the record v, which comes after so many lines.
func (j *jsonText) value(v chunker.Range, number string, lines int, place chunker.Place, yield func(member, *Skip) bool) bool {
	m := member{name: number, data: []byte(v.Of(j.text)), format: recordFormat(j.encoding), place: place}
	if j.encoding == "" {
		m.kept, m.start, m.lines = true, j.skip+v.Start, lines
	}
	if err := checkJSON(m.data); err != nil {
		return yield(m, &Skip{Reason: Damaged, Err: fmt.Errorf("line %d: %w", lines+1, err)})
	}
	if !isJSON(j.text, v, '{') {
		return yield(m, &Skip{Reason: Unsupported, Detail: fmt.Sprintf("line %d is no JSON object", lines+1)})
	}
	if name := newRecord(j.text, v, j.b.opts.JSON).name(); name != "" {
		m.name = name
	}
	return yield(m, nil)
}
