package qdrant

import (
	"hash/fnv"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/waymark-rag/waymark/internal/prose"
	"github.com/waymark-rag/waymark/retriever"
)

// The constants of BM25 (Robertson and Zaragoza, 2009). The mean length of a
// chunk has to be set beforehand, since the weight of a word is stored with it.
const (
	bm25K1     = 1.2
	bm25B      = 0.75
	meanLength = 100 // words
)

// maxTerms is how many different words of a query take part.
const maxTerms = 64

// words returns the words of a text in the form they are compared in: folded,
// without the accents of European scripts.
func words(text string) []string {
	if !plain(text) {
		text = norm.NFC.String(strings.Map(func(r rune) rune {
			if '\u0300' <= r && r <= '\u036f' {
				return -1
			}
			return r
		}, norm.NFD.String(text)))
	}
	list := prose.Words(text)
	out := make([]string, 0, len(list))
	for _, w := range list {
		if w.Folded != "" {
			out = append(out, w.Folded)
		}
	}
	return out
}

func plain(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// termID is the dimension of a word in the sparse vector. Two words may share
// one; chunks are therefore scored by the words themselves.
func termID(word string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(word))
	return h.Sum32()
}

// frequencies counts the words of a chunk.
func frequencies(text string) (counts map[string]int, length int) {
	list := words(text)
	counts = make(map[string]int, len(list))
	for _, w := range list {
		counts[w]++
	}
	return counts, len(list)
}

// weight is BM25's of a word that a chunk holds so many times, without its inverse
// document frequency, which the server knows.
func weight(count, length int) float64 {
	f := float64(count)
	return f * (bm25K1 + 1) / (f + bm25K1*(1-bm25B+bm25B*float64(length)/meanLength))
}

// chunkText is the text that a chunk is found by: its own and its headings.
func chunkText(text string, c *retriever.Chunk) string {
	return strings.Join(append(slices.Clone(c.Headings), text), "\n")
}

// weigh makes the sparse vector of a part. The weight of a word is the largest
// that it has in one of the chunks, so that the score of a part is at least that
// of its best chunk.
func weigh(text string, chunks []retriever.Chunk) (indices []uint32, values []float32) {
	best := make(map[uint32]float64)
	for i := range chunks {
		counts, length := frequencies(chunkText(chunks[i].Text.Of(text), &chunks[i]))
		for word, n := range counts {
			id := termID(word)
			best[id] = max(best[id], weight(n, length))
		}
	}
	indices = make([]uint32, 0, len(best))
	for id := range best {
		indices = append(indices, id)
	}
	slices.Sort(indices)
	values = make([]float32, len(indices))
	for i, id := range indices {
		values[i] = float32(best[id])
	}
	return indices, values
}

// terms are the different words of a query.
func terms(text string) []string {
	var out []string
	seen := make(map[string]bool)
	for _, w := range words(text) {
		if !seen[w] {
			seen[w] = true
			if out = append(out, w); len(out) == maxTerms {
				break
			}
		}
	}
	return out
}
