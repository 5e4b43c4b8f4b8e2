package pipeline

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/llm/llmtest"
	"github.com/waymark-rag/waymark/retriever"
)

const story = "One sleeps.\nTwo wakes.\nThree eats.\nFour snores.\n"

// lineOf is line n, from 1, of the story as a hit.
func lineOf(n int, score float64) retriever.Hit {
	start := 0
	all := strings.SplitAfter(story, "\n")
	for _, line := range all[:n-1] {
		start += len(line)
	}
	r := chunker.Range{Start: start, End: start + len(all[n-1])}
	return retriever.Hit{
		Document: "story.md", Text: r.Of(story), Range: r, Source: chunker.Range{Start: r.Start + 3, End: r.End + 3}, // behind a byte-order mark
		Lines: retriever.Lines{First: n, Last: n}, Chunk: n - 1, Chunks: [2]int{n - 1, n - 1}, Score: retriever.Score{Value: score},
	}
}

func TestJoin(t *testing.T) {
	other := lineOf(2, 0.5)
	other.Document = "other.md"
	unplaced := retriever.Hit{Document: "story.md", Text: "Two wakes."}
	nameless := lineOf(2, 0.5)
	nameless.Document = ""
	tests := []struct {
		name string
		hits []retriever.Hit
		want []string // texts
	}{
		{"neighbours", []retriever.Hit{lineOf(1, 0.9), lineOf(4, 0.8), lineOf(2, 0.7)}, []string{"One sleeps.\nTwo wakes.\n", "Four snores.\n"}},
		{"before", []retriever.Hit{lineOf(4, 0.9), lineOf(2, 0.8), lineOf(3, 0.7)}, []string{"Two wakes.\nThree eats.\nFour snores.\n"}},
		{"a gap closed", []retriever.Hit{lineOf(1, 0.9), lineOf(3, 0.8), lineOf(2, 0.7)}, []string{"One sleeps.\nTwo wakes.\nThree eats.\n"}},
		{"the same twice", []retriever.Hit{lineOf(1, 0.9), lineOf(1, 0.8)}, []string{"One sleeps.\n"}},
		{"another document", []retriever.Hit{lineOf(1, 0.9), other}, []string{"One sleeps.\n", "Two wakes.\n"}},
		{"no place", []retriever.Hit{lineOf(1, 0.9), unplaced}, []string{"One sleeps.\n", "Two wakes."}},
		{"no document", []retriever.Hit{nameless, nameless}, []string{"Two wakes.\n", "Two wakes.\n"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var passages []retriever.Hit
			for _, h := range test.hits {
				passages = join(passages, h)
			}
			var got []string
			for _, p := range passages {
				got = append(got, p.Text)
				if p.Document == "story.md" && p.Range.Len() == len(p.Text) && p.Range.Of(story) != p.Text {
					t.Errorf("range %v is not that of %q", p.Range, p.Text)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Passages that touch are given as one, with one citation to one span.
func TestAnswerJoinsPassages(t *testing.T) {
	hits := []retriever.Hit{lineOf(3, 0.9), lineOf(1, 0.8), lineOf(2, 0.7)}
	model := &llmtest.Scripted{Pieces: []string{"One sleeps, three eats [1] [2]."}}
	got, err := newAnswerer(t, model, AnswerOptions{}).Answer(context.Background(), AnswerRequest{Question: "Who?", Hits: hits}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := got.Citations[0]
	if len(got.Passages) != 1 || len(got.Citations) != 1 || got.Dropped != (Dropped{Citations: 1}) ||
		c.Range != (chunker.Range{Start: 0, End: 35}) || c.Source != (chunker.Range{Start: 3, End: 38}) || c.Lines != (retriever.Lines{First: 1, Last: 3}) || c.Score.Value != 0.9 {
		t.Errorf("got %+v\nof %+v", got.Citations, got.Passages)
	}
	if diff := cmp.Diff([]retriever.Hit{lineOf(3, 0.9), lineOf(1, 0.8), lineOf(2, 0.7)}, hits); diff != "" {
		t.Errorf("the caller's hits were changed:\n%s", diff)
	}
}

func TestCutAt(t *testing.T) {
	whole := join(join(nil, lineOf(1, 0.9)), lineOf(2, 0.8))[0]
	cut := cutAt(whole, len("One sleeps."))
	if cut.Source != (chunker.Range{Start: 3, End: 14}) || cut.Range != (chunker.Range{Start: 0, End: 11}) || cut.Lines != (retriever.Lines{First: 1, Last: 1}) {
		t.Errorf("got %+v", cut)
	}
	whole.Source.End += 5 // the file holds more than the text does
	if cut := cutAt(whole, 11); cut.Source != whole.Source || cut.Lines != whole.Lines {
		t.Errorf("got %+v: want the place of the whole passage", cut)
	}
}
