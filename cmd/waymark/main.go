// Command waymark indexes folders of documents and answers from them.
//
//	waymark index DIR...     bring the index up to date with the files in DIR
//	waymark search QUESTION  show the passages that answer best
//	waymark ask QUESTION     answer from those passages, with citations
//	waymark chat             the same for question after question
//	waymark serve            serve the same over HTTP, with a web page
//	waymark mcp              serve it to the MCP client that started the program
//	waymark export --to P    copy the index to another store, vectors included
//	waymark eval SET...      measure retrieval and answers on sets of questions
//	waymark models           list the models that ship with waymark
//	waymark doctor           check the model, its library and the index
//
// The index is .waymark/index.db in the current folder unless --store names another
// file or a collection of a Qdrant server. Every command takes --json; waymark
// COMMAND --help tells the rest.
//
// Exit codes: 0 done, 1 failed, 2 usage, 3 some documents skipped, 10 store
// missing, 11 model mismatch, 12 backend unreachable, 130 interrupted.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	code := run(ctx, os.Args[1:], program{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(),
	})
	stop()
	os.Exit(code)
}

// program is what a run sees of the world.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string
}

// getenv returns a variable of the environment.
func (p program) getenv(name string) string {
	for _, entry := range p.environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// run carries out a command line and returns the exit code.
func run(ctx context.Context, args []string, p program) int {
	cmd := newRoot(p)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	code, hint := explain(ctx, err)
	if _, told := err.(reportedError); told {
		return code
	}
	fmt.Fprintf(p.stderr, "error: %v\n", err)
	if hint != "" {
		fmt.Fprintf(p.stderr, "hint: %s\n", hint)
	}
	return code
}
