//go:build browser

package browsertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

type question struct {
	Question   string `json:"question"`
	Collection string `json:"collection"`
	History    []struct{ Role, Text string }
}

type passage struct {
	Number   int                `json:"number,omitempty"`
	Passage  int                `json:"passage"`
	Document string             `json:"document"`
	Title    string             `json:"title"`
	Headings []string           `json:"headings"`
	Text     string             `json:"text"`
	Range    span               `json:"range"`
	Source   span               `json:"source"`
	Start16  int                `json:"start16"`
	End16    int                `json:"end16"`
	Lines    map[string]int     `json:"lines"`
	Chunk    int                `json:"chunk"`
	Score    map[string]float64 `json:"score"`
	Rule     string             `json:"rule"`
}

type sentence struct {
	Start16   int      `json:"start16"`
	End16     int      `json:"end16"`
	Citations []int    `json:"citations"`
	Supported bool     `json:"supported"`
	Reasons   []string `json:"reasons"`
}

type answer struct {
	Text        string         `json:"text"`
	Query       string         `json:"query"`
	Citations   []passage      `json:"citations"`
	Sentences   []sentence     `json:"sentences"`
	Passages    []passage      `json:"passages"`
	Dropped     map[string]int `json:"dropped"`
	NotAnswered bool           `json:"not_answered"`
	Stopped     string         `json:"stopped"`
}

func (f *fake) ask(w http.ResponseWriter, r *http.Request) {
	var q question
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		refuse(w, http.StatusBadRequest, failure{Message: err.Error()})
		return
	}
	f.mu.Lock()
	f.asked = append(f.asked, q)
	a := f.find(q)
	if f.answer != nil {
		f.answer(&a)
	}
	gate, broken := f.gate, f.broken
	f.mu.Unlock()

	w.Header().Set("Content-Type", "text/event-stream")
	send := func(event string, v any) {
		data, _ := json.Marshal(v)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data)
		w.(http.Flusher).Flush()
	}
	if a.Query != q.Question {
		send("query", map[string]string{"query": a.Query})
	}
	if len(a.Passages) > 0 {
		send("passages", map[string]any{"passages": a.Passages})
	}
	for _, c := range a.Citations {
		send("citation", c)
	}
	pieces := strings.SplitAfter(a.Text, " ")
	for i, piece := range pieces {
		send("text", map[string]string{"text": piece})
		if i < len(pieces)/2 {
			continue
		}
		if gate != nil {
			select {
			case <-gate:
			case <-r.Context().Done():
				f.set(func() { f.cancelled++ })
				return
			}
			gate = nil
		}
		if broken != nil {
			send("error", map[string]any{"error": broken})
			return
		}
	}
	send("answer", a)
}

// find answers a question.
func (f *fake) find(q question) answer {
	a := answer{Query: q.Question, Passages: []passage{}, Citations: []passage{}, Sentences: []sentence{}, Stopped: "stop"}
	words := strings.Fields(strings.ToLower(strings.Trim(q.Question, "?")))
	documents := f.documents[q.Collection]
	for _, id := range slices.Sorted(func(yield func(string) bool) {
		for id := range documents {
			if !yield(id) {
				return
			}
		}
	}) {
		text := documents[id]
		for i, c := range chunks(text) {
			chunk := text[c.Start:c.End]
			if !slices.ContainsFunc(words, func(w string) bool { return len(w) > 4 && strings.Contains(strings.ToLower(chunk), w) }) {
				continue
			}
			line := strings.Count(text[:c.Start], "\n") + 1
			p := passage{
				Passage: len(a.Passages), Document: id, Title: title(id, text), Headings: []string{title(id, text)}, Text: chunk,
				Range: c, Source: c, Start16: units(text[:c.Start]), End16: units(text[:c.End]), Chunk: i,
				Lines: map[string]int{"first": line, "last": line + strings.Count(strings.TrimSpace(chunk), "\n")},
				Score: map[string]float64{"value": 1, "dense": 0.8, "landmark": 0.823, "document": 0.644, "lexical": 7.25 - float64(len(a.Passages))},
				Rule:  "fused (1.000 + 0.6·1.000)/1.6: dense #1 (0.8·landmark 0.823 + 0.2·document 0.644), lexical #1 (bm25 7.25)",
			}
			a.Passages = append(a.Passages, p)
		}
	}
	for i, p := range a.Passages {
		if i == 3 {
			break // the others are read only
		}
		p.Number = i + 1
		first, _, _ := strings.Cut(strings.TrimSpace(strings.TrimLeft(p.Text, "# ")), "\n")
		text := fmt.Sprintf("%s [%d]", first, p.Number)
		if a.Text != "" {
			a.Text += "\n\n"
		}
		a.Sentences = append(a.Sentences, sentence{Start16: units(a.Text), End16: units(a.Text + text), Citations: []int{p.Number}, Supported: true})
		a.Text += text
		a.Citations = append(a.Citations, p)
	}
	if a.Text == "" {
		a.Text, a.NotAnswered = "The documents do not answer this.", true
	}
	return a
}
