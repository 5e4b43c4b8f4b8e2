package pipeline

import (
	"context"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/llm/llmtest"
)

func TestThoughts(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"none", "In caves. [1]", "In caves. [1]"},
		{"before", "\n<think>\nCaves [2]?\n</think>\n\nIn caves. [1]", "\n\nIn caves. [1]"},
		{"empty", "<think></think>In deep caves.", "In deep caves."},
		{"without an end", "<think> caves, or", ""},
		{"a tag in the text", "Use <think> tags.</think>", "Use <think> tags.</think>"},
		{"another tag", "<thinking>a</thinking>", "<thinking>a</thinking>"},
		{"half a tag", " <thi", " <thi"},
		{"nearly an end", "<think>a</thin</think>b", "b"},
		{"nothing", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := withoutThoughts(test.in); got != test.want {
				t.Errorf("got %q: want %q", got, test.want)
			}
			for i := range len(test.in) {
				var th thoughts
				got := th.write(test.in[:i])
				got += th.write(test.in[i:])
				if got += th.close(); got != test.want {
					t.Errorf("in two pieces of %d and %d: got %q: want %q", i, len(test.in)-i, got, test.want)
				}
			}
		})
	}
}

// What a model thinks is neither streamed nor cited.
func TestAnswerWithoutThoughts(t *testing.T) {
	model := &llmtest.Scripted{Pieces: []string{"<th", "ink>Passage [2] or [9]? ", "</think>\n", "In caves [1]."}}
	a := newAnswerer(t, model, AnswerOptions{})
	var text strings.Builder
	req := AnswerRequest{Question: "Where?", Hits: threeHits}
	got, err := a.Answer(context.Background(), req, func(e Event) error {
		text.WriteString(e.Text)
		return nil
	})
	if err != nil || got.Text != "In caves [1]." || text.String() != got.Text || got.Citations[0].Document != "dragons.md" || got.Dropped.Citations != 0 {
		t.Errorf("got %+v, %v, streamed %q", got, err, text.String())
	}
	model = &llmtest.Scripted{Pieces: []string{"<think>Passage [2] or"}, Stopped: "length"}
	_, err = newAnswerer(t, model, AnswerOptions{}).Answer(context.Background(), req, nil)
	if err == nil || !strings.Contains(err.Error(), "scripted used up its 512 tokens without a word of the answer: allow more") {
		t.Errorf("got %v: want that the tokens did not suffice", err)
	}
}
