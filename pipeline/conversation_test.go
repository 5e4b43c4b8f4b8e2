package pipeline

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/llm/llmtest"
)

// converse is a pipeline on documents about dragons.
func converse(t *testing.T, model llm.Model, opts AnswerOptions) *Pipeline {
	t.Helper()
	b := newBench(t)
	if _, err := b.Add(t.Context(),
		chunker.Document{ID: "summer.md", Text: "Large dragons sleep in caves."},
		chunker.Document{ID: "winter.md", Text: "In winter large dragons sleep under the snow."},
		chunker.Document{ID: "ferry.md", Text: "In winter the ferry leaves at noon."},
	); err != nil {
		t.Fatal(err)
	}
	parts := b.Parts
	parts.Model = model
	p, err := New(parts, &opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The second turn of a conversation is searched by the condensed question, and
// only the answer streams.
func TestConversation(t *testing.T) {
	const condensed = "Where do large dragons sleep in winter?"
	model := &llmtest.Dialogue{Replies: []string{"In caves [1].", condensed, "Under the snow [1]."}}
	p := converse(t, model, AnswerOptions{})
	first, err := p.Ask(t.Context(), "Where do large dragons sleep?", nil, SearchOptions{K: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if first.Query != "Where do large dragons sleep?" || first.Condensed != "" || first.Citations[0].Document != "summer.md" {
		t.Errorf("first answer %+v", first)
	}
	history := conversation("Where do large dragons sleep?", first.Text)
	var kinds []string
	var text strings.Builder
	second, err := p.Ask(t.Context(), "and in winter?", history, SearchOptions{K: 1}, func(e Event) error {
		kind := ""
		switch {
		case e.Query != "":
			kind = "query " + e.Query
		case e.Passages != nil:
			kind = "passages " + e.Passages[0].Document
		case e.Citation != nil:
			kind = "citation " + e.Citation.Document
		case e.Answer != nil:
			kind = "answer"
		default:
			text.WriteString(e.Text)
			kind = "text"
		}
		if len(kinds) == 0 || kinds[len(kinds)-1] != kind {
			kinds = append(kinds, kind)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"query " + condensed, "passages winter.md", "text", "citation winter.md", "text", "answer"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if text.String() != "Under the snow [1]." || second.Text != text.String() || second.Query != condensed || second.Condensed != CondenseLLM {
		t.Errorf("streamed %q, answer %+v", text.String(), second)
	}
	model = &llmtest.Dialogue{Replies: []string{condensed, "Under the snow [1]."}}
	p.answerer.model = model
	blocking, err := p.Ask(t.Context(), "and in winter?", history, SearchOptions{K: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(second, blocking); diff != "" {
		t.Errorf("blocking differs (-streamed +blocking):\n%s", diff)
	}
}

// Without a model that writes, the rule finds the passage, and the answerer that
// quotes is asked the condensed question.
func TestConversationByRule(t *testing.T) {
	p := converse(t, &llm.Extractive{}, AnswerOptions{})
	history := conversation("Where do large dragons sleep?", "Large dragons sleep in caves. [1]")
	got, err := p.Ask(t.Context(), "and in winter?", history, SearchOptions{K: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Text != "In winter large dragons sleep under the snow. [1]" || got.Citations[0].Document != "winter.md" {
		t.Errorf("got %q of %+v", got.Text, got.Citations)
	}
	if got.Query != "large dragons sleep and in winter?" || got.Condensed != CondenseRule {
		t.Errorf("query %q by %q", got.Query, got.Condensed)
	}
}

func TestAskFails(t *testing.T) {
	broken, full := errors.New("model broke"), errors.New("receiver is full")
	history := conversation("Where?", "Here.")
	p := converse(t, &llmtest.Scripted{Err: broken}, AnswerOptions{})
	if _, err := p.Ask(t.Context(), "Why?", history, SearchOptions{}, nil); !errors.Is(err, broken) {
		t.Errorf("got %v: want %v", err, broken)
	}
	if _, err := p.Ask(t.Context(), " ", nil, SearchOptions{}, nil); err == nil || err.Error() != "the question is empty" {
		t.Errorf("got %v: want that the question is empty", err)
	}
	if _, err := p.Ask(t.Context(), "Why?", nil, SearchOptions{}, func(Event) error { return full }); err != full {
		t.Errorf("got %v: want %v", err, full)
	}
}
