package llmtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/llm/llmtest"
)

func ExampleScripted() {
	model := &llmtest.Scripted{Pieces: []string{"In ", "caves. [1]"}}
	resp, _ := model.Generate(context.Background(), llm.Request{Question: "Where?"}, nil)
	fmt.Println(resp.Text, model.Requests()[0].Question)
	// Output: In caves. [1] Where?
}

func TestScriptedFailsAfterItsPieces(t *testing.T) {
	broken := errors.New("broken")
	model := &llmtest.Scripted{Pieces: []string{"a", "b"}, Err: broken}
	var got strings.Builder
	resp, err := model.Generate(context.Background(), llm.Request{}, func(p string) error {
		got.WriteString(p)
		return nil
	})
	if err != broken || got.String() != "ab" || resp != (llm.Response{}) {
		t.Errorf("got %q, %+v, %v", got.String(), resp, err)
	}
}

func TestEchoShowsThePrompt(t *testing.T) {
	resp, err := llmtest.Echo{}.Generate(context.Background(), llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "a\nb"}}}, nil)
	if want := "user: a\nb\n"; err != nil || resp.Text != want {
		t.Errorf("got %q, %v: want %q", resp.Text, err, want)
	}
}

func TestDialogueRepliesInOrder(t *testing.T) {
	model := &llmtest.Dialogue{Replies: []string{"In caves.", "In trees."}}
	for _, want := range model.Replies {
		var pieces []string
		resp, err := model.Generate(context.Background(), llm.Request{Question: want}, func(p string) error {
			pieces = append(pieces, p)
			return nil
		})
		if err != nil || resp.Text != want || len(pieces) != 2 {
			t.Errorf("got %+v, %v in pieces %q: want %q", resp, err, pieces, want)
		}
	}
	if _, err := model.Generate(context.Background(), llm.Request{}, nil); err == nil || !strings.Contains(err.Error(), "this is call 3") {
		t.Errorf("got %v: want that there is no third reply", err)
	}
	if got := model.Requests(); len(got) != 3 || got[1].Question != "In trees." {
		t.Errorf("requests %+v", got)
	}
}
