//go:build cgo && onnx

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/pipeline"
)

func TestIndexWatches(t *testing.T) {
	dir := t.TempDir()
	docs := filepath.Join(dir, "docs")
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(docs, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a.md", "# Lamp\n\nThe lamp burns colza.\n")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, stdout := io.Pipe()
	var log bytes.Buffer
	code := make(chan int, 1)
	p := program{stdin: strings.NewReader(""), stdout: stdout, stderr: &log, environ: os.Environ()}
	go func() {
		code <- run(ctx, []string{"index", "--json", "--watch", "--store", "local:" + filepath.Join(dir, "docs.db"), docs}, p)
		stdout.Close()
	}()
	reports := json.NewDecoder(bufio.NewReader(out))
	// next reads reports until they add up to what is wanted: one change may come as two.
	next := func(what string, done func(pipeline.Report) bool) {
		t.Helper()
		var sum pipeline.Report
		for !done(sum) {
			var r pipeline.Report
			if err := reports.Decode(&r); err != nil {
				t.Fatalf("%s: %v; the program ended with %d: %s", what, err, <-code, log.String())
			}
			sum = sum.Plus(r)
		}
	}
	next("the first run", func(r pipeline.Report) bool { return r.Added == 1 })
	write("sub/b.md", "# Bridge\n\nThe bridge carries lanes.\n")
	next("a new file in a new folder", func(r pipeline.Report) bool { return r.Added == 1 })
	write("a.md", "# Lamp\n\nThe lamp burns paraffin now.\n")
	next("a change", func(r pipeline.Report) bool { return r.Changed == 1 })
	if err := os.Rename(filepath.Join(docs, "a.md"), filepath.Join(docs, "sub/lamp.md")); err != nil {
		t.Fatal(err)
	}
	next("a move", func(r pipeline.Report) bool { return r.Moved == 1 || r.Added == 1 && r.Removed == 1 })
	write("empty.md", "")
	next("a file that is skipped", func(r pipeline.Report) bool { return len(r.Skipped) == 1 })
	stop()
	if c := <-code; c != exitDone && c != 130 {
		t.Errorf("exit code %d: %s", c, log.String())
	}
}
