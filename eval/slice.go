package eval

import (
	"fmt"
	"math"
	"slices"
)

// Slice is some of a set's questions.
type Slice struct {
	Name    string
	Queries []int // indexes in Set.Queries
}

// bytesPerToken turns bytes into tokens where only a rough length is wanted.
const bytesPerToken = 4

// ByPosition slices a set by the tenth of the document in which the answer begins;
// tenths without a question are left out. A set without spans has no slices.
func (s *Set) ByPosition() []Slice {
	size := s.sizes()
	tenths := make([]Slice, 10)
	for i, q := range s.Queries {
		document, first := q.answer()
		if document == "" || size[document] == 0 {
			continue
		}
		n := min(10*first/size[document], 9)
		tenths[n].Queries = append(tenths[n].Queries, i)
	}
	for n := range tenths {
		tenths[n].Name = fmt.Sprintf("%d–%d%%", 10*n, 10*n+10)
	}
	return filled(tenths)
}

// ByDocumentLength slices a set by the length of the document asked about, into up
// to count ranges with about as many questions each.
func (s *Set) ByDocumentLength(count int) []Slice {
	size := s.sizes()
	length := make([]float64, len(s.Queries))
	for i, q := range s.Queries {
		length[i] = float64(size[q.best()]) / bytesPerToken
	}
	sorted := slices.DeleteFunc(slices.Sorted(slices.Values(length)), func(x float64) bool { return x == 0 })
	if len(sorted) == 0 {
		return nil
	}
	var edges []float64
	for n := range count + 1 {
		edges = append(edges, quantile(sorted, float64(n)/float64(count)))
	}
	edges = slices.Compact(edges)
	out := make([]Slice, max(len(edges)-1, 1))
	for n := range out {
		out[n].Name = fmt.Sprintf("%s–%s", thousands(edges[n]), thousands(edges[min(n+1, len(edges)-1)]))
	}
	for i, x := range length {
		if x > 0 {
			n := len(out) - 1
			for n > 0 && x < edges[n] {
				n--
			}
			out[n].Queries = append(out[n].Queries, i)
		}
	}
	return filled(out)
}

func filled(all []Slice) []Slice {
	return slices.DeleteFunc(all, func(s Slice) bool { return len(s.Queries) == 0 })
}

// sizes are the bytes of each document.
func (s *Set) sizes() map[string]int {
	out := make(map[string]int, len(s.Documents))
	for _, d := range s.Documents {
		out[d.ID] = len(d.Text)
	}
	return out
}

// answer is where the first gold span begins; the document is empty if there is none.
func (q *Query) answer() (document string, first int) {
	first = math.MaxInt
	for _, id := range sortedKeys(q.Spans) {
		for _, r := range q.Spans[id] {
			if r.Start < first {
				document, first = id, r.Start
			}
		}
	}
	return document, first
}

// best is the document with the highest judgement, the first of several.
func (q *Query) best() (document string) {
	most := 0
	for _, id := range sortedKeys(q.Gains) {
		if q.Gains[id] > most {
			document, most = id, q.Gains[id]
		}
	}
	return document
}

// thousands writes a number of tokens as people do.
func thousands(tokens float64) string {
	if tokens < 1000 {
		return fmt.Sprintf("%.0f", tokens)
	}
	return fmt.Sprintf("%.1fk", tokens/1000)
}
