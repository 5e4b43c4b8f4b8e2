//go:build cgo && onnx

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestConversation(t *testing.T) {
	if os.Getenv("WAYMARK_ONNXRUNTIME") == "" {
		t.Setenv("WAYMARK_ONNXRUNTIME", "../../.deps/lib")
	}
	questions := "Which SQLite release fixed the race that could damage a database?\n\nSince which release was it present?\nWho won the football cup?\n"
	var out bytes.Buffer
	if err := run(t.Context(), "../handbook/operations", strings.NewReader(questions), &out); err != nil {
		t.Fatal(err)
	}
	const want = `It needed two connections that wrote or checkpointed at the same instant, and its finders could provoke it only with special test code, but the result was a damaged database. [1]

A data race in the resetting of the log was present from the first release with WAL, 3.7.0, and was repaired in version 3.51.3 of March 2026. [1]
[1] sqlite-wal.md:248-250

A data race in the resetting of the log was present from the first release with WAL, 3.7.0, and was repaired in version 3.51.3 of March 2026. [1]
[1] sqlite-wal.md:248-250

The documents do not answer this.

`
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}
