package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/llm/llmtest"
	"github.com/waymark-rag/waymark/retriever"
)

// countWords is a tokenizer whose counts a reader can check.
func countWords(text string) int { return len(strings.Fields(text)) }

// passageOf makes a passage of n words in sentences of ten.
func passageOf(name string, n int) retriever.Hit {
	var b strings.Builder
	for i := range n {
		word := fmt.Sprintf("%s%d", name, i)
		if i%10 == 0 {
			word = "Word" + word
		}
		if i%10 == 9 {
			word += "."
		}
		b.WriteString(word + " ")
	}
	return retriever.Hit{Document: name, Text: strings.TrimSpace(b.String())}
}

func turns(n int) []llm.Message {
	var out []llm.Message
	for i := range n {
		out = append(out, llm.Message{Role: llm.User, Text: fmt.Sprintf("question %d", i)},
			llm.Message{Role: llm.Assistant, Text: fmt.Sprintf("answer %d", i)})
	}
	return out
}

func TestBudget(t *testing.T) {
	tests := []struct {
		name     string
		opts     AnswerOptions
		hits     []retriever.Hit
		history  []llm.Message
		passages int
		turns    int
		dropped  Dropped
	}{
		{"everything fits", AnswerOptions{}, []retriever.Hit{passageOf("a", 100), passageOf("b", 100)}, turns(3), 2, 6, Dropped{}},
		{"20 passages of 300 tokens and 30 turns into 512", AnswerOptions{ContextTokens: 512},
			repeat(passageOf("a", 300), 20), turns(30), 1, 0, Dropped{Passages: 19, Cut: true, History: 60}},
		{"20 passages of 300 tokens and 30 turns into 2048", AnswerOptions{ContextTokens: 2048},
			repeat(passageOf("a", 300), 20), turns(30), 4, 34, Dropped{Passages: 16, History: 26}},
		{"a smaller passage behind a larger one", AnswerOptions{ContextTokens: 1024},
			[]retriever.Hit{passageOf("a", 200), passageOf("b", 900), passageOf("c", 100)}, nil, 2, 0, Dropped{Passages: 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			model := &llmtest.Scripted{Pieces: []string{"Yes."}}
			test.opts.Count = countWords
			a := newAnswerer(t, model, test.opts)
			got, err := a.Answer(context.Background(), AnswerRequest{Question: "What is it?", Hits: test.hits, History: test.history}, nil)
			if err != nil {
				t.Fatal(err)
			}
			req := model.Requests()[0]
			if len(got.Passages) != test.passages || len(req.Messages)-2 != test.turns || got.Dropped != test.dropped {
				t.Errorf("%d passages, %d messages of history, dropped %+v: want %d, %d, %+v",
					len(got.Passages), len(req.Messages)-2, got.Dropped, test.passages, test.turns, test.dropped)
			}
			total := req.MaxTokens
			for _, m := range req.Messages {
				total += a.budget.cost(m)
			}
			if total > a.budget.context {
				t.Errorf("prompt and answer take %d tokens of %d", total, a.budget.context)
			}
			if test.turns > 0 {
				newest := req.Messages[len(req.Messages)-2]
				if newest != test.history[len(test.history)-1] || req.Messages[1].Role != llm.User {
					t.Errorf("history goes from %+v to %+v: want a question to the newest answer", req.Messages[1], newest)
				}
			}
		})
	}
}

func repeat(h retriever.Hit, n int) []retriever.Hit {
	out := make([]retriever.Hit, n)
	for i := range out {
		out[i] = h
	}
	return out
}

