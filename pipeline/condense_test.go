package pipeline

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/llm/llmtest"
)

// conversation makes a history of texts, the user's and the assistant's in turn.
func conversation(texts ...string) []llm.Message {
	var out []llm.Message
	for i, text := range texts {
		out = append(out, llm.Message{Role: []llm.Role{llm.User, llm.Assistant}[i%2], Text: text})
	}
	return out
}

func TestCondenseByRule(t *testing.T) {
	sleep := []string{"Where do large dragons sleep?", "Large dragons sleep in caves. [1]"}
	ferry := []string{"When does the ferry to Lerwick leave?", "It leaves at 7.30 from Aberdeen Harbour. [1]"}
	tests := []struct {
		name     string
		history  []string
		question string
		want     string // what is added; empty for nothing
	}{
		{"leaves all out", sleep, "and in winter?", "large dragons sleep"},
		{"a bare why", sleep, "Why?", "large dragons sleep"},
		{"how long", sleep, "For how long?", "large dragons sleep"},
		{"another of the kind", sleep, "What about small ones?", "Large dragons sleep"},
		{"pronoun", sleep, "When do they wake?", "Large dragons sleep"},
		{"pronoun behind the verb", ferry, "How long does it take?", "Aberdeen Harbour ferry Lerwick leave"},
		{"possessive", sleep, "What colour are their eggs?", "Large dragons sleep"},
		{"demonstrative", ferry, "Is that every day?", "Aberdeen Harbour ferry Lerwick leave"},
		{"object", ferry, "Can I bring a dog and a bicycle on it?", "Aberdeen Harbour ferry Lerwick leave"},
		{"there", []string{"What is the capital of France?", "Paris is the capital of France. [1]"}, "How many people live there?", "Paris France capital"},
		{"he", []string{"Who founded the library?", "The library was founded in 1897 by Edith Krol. [2]"}, "When was she born?", "Edith Krol founded library"},
		{"a one-word answer", []string{"What is the capital of France?", "Paris. [1]"}, "How large is it?", "Paris capital France"},
		{"not answered", []string{"Who founded the library?", llm.NotAnswered}, "And when was it opened?", "founded library"},
		{"a chain", []string{"Where do dragons sleep?", "In caves. [1]", "What do they eat?", "They eat sheep. [1]"}, "And how much of it?", "eat dragons sleep"},
		{"one example for another", []string{"Where do dragons sleep?", "In caves. [1]", "And in spring?", "In fields. [1]"}, "And in summer?", "dragons sleep"},
		{"one season for another", []string{"When does the ferry leave in the summer?", "At seven. [1]"}, "and in winter?", "ferry leave"},
		{"one guest for another", []string{"How much is a ticket for adults on weekdays?", "Ten. [1]"}, "What about for children?", "ticket weekdays"},
		{"three turns at most", []string{"Where do dragons sleep?", "", "Why?", "", "How so?", "", "When?", ""}, "And then?", ""},
		{"Chinese", []string{"龙睡在山洞里吗", "龙睡在山洞里。[1]"}, "冬天呢？", "龙睡 山洞里"},

		{"another subject", sleep, "How much does membership cost?", ""},
		{"a name", sleep, "Who is Smaug?", ""},
		{"an identifier", sleep, "What is BM25?", ""},
		{"a definition", sleep, "What is chunking?", ""},
		{"a pronoun for something in the question", sleep, "How do wolves protect their young?", ""},
		{"a relative clause", sleep, "Where is the key that opens the boat house?", ""},
		{"there is", sleep, "Is there a lift in the library?", ""},
		{"it is allowed to", sleep, "Is it allowed to bring dogs into the library?", ""},
		{"nothing before", nil, "and in winter?", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := test.question
			if test.want != "" {
				want = test.want + " " + want
			}
			if got := condenseByRule(test.question, conversation(test.history...)); got != want {
				t.Errorf("got %q: want %q", got, want)
			}
		})
	}
}

func TestCondense(t *testing.T) {
	history := conversation("Where do large dragons sleep?", "Large dragons sleep in caves. [3]")
	byRule := Query{"large dragons sleep and in winter?", CondenseRule}
	asked := "Where do large dragons sleep in winter?"
	long := &llmtest.Scripted{Pieces: []string{"Where do large"}, Stopped: "length"}
	tests := []struct {
		name  string
		model llm.Model
		how   Condense
		reply string
		want  Query
	}{
		{"by the model", nil, "", asked, Query{asked, CondenseLLM}},
		{"with a label", nil, CondenseLLM, "**Standalone question:** \"" + asked + "\"\n\nI put the dragons in.", Query{asked, CondenseLLM}},
		{"with thoughts", nil, CondenseLLM, "<think>\nThe user means dragons?\n</think>\n\n" + asked, Query{asked, CondenseLLM}},
		{"with citations", nil, CondenseLLM, "Where do large dragons [3] sleep in winter?", Query{asked, CondenseLLM}},
		{"stands alone", nil, CondenseLLM, "and in winter?", Query{"and in winter?", ""}},
		{"no reply", nil, CondenseLLM, " \n", byRule},
		{"endless thoughts", nil, CondenseLLM, "<think> well, the user", byRule},
		{"a refusal", nil, CondenseLLM, llm.NotAnswered, byRule},
		{"an essay", nil, CondenseLLM, strings.Repeat("dragons sleep ", 100), byRule},
		{"cut off", long, CondenseLLM, "", byRule},
		{"by rule", nil, CondenseRule, asked, byRule},
		{"a model that quotes", &llm.Extractive{}, CondenseLLM, "", byRule},
		{"off", nil, CondenseOff, asked, Query{"and in winter?", ""}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			model := test.model
			if model == nil {
				model = &llmtest.Scripted{Pieces: []string{test.reply}}
			}
			got, err := newAnswerer(t, model, AnswerOptions{Condense: test.how}).Condense(context.Background(), " and in winter?\n", history)
			if err != nil || got != test.want {
				t.Errorf("got %+v, %v: want %+v", got, err, test.want)
			}
			if s, ok := model.(*llmtest.Scripted); ok && test.how != CondenseLLM && test.how != "" && len(s.Requests()) > 0 {
				t.Errorf("the model was asked %d times", len(s.Requests()))
			}
		})
	}
}

