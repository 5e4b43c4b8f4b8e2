package qdrant

import (
	"math"
	"slices"
	"testing"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/retriever"
)

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"Checkpoints copied, HTTP2Server!": {"checkpoint", "copi", "http2server"},
		"re\u0301sume\u0301 Résumé":        {"resum", "resum"},
		"snake_case":                       {"snak", "cas"},
		"數據":                               {"數據"},
		"हिन्दी":                           {"हिन्दी"},
		"\xff\x00 a\x00b":                  {"a", "b"},
		"":                                 {},
	} {
		if got := words(text); !slices.Equal(got, want) {
			t.Errorf("words(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestWeigh works BM25 out by hand: with k1 1.2 and b 0.75, a word once among 2
// of 100 words on average weighs 2.2/(1+1.2*(0.25+0.75*0.02)).
func TestWeigh(t *testing.T) {
	text := "apple pear" + "apple apple fig"
	chunks := []retriever.Chunk{{Text: chunker.Range{Start: 0, End: 10}}, {Text: chunker.Range{Start: 10, End: 25}}}
	once, twice := 2.2/(1+1.2*(0.25+0.75*0.02)), 2*2.2/(2+1.2*(0.25+0.75*0.03))
	indices, values := weigh(text, chunks)
	for word, want := range map[string]float64{"pear": once, "apple": twice, "fig": 2.2 / (1 + 1.2*(0.25+0.75*0.03))} {
		i, found := slices.BinarySearch(indices, termID(words(word)[0]))
		if !found || math.Abs(float64(values[i])-want) > 1e-6 {
			t.Errorf("%q is there: %t, of %v, want %v", word, found, values, want)
		}
	}
	if len(indices) != 3 {
		t.Errorf("%d words, want 3", len(indices))
	}
}

func FuzzWords(f *testing.F) {
	f.Add("Größe\x00\xff 數據 हिन्दी 3.5 can't")
	f.Fuzz(func(t *testing.T, text string) {
		for _, w := range words(text) {
			if w == "" {
				t.Error("an empty word")
			}
		}
		if n := len(terms(text)); n > maxTerms {
			t.Errorf("%d terms", n)
		}
	})
}
