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
	if err := run(t.Context(), "../handbook/operations/sqlite-wal.md", strings.NewReader(questions), &out); err != nil {
		t.Fatal(err)
	}
	// The second question is answered from the first: by itself it names no subject.
	const answer = "A data race in the resetting of the log was present from the first release with WAL, 3.7.0, and was repaired in version 3.51.3 of March 2026. [1]\n"
	const place = "[1] sqlite-wal.md:248-250\n\n"
	if n, m := strings.Count(out.String(), answer), strings.Count(out.String(), place); n != 2 || m != 2 || !strings.HasSuffix(out.String(), "\n\nThe documents do not answer this.\n\n") {
		t.Errorf("%d answers at %d places, want 2, and none to the last question:\n%s", n, m, out.String())
	}
}
