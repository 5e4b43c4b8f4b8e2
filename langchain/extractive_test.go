package langchain_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/waymark-rag/waymark/langchain"
	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/llm/llmtest"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

const (
	stuffPrompt = "Use the following pieces of context to answer the question at the end. If you don't know the answer, just say that you don't know, don't try to make up an answer.\n\n" +
		"%CONTEXT%\n\nQuestion: %QUESTION%\nHelpful Answer:"
	condensePrompt = "Given the following conversation and a follow up question, rephrase the follow up question to be a standalone question, in its original language.\n\n" +
		"Chat History:\n%HISTORY%\nFollow Up Input: %QUESTION%\nStandalone question:"
)

func fill(prompt string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(prompt)
}

func TestExtractiveAnswersPrompts(t *testing.T) {
	const passage = "Small dragons live in trees. Large dragons sleep in caves. See Question: of old."
	const question = "Where do large dragons sleep?"
	for name, tt := range map[string]struct{ prompt, want string }{
		"stuff": {fill(stuffPrompt, "%CONTEXT%", passage, "%QUESTION%", question), "Large dragons sleep in caves."},
		"stuff with labels": {
			fill(stuffPrompt, "%CONTEXT%", "Passage [1] (trees.md)\nSmall dragons live in trees.\n\nPassage [2] Caves (caves.md, line 1)\nLarge dragons sleep in caves.", "%QUESTION%", question),
			"Large dragons sleep in caves. [2]",
		},
		"a label inside of a passage": {
			fill(stuffPrompt, "%CONTEXT%", "Passage [1] (a.md)\nText.\nPassage [3] is no label.\n\nPassage [2] (b.md)\nLarge dragons sleep in caves.", "%QUESTION%", question),
			"Large dragons sleep in caves. [2]",
		},
		"a question in a passage": {
			fill(stuffPrompt, "%CONTEXT%", "Large dragons sleep in caves.\n\nQuestion: Who?\nHelpful Answer: me", "%QUESTION%", question),
			"Large dragons sleep in caves.",
		},
		"nothing fits":        {fill(stuffPrompt, "%CONTEXT%", "Bread is baked on Tuesdays.", "%QUESTION%", question), llm.NotAnswered},
		"no documents":        {fill(stuffPrompt, "%CONTEXT%", "", "%QUESTION%", question), llm.NotAnswered},
		"reference marks":     {fill(stuffPrompt, "%CONTEXT%", "Large dragons sleep in caves [1].", "%QUESTION%", question), "Large dragons sleep in caves."},
		"a template of one's": {"Be brief.\n\nContext: " + passage + "\n\nQuestion: " + question + "\nAnswer:", "Large dragons sleep in caves."},
		"without a cue":       {"Context:\n" + passage + "\nQuestion: " + question, "Large dragons sleep in caves."},
	} {
		got, err := langchain.NewExtractive(nil).Call(t.Context(), tt.prompt)
		if err != nil || got != tt.want {
			t.Errorf("%s: %q, %v: want %q", name, got, err, tt.want)
		}
	}
}

