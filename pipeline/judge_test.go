package pipeline

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/llm/llmtest"
)

// verdicts are what is left of the sentences of an answer in a test.
func verdicts(a Answer) (out []string) {
	for _, s := range a.Sentences {
		out = append(out, strings.Join(append([]string{map[bool]string{true: "yes", false: "no"}[s.Supported], string(s.Verdict)}, s.Reasons...), "|"))
	}
	return out
}

func TestJudge(t *testing.T) {
	const (
		same     = "Large dragons sleep in 12 deep caves [1]."
		other    = "Big fire-breathing lizards rest underground [1]." // other words
		number   = "They sleep in 90 caves [1]."
		uncited  = "They snore."
		objected = "the judge finds it not borne out by the passages cited"
		few      = "only 0 of its 6 words are in the passages cited"
		ninety   = `the number "90" is in no passage cited`
	)
	tests := []struct {
		name, answer, reply string
		want                []string
		trouble             string
	}{
		{"agrees", same, "1: yes", []string{"yes|supported"}, ""},
		{"objects", same, "1: no", []string{"no|unsupported|" + objected}, ""},
		{"knows other words", other, "1: yes", []string{"yes|supported"}, ""},
		{"objects to other words", other, "1: no", []string{"no|unsupported|" + few + "|" + objected}, ""},
		{"does not overrule a number", number, "1: yes", []string{"no|supported|" + ninety}, ""},
		{"several", same + " " + uncited + " " + other, "Statement 1: **Supported**\n- 2. not supported, since ...\n7: yes",
			[]string{"yes|supported", "no||no citation", "no|unsupported|" + few + "|" + objected}, ""},
		{"a bare verdict", same, "<think>Let me see: 1: no</think> Yes, it does.", []string{"yes|supported"}, ""},
		{"rambles", same, "I think the caves are deep.", []string{"yes|"}, "1 sentences got no verdict"},
		{"nothing to judge", uncited, "", []string{"no||no citation"}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			req := AnswerRequest{Question: "Where?", Hits: threeHits}
			var answers []Answer
			for _, stream := range []func(Event) error{nil, func(Event) error { return nil }} {
				model := &llmtest.Dialogue{Replies: []string{test.answer, test.reply}}
				got, err := newAnswerer(t, model, AnswerOptions{Judge: JudgeLLM}).Answer(context.Background(), req, stream)
				if err != nil {
					t.Fatal(err)
				}
				answers = append(answers, got)
			}
			if diff := cmp.Diff(test.want, verdicts(answers[0])); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if e := answers[0].JudgeError; !strings.HasPrefix(e, test.trouble) || (e == "") != (test.trouble == "") {
				t.Errorf("judge error %q: want %q", e, test.trouble)
			}
			if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
				t.Errorf("streamed differs (-blocking +streamed):\n%s", diff)
			}
		})
	}
}

func TestJudgePrompt(t *testing.T) {
	model := &llmtest.Dialogue{Replies: []string{"They sleep in\n caves [3]. Small ones in trees [2][3].", "1: yes\n2: yes"}}
	a := newAnswerer(t, model, AnswerOptions{Judge: JudgeLLM})
	if _, err := a.Answer(context.Background(), AnswerRequest{Question: "Where?", Hits: threeHits}, nil); err != nil {
		t.Fatal(err)
	}
	req := model.Requests()[1]
	golden(t, "judge.txt", req.Messages[0].Text+"\n")
	if req.MaxTokens != 48 || len(req.Messages) != 1 {
		t.Errorf("sent %+v", req)
	}
}

// Sentences are judged as many at a time as fit, and what never fits is told.
func TestJudgeBudget(t *testing.T) {
	hits := threeHits[:1:1]
	hits = append(hits, passageOf("long", 200))
	answer := "Dragons sleep [1]. Dragons wake [1]. Long [2]."
	model := &llmtest.Dialogue{Replies: []string{answer, "1: yes", "2: yes"}}
	a := newAnswerer(t, model, AnswerOptions{ContextTokens: 400, AnswerTokens: 20, Count: countWords, Judge: JudgeLLM})
	a.budget.context = 125 // too little to judge what was written with more
	w := &writing{parser: newCitationParser(2), passages: hits}
	if err := errors.Join(w.write(answer), w.close()); err != nil {
		t.Fatal(err)
	}
	model.Replies = model.Replies[1:]
	got := w.answer()
	if err := a.judgeAnswer(context.Background(), &got); err != nil {
		t.Fatal(err)
	}
	for _, req := range model.Requests() {
		if used := a.budget.cost(req.Messages[0]) + req.MaxTokens; used > 125 {
			t.Errorf("prompt and reply take %d tokens of 125", used)
		}
	}
	if n := len(model.Requests()); n != 2 || !strings.HasPrefix(got.JudgeError, "1 sentences got no verdict") {
		t.Errorf("%d calls, error %q: want 2 calls and one sentence left out", n, got.JudgeError)
	}
}

func TestJudgeFails(t *testing.T) {
	model := &llmtest.Dialogue{Replies: []string{"Large dragons sleep in caves [1]."}}
	a := newAnswerer(t, model, AnswerOptions{Judge: JudgeLLM})
	req := AnswerRequest{Question: "Where?", Hits: threeHits}
	got, err := a.Answer(context.Background(), req, nil)
	if err != nil || got.Text == "" || !got.Sentences[0].Supported || !strings.Contains(got.JudgeError, "this is call 2") {
		t.Errorf("got %+v, %v: want the answer, and that the judge failed", got, err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	model = &llmtest.Dialogue{Replies: []string{"Large dragons sleep in caves [1].", "1: yes"}}
	a = newAnswerer(t, model, AnswerOptions{Judge: JudgeLLM})
	_, err = a.Answer(ctx, req, func(e Event) error {
		if strings.Contains(e.Text, "[1]") {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v: want context.Canceled", err)
	}
}

func FuzzVerdicts(f *testing.F) {
	f.Add("1: yes\n2: no")
	f.Add("Statement 2 - **not supported**")
	f.Fuzz(func(t *testing.T, reply string) {
		batch := []statement{{prompt: promptStatement{Number: 1}}, {prompt: promptStatement{Number: 2}}}
		for _, v := range parseVerdicts(reply, batch) {
			if v != "" && v != Supported && v != Unsupported {
				t.Errorf("verdict %q", v)
			}
		}
	})
}
