package pipeline

import (
	"strings"
	"unicode"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/retriever"
)

// writing is an answer while it is written.
type writing struct {
	stream   func(Event) error
	refused  error // what stream returned
	thoughts thoughts
	parser   *citationParser
	passages []retriever.Hit

	text      strings.Builder
	citations []Citation
}

// write takes the next piece of the model's reply.
func (w *writing) write(piece string) error {
	return w.add(w.parser.write(w.thoughts.write(piece)))
}

// close takes the end of the reply.
func (w *writing) close() error {
	rest := w.parser.write(w.thoughts.close())
	return w.add(rest + w.parser.close())
}

// add sends text, after the citations that are new in it.
func (w *writing) add(text string) error {
	for _, passage := range w.parser.used[len(w.citations):] {
		c := newCitation(len(w.citations)+1, passage-1, w.passages[passage-1])
		w.citations = append(w.citations, c)
		if err := w.send(Event{Citation: &c}); err != nil {
			return err
		}
	}
	if text == "" {
		return nil
	}
	w.text.WriteString(text)
	return w.send(Event{Text: text})
}

func (w *writing) send(e Event) error {
	if w.stream == nil {
		return nil
	}
	w.refused = w.stream(e)
	return w.refused
}

// answer is what was written.
func (w *writing) answer() Answer {
	text, marks := w.text.String(), w.parser.marks
	a := Answer{
		Text:        text,
		Citations:   append([]Citation{}, w.citations...), // [] in JSON, not null
		Markers:     make([]Marker, len(marks)),
		Sentences:   []Sentence{},
		Passages:    append([]retriever.Hit{}, w.passages...),
		NotAnswered: saysNotAnswered(masked(text, marks)),
	}
	for i, m := range marks {
		a.Markers[i] = Marker{m.number, chunker.Range{Start: m.start, End: m.end}}
	}
	if !a.NotAnswered {
		a.Sentences = checkSupport(text, marks, w.cited())
	}
	return a
}

// cited are the texts of the passages cited, by number from 1.
func (w *writing) cited() []string {
	hits := make([]retriever.Hit, len(w.parser.used))
	for i, passage := range w.parser.used {
		hits[i] = w.passages[passage-1]
	}
	return sources(hits)
}

// saysNotAnswered reports whether a reply is llm.NotAnswered. Models leave out
// its full stop, or put it in quotation marks or bold.
func saysNotAnswered(reply string) bool {
	bare := func(s string) string {
		return strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	return strings.EqualFold(bare(reply), bare(llm.NotAnswered))
}

func newCitation(number, passage int, h retriever.Hit) Citation {
	return Citation{
		Number:   number,
		Passage:  passage,
		Document: h.Document,
		Title:    h.Title,
		Headings: h.Headings,
		Range:    h.Range,
		Source:   h.Source,
		Lines:    h.Lines,
		Place:    h.Place,
		Excerpt:  excerpt(h.Text),
		Score:    h.Score,
	}
}
