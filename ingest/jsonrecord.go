package ingest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/waymark-rag/waymark/chunker"
)

// JSONOptions says which fields of a JSON record are what. The zero value knows the
// names that data sets use. A name is a key, or keys of objects in each other with
// dots between them.
type JSONOptions struct {
	// ID are fields of which the first that is there names the record; none means
	// _id, id, docid, doc_id.
	ID []string
	// Title are fields of which the first that is there is the title; none means title.
	Title []string
	// Text are the fields with the text, which is put together in the order of the
	// record. Each is a string or a list of strings. None means the first that is there
	// of text, body, content, contents, passage.
	Text []string
	// Metadata are the fields to keep as metadata. None means all others, and what is
	// in a field metadata, as far as they are numbers, true or false, strings of 1,000
	// bytes at most, or lists of these.
	Metadata []string
}

// maxField bounds a string of a record that becomes metadata.
const maxField = 1000

// Validate reports the first value that cannot be used.
func (o JSONOptions) Validate() error {
	for _, list := range []struct {
		name   string
		fields []string
	}{{"id", o.ID}, {"title", o.Title}, {"text", o.Text}, {"metadata", o.Metadata}} {
		for i, f := range list.fields {
			if f == "" || slices.Contains(list.fields[:i], f) {
				return fmt.Errorf("json %s fields %q: want names, each once", list.name, list.fields)
			}
		}
	}
	return nil
}

func (o JSONOptions) withDefaults() JSONOptions {
	if len(o.ID) == 0 {
		o.ID = []string{"_id", "id", "docid", "doc_id"}
	}
	if len(o.Title) == 0 {
		o.Title = []string{"title"}
	}
	return o
}

var textFields = []string{"text", "body", "content", "contents", "passage"}

// record is an object of a JSON text.
type record struct {
	json   string
	fields map[string]chunker.Range
	opts   JSONOptions // with defaults
}

func newRecord(json string, r chunker.Range, opts JSONOptions) record {
	return record{json, jsonFields(json, r), opts.withDefaults()}
}

// field finds a value by its name, empty if there is none.
func (r record) field(name string) chunker.Range {
	fields := r.fields
	for {
		if v, ok := fields[name]; ok {
			return v
		}
		key, rest, ok := strings.Cut(name, ".")
		if !ok {
			return chunker.Range{}
		}
		fields, name = jsonFields(r.json, fields[key]), rest
	}
}

// text has the strings of the text, in the order of the record, and the names of their
// fields.
func (r record) text() (parts []chunker.Range, used []string) {
	names := r.opts.Text
	if len(names) == 0 {
		names = textFields
	}
	for _, name := range names {
		v := r.field(name)
		list := slices.Collect(jsonItems(r.json, v))
		if isJSON(r.json, v, '"') {
			list = []chunker.Range{v}
		}
		list = slices.DeleteFunc(list, func(v chunker.Range) bool { return strings.TrimSpace(jsonString(r.json, v)) == "" })
		if len(list) == 0 {
			continue
		}
		parts, used = append(parts, list...), append(used, name)
		if len(r.opts.Text) == 0 {
			break
		}
	}
	slices.SortFunc(parts, func(a, b chunker.Range) int { return a.Start - b.Start })
	return parts, used
}

// first is the first field of a list that is a string or number and says something.
func (r record) first(names []string) (v chunker.Range, name string) {
	for _, name := range names {
		v := r.field(name)
		switch value := jsonScalar(r.json, v).(type) {
		case string:
			if strings.TrimSpace(value) != "" {
				return v, name
			}
		case int64, float64:
			return v, name
		}
	}
	return chunker.Range{}, ""
}

// words is a string or number as it is shown.
func (r record) words(v chunker.Range) string {
	if isJSON(r.json, v, '"') {
		return strings.Join(strings.Fields(jsonString(r.json, v)), " ")
	}
	return v.Of(r.json)
}

// name is the record's id as a name, empty if it has none that can be one.
func (r record) name() string {
	id, _ := r.first(r.opts.ID)
	return recordName(r.words(id))
}

// recordName makes an id that a file gives to a part of it a name in the file.
func recordName(id string) string {
	const limit = 500
	if len(id) > limit || strings.ContainsFunc(id, unicode.IsControl) {
		return ""
	}
	leadsOut := func(part string) bool { return part == "." || part == ".." }
	if strings.HasPrefix(id, "/") || strings.Contains(id, `\`) || slices.ContainsFunc(strings.Split(id, "/"), leadsOut) {
		return cleanPath(id)
	}
	return id
}

// metadata has the fields that a search can filter by, but those in used.
func (r record) metadata(used []string) map[string]any {
	out := map[string]any{}
	keep := func(key string, v chunker.Range, fields []string) {
		if value := r.value(v); value != nil && key != "" && !slices.Contains(fields, key) {
			out[key] = value
		}
	}
	if len(r.opts.Metadata) > 0 {
		for _, name := range r.opts.Metadata {
			keep(name, r.field(name), nil)
		}
		return out
	}
	for key, v := range jsonFields(r.json, r.fields["metadata"]) {
		keep(key, v, nil)
	}
	for key, v := range r.fields {
		keep(key, v, used)
	}
	return out
}

// value is a value that metadata can hold, or nil.
func (r record) value(v chunker.Range) any {
	if !isJSON(r.json, v, '[') {
		value := jsonScalar(r.json, v)
		if s, ok := value.(string); ok && (len(s) > maxField || strings.TrimSpace(s) == "") {
			return nil
		}
		return value
	}
	list := []string{}
	size := 0
	for item := range jsonItems(r.json, v) {
		if jsonScalar(r.json, item) == nil {
			return nil
		}
		list = append(list, r.words(item))
		if size += item.Len(); size > maxField {
			return nil
		}
	}
	return list
}

// recordReader makes a document of a JSON object. The text is what its strings say.
type recordReader struct {
	encoding string // of the file, when the record is not in it in these bytes
}

func recordFormat(encoding string) format {
	return format{name: "json", reader: recordReader{encoding}}
}

func (rr recordReader) read(b *budget, data []byte) (chunker.Document, *Skip) {
	src, skip := decode(data)
	if skip != nil {
		return chunker.Document{}, skip
	}
	if src.m != nil { // it may be another text now
		if err := checkJSON([]byte(src.text)); err != nil {
			return chunker.Document{}, &Skip{Reason: Damaged, Err: err}
		}
	}
	start := jsonSpace(src.text, 0)
	r := newRecord(src.text, chunker.Range{Start: start, End: jsonEnd(src.text, start)}, b.opts.JSON)
	parts, used := r.text()
	title, titleField := r.first(r.opts.Title)
	_, idField := r.first(r.opts.ID)
	if len(parts) == 0 && isJSON(r.json, title, '"') {
		parts = []chunker.Range{title}
	}
	if len(parts) == 0 {
		return chunker.Document{}, &Skip{Reason: Blank, Err: errNoTextField}
	}
	e := extract{src: src}
	for i, part := range parts {
		if i > 0 {
			e.insert("\n\n")
		}
		e.string(part)
	}
	doc := e.document()
	doc.Title = r.words(title)
	doc.Metadata = r.metadata(append(used, titleField, idField))
	if rr.encoding != "" {
		src.encoding, doc.Source = rr.encoding, chunker.NoSource()
	}
	src.encoded(&doc)
	return doc, nil
}

var errNoTextField = errors.New("the record has no field that is known to hold text; say which in the JSON options")

// numbered names a part of a file that has no name of its own.
func numbered(kind string, n int) string { return kind + "-" + strconv.Itoa(n) }