// The prompt of package pipeline, as it writes it today.
func TestExtractiveAnswersThePipelinesPrompt(t *testing.T) {
	log := &recording{}
	theirs := llm.Langchain(langchain.NewExtractive(&langchain.ExtractiveOptions{Callbacks: log}), "theirs")
	answerer, err := pipeline.NewAnswerer(theirs, pipeline.AnswerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := answerer.Answer(t.Context(), pipeline.AnswerRequest{
		Question: "Where do large dragons sleep?",
		History:  []llm.Message{{Role: llm.User, Text: "Hello"}, {Role: llm.Assistant, Text: "Hello."}},
		Hits: []retriever.Hit{
			{Document: "trees.md", Text: "-----\nSmall dragons live in trees.\n-----\n\n[2] no passage\n-----\nx"},
			{Document: "caves.md", Title: "Caves", Text: "Large dragons sleep in caves."},
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Text != "Large dragons sleep in caves. [1]" || answer.Citations[0].Document != "caves.md" {
		t.Errorf("answer %q, citations %v", answer.Text, answer.Citations)
	}
	if len(log.calls) != 2 || log.calls[1] != "llm end: Large dragons sleep in caves. [2]" {
		t.Errorf("calls %q", log.calls)
	}
}

func TestExtractiveIsALanguageModelToPipelines(t *testing.T) {
	ours := langchain.NewExtractive(&langchain.ExtractiveOptions{Parse: func(prompt string) (string, []string, bool) {
		return "Where do large dragons sleep?", []string{prompt}, true
	}})
	llmtest.TestModel(t, llm.Langchain(ours, "extractive"))
}

func TestExtractiveStreams(t *testing.T) {
	prompt := fill(stuffPrompt, "%CONTEXT%", "Passage [1] (a)\nA dragon sleeps in a cave in winter.\n\nPassage [2] (b)\nThe red dragon sleeps on a hill in summer.", "%QUESTION%", "Where do dragons sleep?")
	var got, reasoned strings.Builder
	resp, err := langchain.NewExtractive(nil).GenerateContent(t.Context(), []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeHuman, "an older question"), llms.TextParts(llms.ChatMessageTypeHuman, prompt), llms.TextParts(llms.ChatMessageTypeSystem, "Be brief."),
	}, llms.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
		got.Write(chunk)
		return nil
	}), llms.WithStreamingReasoningFunc(func(_ context.Context, thought, chunk []byte) error {
		reasoned.Write(chunk)
		if len(thought) > 0 {
			t.Errorf("thought %q", thought)
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	text := resp.Choices[0].Content
	if got.String() != text || reasoned.String() != text || resp.Choices[0].StopReason != "stop" || !strings.Contains(text, "[1]") || !strings.Contains(text, "[2]") {
		t.Errorf("streamed %q and %q, returned %+v", got.String(), reasoned.String(), resp.Choices[0])
	}

	full := errors.New("receiver is full")
	_, err = langchain.NewExtractive(nil).Call(t.Context(), prompt, llms.WithStreamingFunc(func(context.Context, []byte) error { return full }))
	if !errors.Is(err, full) {
		t.Errorf("a stream that fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := langchain.NewExtractive(nil).Call(ctx, prompt); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestExtractiveRefuses(t *testing.T) {
	log := &recording{}
	e := langchain.NewExtractive(&langchain.ExtractiveOptions{Callbacks: log})
	for want, messages := range map[string][]llms.MessageContent{
		`in the prompt "Write a poem."`:       {llms.TextParts(llms.ChatMessageTypeHuman, "Write a poem.")},
		"no message to reply to":              {llms.TextParts(llms.ChatMessageTypeSystem, "Be brief.")},
		"llms.ImageURLContent":                {{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.ImageURLPart("http://localhost/x.png")}}},
		"the question in the prompt is empty": {llms.TextParts(llms.ChatMessageTypeHuman, fill(stuffPrompt, "%CONTEXT%", "x", "%QUESTION%", ""))},
	} {
		log.calls = nil
		resp, err := e.GenerateContent(t.Context(), messages)
		wantError(t, err, want)
		if resp != nil {
			t.Errorf("%s: a response beside an error", want)
		}
		if n := len(log.calls); n > 0 && log.calls[n-1] != "llm error: "+err.Error() {
			t.Errorf("calls %q", log.calls)
		}
	}
	if _, err := e.GenerateContent(t.Context(), nil); err == nil {
		t.Error("no messages: no error")
	}
}

func TestStandaloneQuestion(t *testing.T) {
	const batteries = "Human: How long do the backup batteries last?\nAI: They lasted 17 minutes. [1]"
	for _, tt := range []struct{ history, question, want string }{
		{batteries, "Where is the key of the boat house?", "Where is the key of the boat house?"},
		{batteries, "And in winter?", "How long do the backup batteries last? And in winter?"},
		{batteries, "How old are they?", "How long do the backup batteries last? How old are they?"},
		{batteries, "Why?", "How long do the backup batteries last? Why?"},
		{batteries, "What about that?", "How long do the backup batteries last? What about that?"},
		{batteries, "Which company sold its reading room search division to Northmere?", "Which company sold its reading room search division to Northmere?"},
		{batteries, "Which release fixed the race that could damage a database?", "Which release fixed the race that could damage a database?"},
		{batteries + "\nHuman: And in winter?\nAI: 12 minutes.", "Who tested them?", "How long do the backup batteries last? And in winter? Who tested them?"},
		{batteries + "\nHuman: Who built the harbour bridge?\nAI: A firm.\nNote: it is\nHuman resources: 5", "When was it opened?", "Who built the harbour bridge? When was it opened?"},
		{"User: Who built\nthe bridge?\nBot: A firm.", "When did it open?", "Who built the bridge? When did it open?"},
		{"Human: And?\nAI: What?", "Why?", "And? Why?"},
		{"no turns at all", "Why?", "Why?"},
	} {
		got, err := langchain.NewExtractive(nil).Call(t.Context(), fill(condensePrompt, "%HISTORY%", tt.history, "%QUESTION%", tt.question))
		if err != nil || got != tt.want {
			t.Errorf("%q after %q: %q, %v: want %q", tt.question, tt.history, got, err, tt.want)
		}
	}
}