func TestCondensePrompt(t *testing.T) {
	model := &llmtest.Scripted{Pieces: []string{"Where?"}}
	a := newAnswerer(t, model, AnswerOptions{})
	history := conversation("Where do dragons sleep?", "In [2]\n caves. [1]")
	if _, err := a.Condense(context.Background(), "and in winter?", history); err != nil {
		t.Fatal(err)
	}
	req := model.Requests()[0]
	if len(req.Messages) != 1 || req.MaxTokens != condenseTokens {
		t.Errorf("sent %+v", req)
	}
	golden(t, "condense.txt", req.Messages[0].Text+"\n")
	if history[1].Text != "In [2]\n caves. [1]" {
		t.Errorf("the caller's history was changed: %+v", history)
	}
}

// The prompt to condense fits the context, too, the newest turns first.
func TestCondenseBudget(t *testing.T) {
	model := &llmtest.Scripted{Pieces: []string{"Where?"}}
	a := newAnswerer(t, model, AnswerOptions{ContextTokens: 300, Count: countWords})
	if _, err := a.Condense(context.Background(), "and?", turns(30)); err != nil {
		t.Fatal(err)
	}
	req := model.Requests()[0]
	if used := a.budget.cost(req.Messages[0]) + req.MaxTokens; used > 300 {
		t.Errorf("prompt and reply take %d tokens of 300", used)
	}
	if text := req.Messages[0].Text; !strings.Contains(text, "answer 29") || strings.Contains(text, "question 0\n") {
		t.Errorf("want the newest turns of 30, got %q", text)
	}
	long := strings.Repeat("why ", 300)
	if _, err := a.Condense(context.Background(), long, turns(1)); err == nil || !strings.Contains(err.Error(), "too small for the prompt with the question") {
		t.Errorf("got %v: want that the context is too small", err)
	}
}

func TestCondenseFails(t *testing.T) {
	broken := errors.New("model broke")
	history := conversation("Where?", "Here.")
	tests := []struct {
		name, question, want string
		model                llm.Model
		history              []llm.Message
	}{
		{"no question", " ", "the question is empty", &llmtest.Scripted{}, history},
		{"role", "Why?", `message 0 of the history has role "tool": want "user" or "assistant"`, &llmtest.Scripted{}, []llm.Message{{Role: "tool", Text: "x"}}},
		{"model", "Why?", "condensing the question: model broke", &llmtest.Scripted{Err: broken}, history},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := newAnswerer(t, test.model, AnswerOptions{}).Condense(context.Background(), test.question, test.history)
			if err == nil || !strings.Contains(err.Error(), test.want) || got != (Query{}) {
				t.Errorf("got %+v, %v: want %q", got, err, test.want)
			}
		})
	}
}

// History is sent as the model should see it: the markers in earlier answers
// name passages that are no longer there.
func TestHistoryHasNoMarkers(t *testing.T) {
	model := &llmtest.Scripted{Pieces: []string{"Yes. [1]"}}
	a := newAnswerer(t, model, AnswerOptions{})
	history := append(conversation("Is [1] it?", "It is [1], as `a[2]` says [2]."), llm.Message{Role: llm.User, Text: " "})
	req := AnswerRequest{Question: "Why?", Query: Query{"Why is it?", CondenseRule}, History: history, Hits: threeHits}
	got, err := a.Answer(context.Background(), req, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := conversation("Is [1] it?", "It is, as `a[2]` says.")
	sent := model.Requests()[0]
	if diff := cmp.Diff(want, sent.Messages[1:3]); diff != "" || len(sent.Messages) != 4 {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if got.Query != "Why is it?" || got.Condensed != CondenseRule || sent.Question != "Why is it?" {
		t.Errorf("query %q by %q, sent %q", got.Query, got.Condensed, sent.Question)
	}
	if !strings.HasSuffix(sent.Messages[3].Text, "Searched for: Why is it?\nQuestion: Why?") {
		t.Errorf("last message %q", sent.Messages[3].Text)
	}
}

func FuzzCondenseByRule(f *testing.F) {
	f.Add("and in winter?", "Where do dragons sleep?", "In Caves. [1]")
	f.Add("冬天呢？", "龙睡在山洞里吗", "[1]")
	f.Fuzz(func(t *testing.T, question, before, answer string) {
		got := condenseByRule(question, conversation(before, answer))
		if !strings.HasSuffix(got, question) || len(got) > len(question)+2*(len(before)+len(answer))+maxCarried {
			t.Errorf("got %q", got)
		}
	})
}
