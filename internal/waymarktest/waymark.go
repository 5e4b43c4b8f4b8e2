// Package waymarktest runs the program for tests that need it as users have it.
//
// In: a test, with the native libraries in its environment (make's targets set them).
//
// Out: a [Program] built from this checkout, to run commands with or to serve.
//
// Never: skips a test, or leaves a server behind when the test ends.
package waymarktest

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Program is the path of a waymark.
type Program string

// Build builds the program, which is removed when the test ends.
func Build(tb testing.TB) Program {
	tb.Helper()
	p := filepath.Join(tb.TempDir(), "waymark")
	if out, err := exec.Command("go", "build", "-tags", "onnx", "-o", p, "github.com/waymark-rag/waymark/cmd/waymark").CombinedOutput(); err != nil {
		tb.Fatalf("waymarktest: %v\n%s", err, out)
	}
	return Program(p)
}

// Run runs a command, which must succeed, and returns what it prints.
func (p Program) Run(tb testing.TB, args ...string) string {
	tb.Helper()
	cmd := exec.Command(string(p), args...)
	var messages bytes.Buffer
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("waymark %s: %v\n%s", strings.Join(args, " "), err, &messages)
	}
	return string(out)
}

// Serve starts `waymark serve` on a free port and returns its address. Keys are lines
// as WAYMARK_SERVER_KEYS takes them. The server is interrupted when the test ends, and
// must end well.
func (p Program) Serve(tb testing.TB, keys string, args ...string) string {
	tb.Helper()
	cmd := exec.Command(string(p), append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), "WAYMARK_SERVER_KEYS="+keys)
	var log bytes.Buffer // read after the end alone
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			tb.Errorf("waymark serve ended: %v", err)
		}
		if tb.Failed() {
			tb.Logf("waymark serve wrote:\n%s", &log)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "serving on ")
	if !ok {
		tb.Fatalf("waymark serve printed %q, %v", line, err)
	}
	return url
}