func TestFirstPassageIsCutAtASentence(t *testing.T) {
	hit := passageOf("a", 300)
	hit.Range.Start, hit.Range.End = 50, 50+len(hit.Text)
	a := newAnswerer(t, &llmtest.Scripted{Pieces: []string{"Yes."}}, AnswerOptions{ContextTokens: 512, Count: countWords})
	got, err := a.Answer(context.Background(), AnswerRequest{Question: "What?", Hits: []retriever.Hit{hit}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cut := got.Passages[0]
	if !got.Dropped.Cut || !strings.HasSuffix(cut.Text, ".") || !strings.HasPrefix(hit.Text, cut.Text) || len(cut.Text) == len(hit.Text) {
		t.Errorf("passage is cut to %q", cut.Text)
	}
	if cut.Range.Start != 50 || cut.Range.Len() != len(cut.Text) {
		t.Errorf("range %v: want that of the %d bytes given", cut.Range, len(cut.Text))
	}
}

func TestBudgetTooSmall(t *testing.T) {
	long := strings.Repeat("why ", 200)
	tests := []struct {
		name, question, want string
		opts                 AnswerOptions
	}{
		{"for the question", long, "too small for the prompt with the question: allow a larger context", AnswerOptions{ContextTokens: 256}},
		{"for a sentence", "Why?", "too small for the prompt with a sentence of the best passage: allow", AnswerOptions{ContextTokens: 160, AnswerTokens: 20}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.opts.Count = countWords
			model := &llmtest.Scripted{Pieces: []string{"Yes."}}
			hit := retriever.Hit{Text: strings.Repeat("word ", 400)}
			_, err := newAnswerer(t, model, test.opts).Answer(context.Background(), AnswerRequest{Question: test.question, Hits: []retriever.Hit{hit}}, nil)
			if !errors.Is(err, ErrBudget) || !strings.Contains(err.Error(), test.want) || len(model.Requests()) > 0 {
				t.Errorf("got %v after %d requests: want %q", err, len(model.Requests()), test.want)
			}
		})
	}
}

func TestNewAnswererRefuses(t *testing.T) {
	tests := []struct {
		name, want string
		model      llm.Model
		opts       AnswerOptions
	}{
		{"no model", "answering needs a model", nil, AnswerOptions{}},
		{"context", "context tokens -1", &llmtest.Scripted{}, AnswerOptions{ContextTokens: -1}},
		{"answer", "answer tokens 600: want less than the context of 512", &llmtest.Scripted{}, AnswerOptions{ContextTokens: 512, AnswerTokens: 600}},
		{"template", "system prompt: template", &llmtest.Scripted{}, AnswerOptions{SystemPrompt: "{{"}},
		{"unknown field", "can't evaluate field Hits", &llmtest.Scripted{}, AnswerOptions{QuestionPrompt: "{{.Hits}}"}},
		{"condense", `condense "never": want one of ["llm" "rule" "off"]`, &llmtest.Scripted{}, AnswerOptions{Condense: "never"}},
		{"judge", `judge "me": want one of ["off" "llm"]`, &llmtest.Scripted{}, AnswerOptions{Judge: "me"}},
		{"judge that cannot", `judge "llm": the model extractive only quotes`, &llm.Extractive{}, AnswerOptions{Judge: JudgeLLM}},
		{"condense prompt", "condense prompt: it leaves out the sample message", &llmtest.Scripted{}, AnswerOptions{CondensePrompt: "{{.Question}}"}},
		{"judge prompt", "judge prompt: it leaves out the sample statement", &llmtest.Scripted{}, AnswerOptions{JudgePrompt: "{{.Passages}}"}},
		{"no passages", "leaves out the sample passage", &llmtest.Scripted{}, AnswerOptions{QuestionPrompt: "{{.Question}}"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := NewAnswerer(test.model, test.opts); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v: want %q", err, test.want)
			}
		})
	}
}

func TestEstimateIsConservative(t *testing.T) {
	for _, test := range []struct {
		text string
		real int // tokens of common models, at most
	}{{"", 0}, {"The quick brown fox jumps over the lazy dog.", 10}, {"龙睡在山洞里", 6}, {"func main() { fmt.Println(x) }", 10}} {
		if got := estimateTokens(test.text); got < test.real {
			t.Errorf("%q: estimated %d, real %d", test.text, got, test.real)
		}
	}
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("龙睡 ", 100)
	if got := excerpt(long); len(got) > excerptBytes+3 || !strings.HasSuffix(got, "龙睡...") {
		t.Errorf("got %q", got)
	}
	if got := excerpt(" a\n b "); got != "a b" {
		t.Errorf("got %q", got)
	}
}
