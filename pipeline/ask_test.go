package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/llm/llmtest"
	"github.com/waymark-rag/waymark/retriever"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with a file under testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update rewrites it):\n%s", path, diff)
	}
}

// threeHits are passages of two documents, and one without any metadata.
var threeHits = []retriever.Hit{
	{
		Document: "dragons.md", Title: "Dragons", Headings: []string{"Habits", "Sleep"},
		Text: "Large dragons sleep in 12 deep caves. They wake in May.", Range: chunker.Range{Start: 100, End: 155},
		Source: chunker.Range{Start: 103, End: 158}, Lines: retriever.Lines{First: 7, Last: 8}, Score: retriever.Score{Value: 0.9, Dense: 0.9},
	},
	{Document: "trees.txt", Text: "Small dragons sleep in trees.", Lines: retriever.Lines{First: 1, Last: 1}, Score: retriever.Score{Value: 0.7}},
	{Text: "Nobody has seen a dragon swim."},
}

func newAnswerer(t *testing.T, model llm.Model, opts AnswerOptions) *Answerer {
	t.Helper()
	a, err := NewAnswerer(model, opts)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAnswer(t *testing.T) {
	model := &llmtest.Scripted{Pieces: []string{"Yes [", "2][0][9] and [２", "]"}}
	a := newAnswerer(t, model, AnswerOptions{})
	got, err := a.Answer(context.Background(), AnswerRequest{Question: "Do small dragons sleep?", Hits: threeHits}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "Yes [1] and [1]"; got.Text != want {
		t.Errorf("text %q: want %q", got.Text, want)
	}
	want := []Citation{{Number: 1, Passage: 1, Document: "trees.txt", Lines: retriever.Lines{First: 1, Last: 1},
		Excerpt: "Small dragons sleep in trees.", Score: retriever.Score{Value: 0.7}}}
	if diff := cmp.Diff(want, got.Citations); diff != "" {
		t.Errorf("citations (-want +got):\n%s", diff)
	}
	if got.Dropped != (Dropped{Citations: 2}) || got.NotAnswered || got.Model != "scripted" || got.Stopped != "stop" {
		t.Errorf("got %+v", got)
	}
	if diff := cmp.Diff(threeHits, got.Passages); diff != "" {
		t.Errorf("passages (-want +got):\n%s", diff)
	}
}

// What a request wants of its answer holds for that alone, and never beyond the
// budget.
func TestGeneration(t *testing.T) {
	usual, wanted, topP, seed := 0.2, 0.9, 0.5, 7
	for _, tt := range []struct {
		name string
		g    Generation
		want llm.Request
	}{
		{"nothing", Generation{}, llm.Request{MaxTokens: 100, Temperature: &usual}},
		{"all", Generation{MaxTokens: 20, Temperature: &wanted, TopP: &topP, Seed: &seed, Stop: []string{"END"}},
			llm.Request{MaxTokens: 20, Temperature: &wanted, TopP: &topP, Seed: &seed, Stop: []string{"END"}}},
		{"more than there is", Generation{MaxTokens: 5000}, llm.Request{MaxTokens: 100, Temperature: &usual}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			model := &llmtest.Scripted{Pieces: []string{"In caves [1]."}}
			a := newAnswerer(t, model, AnswerOptions{AnswerTokens: 100, Temperature: &usual})
			if _, err := a.Answer(t.Context(), AnswerRequest{Question: "Where?", Hits: threeHits, Generation: tt.g}, nil); err != nil {
				t.Fatal(err)
			}
			got := model.Requests()[0]
			got.Messages, got.Question, got.Sources = nil, "", nil
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnswerJSON(t *testing.T) {
	model := &llmtest.Scripted{Pieces: []string{"Large dragons sleep in 12 caves [1]. They weigh 90 tons [1][3]. Ask Bob."}, Stopped: "length"}
	a := newAnswerer(t, model, AnswerOptions{})
	got, err := a.Answer(context.Background(), AnswerRequest{Question: "Where do dragons sleep?", Hits: threeHits}, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "answer.json", string(data)+"\n")
}

// An answer without citations has empty lists, not null.
func TestAnswerJSONEmpty(t *testing.T) {
	a := newAnswerer(t, &llm.Extractive{}, AnswerOptions{})
	got, err := a.Answer(context.Background(), AnswerRequest{Question: "Who?"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if !got.NotAnswered || got.Text != llm.NotAnswered || strings.Contains(string(data), "null") {
		t.Errorf("got %s", data)
	}
}

func TestStreamingEqualsBlocking(t *testing.T) {
	replies := []string{
		"Large dragons sleep in caves [1]. Small ones in trees [2, 7]. Code: `a[1]`.\n\n```\n[1]\n```\n ",
		llm.NotAnswered,
		" \n[3] It [",
	}
	for _, reply := range replies {
		a := newAnswerer(t, &llmtest.Scripted{Pieces: strings.Split(reply, "")}, AnswerOptions{})
		req := AnswerRequest{Question: "Where?", Hits: threeHits}
		blocking, err := a.Answer(context.Background(), req, nil)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		var citations []Citation
		var last *Answer
		streamed, err := a.Answer(context.Background(), req, func(e Event) error {
			if last != nil {
				t.Errorf("event %+v after the answer", e)
			}
			switch {
			case e.Citation != nil:
				if strings.Contains(text.String(), fmt.Sprintf("[%d]", e.Citation.Number)) {
					t.Errorf("citation %d comes after its marker", e.Citation.Number)
				}
				citations = append(citations, *e.Citation)
			case e.Answer != nil:
				last = e.Answer
			default:
				text.WriteString(e.Text)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(blocking, streamed); diff != "" {
			t.Errorf("streamed differs (-blocking +streamed):\n%s", diff)
		}
		if last == nil || text.String() != blocking.Text {
			t.Errorf("streamed %q, last event %v: want %q and the answer", text.String(), last, blocking.Text)
		}
		if diff := cmp.Diff(blocking.Citations, append([]Citation{}, citations...)); diff != "" {
			t.Errorf("streamed citations (-want +got):\n%s", diff)
		}
	}
}

func TestAnswerRequestToModel(t *testing.T) {
	model := &llmtest.Scripted{Pieces: []string{"Yes."}}
	cold := 0.1
	a := newAnswerer(t, model, AnswerOptions{AnswerTokens: 99, Temperature: &cold})
	history := []llm.Message{{Role: llm.User, Text: "Hello"}, {Role: llm.Assistant, Text: "Hello."}}
	hits := append([]retriever.Hit{{Document: "empty", Text: " \n"}}, threeHits...)
	if _, err := a.Answer(context.Background(), AnswerRequest{Question: "Where?", History: history, Hits: hits}, nil); err != nil {
		t.Fatal(err)
	}
	req := model.Requests()[0]
	if req.MaxTokens != 99 || *req.Temperature != cold || req.Question != "Where?" {
		t.Errorf("got %+v", req)
	}
	want := []string{"# Dragons\n\n# Habits\n\n# Sleep\n\n" + threeHits[0].Text, threeHits[1].Text, threeHits[2].Text}
	if diff := cmp.Diff(want, req.Sources); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	var roles []llm.Role
	for _, m := range req.Messages {
		roles = append(roles, m.Role)
	}
	if diff := cmp.Diff([]llm.Role{llm.System, llm.User, llm.Assistant, llm.User}, roles); diff != "" {
		t.Errorf("roles (-want +got):\n%s", diff)
	}
}

func TestAnswerWithoutHitsAsksNoModel(t *testing.T) {
	model := &llmtest.Scripted{Err: errors.New("was asked")}
	got, err := newAnswerer(t, model, AnswerOptions{}).Answer(context.Background(), AnswerRequest{Question: "Where?"}, nil)
	if err != nil || !got.NotAnswered || len(model.Requests()) != 0 {
		t.Errorf("got %+v, %v after %d requests", got, err, len(model.Requests()))
	}
}

func TestNotAnswered(t *testing.T) {
	for reply, want := range map[string]bool{
		llm.NotAnswered:                      true,
		llm.NotAnswered + " [1]":             true,
		" the documents do not answer this.": true,
		llm.NotAnswered + " But: [1]":        false,
	} {
		a := newAnswerer(t, &llmtest.Scripted{Pieces: []string{reply}}, AnswerOptions{})
		got, err := a.Answer(context.Background(), AnswerRequest{Question: "Where?", Hits: threeHits}, nil)
		if err != nil || got.NotAnswered != want || want && len(got.Sentences) > 0 {
			t.Errorf("%q: got %v, %+v, %v: want %v", reply, got.NotAnswered, got.Sentences, err, want)
		}
	}
}

func TestAnswerFails(t *testing.T) {
	broken := errors.New("model broke")
	full := errors.New("receiver is full")
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	ok := func(Event) error { return nil }
	tests := []struct {
		name   string
		ctx    context.Context
		model  llm.Model
		q      string
		stream func(Event) error
		want   error
		text   string
	}{
		{"model fails midway", context.Background(), &llmtest.Scripted{Pieces: []string{"Yes [1]", " and"}, Err: broken}, "Where?", ok, broken, "answering: model broke"},
		{"model fails, blocking", context.Background(), &llmtest.Scripted{Err: broken}, "Where?", nil, broken, "answering: model broke"},
		{"receiver fails", context.Background(), &llmtest.Scripted{Pieces: []string{"Yes"}}, "Where?", func(Event) error { return full }, full, "receiver is full"},
		{"receiver fails at the answer", context.Background(), &llmtest.Scripted{Pieces: []string{"Yes"}}, "Where?", func(e Event) error {
			if e.Answer != nil {
				return full
			}
			return nil
		}, full, "receiver is full"},
		{"cancelled", cancelled, &llmtest.Scripted{Pieces: []string{"Yes"}}, "Where?", ok, context.Canceled, "context canceled"},
		{"no question", context.Background(), &llmtest.Scripted{}, " \n", ok, nil, "the question is empty"},
		{"no words", context.Background(), &llmtest.Scripted{Pieces: []string{" [9]"}}, "Where?", ok, nil, "replied without a word"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := newAnswerer(t, test.model, AnswerOptions{}).Answer(test.ctx, AnswerRequest{Question: test.q, Hits: threeHits}, test.stream)
			if err == nil || !strings.Contains(err.Error(), test.text) || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("error %v: want %q", err, test.text)
			}
			if diff := cmp.Diff(Answer{}, got); diff != "" {
				t.Errorf("answer is not zero:\n%s", diff)
			}
		})
	}
}

func TestCancelWhileStreaming(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	model := &llmtest.Scripted{Pieces: []string{"Yes", " they", " do"}}
	_, err := newAnswerer(t, model, AnswerOptions{}).Answer(ctx, AnswerRequest{Question: "Where?", Hits: threeHits}, func(Event) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v: want context.Canceled", err)
	}
}
