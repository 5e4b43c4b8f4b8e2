package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

// talk runs a chat over lines of input. answer is what each question gets.
func talk(t *testing.T, c *chat, input string, answer func(ctx context.Context, question string, history []llm.Message, stream func(pipeline.Event) error) (pipeline.Answer, error)) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	if c.app == nil {
		c.app = &app{}
	}
	c.app.program = program{stdin: strings.NewReader(input), stdout: &out, stderr: &errs}
	c.ask = answer
	err = c.run(t.Context())
	return out.String(), errs.String(), err
}

// caves answers every question by its number in the conversation.
func caves(_ context.Context, question string, history []llm.Message, stream func(pipeline.Event) error) (pipeline.Answer, error) {
	hit := retriever.Hit{Document: "caves.md", Text: "Dragons sleep in caves.\x1b[2J", Source: chunker.Range{Start: 9, End: 35}, Lines: retriever.Lines{First: 3, Last: 3}, Rule: "fused"}
	a := pipeline.Answer{
		Text: "In caves [1].", Query: question, Passages: []retriever.Hit{hit},
		Citations: []pipeline.Citation{{Number: 1, Document: hit.Document, Source: hit.Source, Lines: hit.Lines}},
	}
	if len(history) > 0 {
		a.Query = "dragons " + question
	}
	if stream == nil {
		return a, nil
	}
	for _, e := range []pipeline.Event{{Query: a.Query}, {Text: "In caves "}, {Text: "[1]."}, {Answer: &a}} {
		if err := stream(e); err != nil {
			return a, err
		}
	}
	return a, nil
}

func TestChat(t *testing.T) {
	var histories []int
	stdout, stderr, err := talk(t, &chat{}, "/sources\nWhere?\n\nand in winter?\n/sources\n/new\nWhere?\n/what\n/path/to is what?\n/quit\nnever", func(ctx context.Context, q string, h []llm.Message, s func(pipeline.Event) error) (pipeline.Answer, error) {
		histories = append(histories, len(h))
		return caves(ctx, q, h, s)
	})
	if err != nil || stderr != "unknown command /what: /help lists those there are\n" {
		t.Errorf("got %v, stderr %q", err, stderr)
	}
	answer := "In caves [1].\n\n[1] caves.md:3  (bytes 9-35)\n\n"
	want := "no sources: the last answer cites none, or there is none yet\n" +
		answer + "(searched for: dragons and in winter?)\n" + answer +
		"[1] caves.md:3\n   bytes 9-35, fused\n   | Dragons sleep in caves.\uFFFD[2J\n\n" +
		answer + "(searched for: dragons /path/to is what?)\n" + answer
	if diff := cmp.Diff(want, stdout); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{0, 2, 0, 2}, histories); diff != "" {
		t.Errorf("messages of history (-want +got):\n%s", diff)
	}
}

func TestChatJSON(t *testing.T) {
	stdout, _, err := talk(t, &chat{app: &app{json: true}}, "Where?\nWhy?", caves)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if err != nil || len(lines) != 2 || !strings.HasPrefix(lines[1], `{"question":"Why?","text":"In caves [1].","query":"dragons Why?"`) {
		t.Errorf("got %v, %q", err, lines)
	}
}

// A person is told of an error and goes on; input from a file ends with it. What
// failed is not part of the conversation.
func TestChatFails(t *testing.T) {
	calls := 0
	failing := func(ctx context.Context, q string, h []llm.Message, s func(pipeline.Event) error) (pipeline.Answer, error) {
		if calls++; calls == 1 {
			return pipeline.Answer{}, llm.ErrUnavailable
		}
		if len(h) > 0 {
			t.Errorf("history %+v", h)
		}
		return caves(ctx, q, h, s)
	}
	stdout, stderr, err := talk(t, &chat{terminal: true}, "Where?\nWhere?\n", failing)
	if err != nil || !strings.Contains(stdout, "\n> In caves [1].") || !strings.Contains(stderr, "error: the model is unavailable\nhint: ") {
		t.Errorf("got %v, %q, %q", err, stdout, stderr)
	}
	calls = 0
	if stdout, _, err := talk(t, &chat{}, "Where?\nWhere?\n", failing); !errors.Is(err, llm.ErrUnavailable) || stdout != "" {
		t.Errorf("got %v, %q", err, stdout)
	}
	if _, _, err := talk(t, &chat{}, strings.Repeat("x", maxLine+1), caves); err == nil || !strings.Contains(err.Error(), "want one question a line") {
		t.Errorf("got %v: want that the line is too long", err)
	}
}

// An interrupt cancels the answer that is being written, and the chat goes on.
func TestChatInterrupt(t *testing.T) {
	interrupts := make(chan os.Signal, 1)
	calls := 0
	stdout, stderr, err := talk(t, &chat{interrupts: interrupts}, "Where?\nWhy?\n", func(ctx context.Context, q string, h []llm.Message, s func(pipeline.Event) error) (pipeline.Answer, error) {
		if calls++; calls == 2 {
			return caves(ctx, q, h, s)
		}
		if err := s(pipeline.Event{Text: "In ca"}); err != nil {
			t.Error(err)
		}
		interrupts <- os.Interrupt
		<-ctx.Done()
		return pipeline.Answer{}, ctx.Err()
	})
	if err != nil || stderr != "cancelled\n" || !strings.HasPrefix(stdout, "In ca\nIn caves [1].\n") {
		t.Errorf("got %v, %q, %q", err, stdout, stderr)
	}
}

func TestChatInterruptTwiceEnds(t *testing.T) {
	interrupts := make(chan os.Signal)
	c := &chat{app: &app{}, interrupts: interrupts}
	stdin, typing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer typing.Close()
	var out, errs bytes.Buffer
	c.app.program = program{stdin: stdin, stdout: &out, stderr: &errs}
	go func() {
		interrupts <- os.Interrupt
		interrupts <- os.Interrupt
	}()
	if err := c.run(t.Context()); !errors.Is(err, context.Canceled) || !strings.Contains(errs.String(), "a second ctrl-C ends the chat") {
		t.Errorf("got %v, %q", err, errs.String())
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	if err := c.run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v: want context.Canceled", err)
	}
}
