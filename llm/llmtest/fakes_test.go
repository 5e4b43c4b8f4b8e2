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
