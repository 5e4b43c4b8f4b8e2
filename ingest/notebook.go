package ingest

import (
	"strconv"
	"strings"

	"github.com/waymark-rag/waymark/chunker"
)

// notebookReader takes the cells of a Jupyter notebook in their order: Markdown as it
// is, code in a fence. What code has put out is left out, as it is mostly numbers and
// pictures that say nothing by themselves.
type notebookReader struct{}

var notebookFormat = format{name: "notebook", reader: notebookReader{}}

func (notebookReader) read(b *budget, data []byte) (chunker.Document, *Skip) {
	src, skip := decode(data)
	if skip != nil {
		return chunker.Document{}, skip
	}
	if err := checkJSON([]byte(src.text)); err != nil {
		return chunker.Document{}, &Skip{Reason: Damaged, Err: err}
	}
	start := jsonSpace(src.text, 0)
	n := newNotebook(src, chunker.Range{Start: start, End: jsonEnd(src.text, start)})
	for i, cell := range n.cells {
		n.cell(i+1, cell)
		if skip := b.over(); skip != nil {
			return chunker.Document{}, skip
		}
	}
	if len(n.cells) == 0 {
		return chunker.Document{}, &Skip{Reason: Damaged, Detail: "it is JSON, but has no cells as notebooks do"}
	}
	doc := n.e.document()
	doc.Syntax, doc.Places, doc.Title = chunker.Markdown, n.places, firstHeading(doc.Text)
	return doc, nil
}

type notebook struct {
	e        extract
	json     string
	language string // of the code
	cells    []chunker.Range
	places   []chunker.Placed
}

func newNotebook(src *source, root chunker.Range) *notebook {
	n := &notebook{e: extract{src: src}, json: src.text}
	r := newRecord(src.text, root, JSONOptions{})
	n.language = fenceInfo(jsonString(n.json, r.field("metadata.kernelspec.language")))
	if n.language == "" {
		n.language = fenceInfo(jsonString(n.json, r.field("metadata.language_info.name")))
	}
	cells := r.field("cells")
	if cells.Len() == 0 { // notebooks before version 4 have sheets of cells
		for sheet := range jsonItems(n.json, r.field("worksheets")) {
			cells = jsonFields(n.json, sheet)["cells"]
			break
		}
	}
	for cell := range jsonItems(n.json, cells) {
		n.cells = append(n.cells, cell)
	}
	return n
}

// fenceInfo is a language's name as a fence can have it.
func fenceInfo(name string) string {
	if strings.ContainsAny(name, "`~ \t\r\n") {
		return ""
	}
	return name
}

// cell writes the cell with a number, counted from 1.
func (n *notebook) cell(number int, r chunker.Range) {
	fields := jsonFields(n.json, r)
	kind := jsonString(n.json, fields["cell_type"])
	body, ok := fields["source"]
	if !ok {
		body = fields["input"] // in code before version 4
	}
	parts := []chunker.Range{body}
	if isJSON(n.json, body, '[') {
		parts = parts[:0]
		for line := range jsonItems(n.json, body) {
			parts = append(parts, line)
		}
	}
	var text strings.Builder
	for _, part := range parts {
		text.WriteString(jsonString(n.json, part))
	}
	if strings.TrimSpace(text.String()) == "" {
		return
	}
	if n.e.text.Len() > 0 {
		n.e.insert("\n\n")
	}
	at := n.e.text.Len()
	mark := ""
	if kind != "markdown" && kind != "heading" {
		mark = longerFence(text.String())
		info := ""
		if kind == "code" {
			info = n.language
		}
		n.e.end = body.Start
		n.e.insert(mark + info + "\n")
	}
	if kind == "heading" { // before version 4
		level, _ := strconv.Atoi(fields["level"].Of(n.json))
		n.e.end = body.Start
		n.e.insert(strings.Repeat("#", min(max(level, 1), 6)) + " ")
	}
	for _, part := range parts {
		n.e.string(part)
	}
	if mark != "" {
		if !strings.HasSuffix(text.String(), "\n") {
			n.e.insert("\n")
		}
		n.e.insert(mark)
	}
	place := chunker.Place{Kind: chunker.CellPlace, First: strconv.Itoa(number), Last: strconv.Itoa(number)}
	n.places = append(n.places, chunker.Placed{Range: chunker.Range{Start: at, End: n.e.text.Len()}, Place: place})
}

// longerFence is a fence that the text does not have in it.
func longerFence(text string) string {
	longest, run := 0, 0
	for i := range len(text) {
		run++
		if text[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return strings.Repeat("`", max(longest+1, 3))
}
