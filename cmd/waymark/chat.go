package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/pipeline"
)

func newChat(a *app) *cobra.Command {
	var flags answerFlags
	cmd := &cobra.Command{
		Use:   "chat",
		Short: "Talk about the index: each line is a question, with those before in mind",
		Args:  usageArgs(cobra.NoArgs),
		Long: `Chat answers one question a line, as ask does. A question may follow on those
before, such as "and in winter?"; what was searched for instead is shown. Ctrl-C
cancels the answer that is being written. Questions may come from a file, too:
then the first that cannot be answered ends the chat, and with --json each answer
is a line of JSON.

` + chatHelp,
		Example: "  waymark chat --llm ollama/llama3.2\n  waymark chat --json < questions.txt",
	}
	flags.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		b, opts, err := flags.open(cmd, a)
		if err != nil {
			return err
		}
		defer b.Close()
		// An interrupt ends the context of the program, but here only an answer.
		ctx, stop := signal.NotifyContext(context.WithoutCancel(cmd.Context()), syscall.SIGTERM)
		defer stop()
		interrupts := make(chan os.Signal, 1)
		signal.Notify(interrupts, os.Interrupt)
		defer signal.Stop(interrupts)
		c := &chat{app: a, interrupts: interrupts}
		c.ask = func(ctx context.Context, question string, history []llm.Message, stream func(pipeline.Event) error) (pipeline.Answer, error) {
			return b.Ask(ctx, question, history, opts, stream)
		}
		if f, ok := a.stdin.(*os.File); ok {
			c.terminal = term.IsTerminal(int(f.Fd()))
		}
		return c.run(ctx)
	}
	return cmd
}

const chatHelp = `  /sources   show the passages that the last answer cites
  /new       forget what was said
  /help      list these commands
  /quit      end, as the end of the input does`

// chat is a conversation on the terminal.
type chat struct {
	*app
	ask        func(ctx context.Context, question string, history []llm.Message, stream func(pipeline.Event) error) (pipeline.Answer, error)
	interrupts <-chan os.Signal
	terminal   bool // a person types

	history []llm.Message
	last    *pipeline.Answer
}

// errChatEnds ends a chat that was told to end.
var errChatEnds = errors.New("end of the chat")

// maxLine bounds in bytes a line of the input.
const maxLine = 1 << 20

// run answers line by line until the input or ctx ends. Two interrupts in a row
// while nothing is being answered end it, too.
func (c *chat) run(ctx context.Context) error {
	if c.terminal {
		fmt.Fprintln(c.stdout, "Ask a question, or /help.")
	}
	lines, failed := c.read()
	warned := false
	for {
		if c.terminal {
			fmt.Fprint(c.stdout, "\n> ")
		}
		select {
		case line, more := <-lines:
			if !more {
				if c.terminal {
					fmt.Fprintln(c.stdout)
				}
				return <-failed
			}
			warned = false
			if err := c.turn(ctx, strings.TrimSpace(line)); err == errChatEnds {
				return nil
			} else if err != nil {
				return err
			}
		case <-c.interrupts:
			if warned {
				return reportedError{context.Canceled}
			}
			warned = true
			fmt.Fprintln(c.stderr, "\nnothing to cancel; /quit or a second ctrl-C ends the chat")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// read hands on the lines of the input, and at its end what went wrong.
func (c *chat) read() (<-chan string, <-chan error) {
	lines, failed := make(chan string), make(chan error, 1)
	go func() {
		defer close(lines)
		in := bufio.NewScanner(c.stdin)
		in.Buffer(nil, maxLine)
		for in.Scan() {
			lines <- in.Text()
		}
		err := in.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("a line of more than %d bytes: want one question a line", maxLine)
		}
		failed <- err
	}()
	return lines, failed
}

var chatCommand = regexp.MustCompile(`^/[a-z]+$`)

// turn takes a line: a command, or a question to be answered.
func (c *chat) turn(ctx context.Context, line string) error {
	switch {
	case line == "":
		return nil
	case line == "/quit", line == "/exit":
		return errChatEnds
	case line == "/new":
		c.history, c.last = nil, nil
		return nil
	case line == "/help":
		_, err := fmt.Fprintln(c.stdout, chatHelp)
		return err
	case line == "/sources":
		return c.sources()
	case chatCommand.MatchString(line):
		_, err := fmt.Fprintf(c.stderr, "unknown command %s: /help lists those there are\n", line)
		return err
	}
	answer, err := c.answer(ctx, line)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.Canceled):
		_, err := fmt.Fprintln(c.stderr, "cancelled")
		return err
	case err != nil && !c.terminal:
		return err
	case err != nil:
		_, hint := explain(ctx, err)
		fmt.Fprintf(c.stderr, "error: %v\n", err)
		if hint != "" {
			fmt.Fprintf(c.stderr, "hint: %s\n", hint)
		}
		return nil
	}
	c.last = &answer
	c.history = append(c.history, llm.Message{Role: llm.User, Text: line}, llm.Message{Role: llm.Assistant, Text: answer.Text})
	return nil
}

// answer asks and prints. An interrupt cancels it.
func (c *chat) answer(ctx context.Context, question string) (pipeline.Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answered, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-c.interrupts:
			cancel()
		case <-answered:
		}
	}()
	defer func() { close(answered); <-watched }()
	if c.json {
		answer, err := c.ask(ctx, question, c.history, nil)
		if err != nil {
			return answer, err
		}
		enc := json.NewEncoder(c.stdout)
		enc.SetEscapeHTML(false)
		return answer, enc.Encode(asked{question, answer})
	}
	answer, err := c.printStream(question, func(stream func(pipeline.Event) error) (pipeline.Answer, error) {
		return c.ask(ctx, question, c.history, stream)
	})
	if err == nil {
		err = c.gap()
	}
	return answer, err
}

// gap keeps what belongs to a line of the input apart from what comes next; on a
// terminal the prompt does.
func (c *chat) gap() error {
	if c.terminal {
		return nil
	}
	return endLine(c.stdout)
}

// sources shows the passages that the last answer cites.
func (c *chat) sources() error {
	if c.last == nil || len(c.last.Citations) == 0 {
		_, err := fmt.Fprintln(c.stdout, "no sources: the last answer cites none, or there is none yet")
		return err
	}
	for i, cited := range c.last.Citations {
		if i > 0 {
			fmt.Fprintln(c.stdout)
		}
		if err := printHit(c.stdout, fmt.Sprintf("[%d]", cited.Number), c.last.Passages[cited.Passage]); err != nil {
			return err
		}
	}
	return c.gap()
}
