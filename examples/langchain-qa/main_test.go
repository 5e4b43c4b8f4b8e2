//go:build cgo && onnx

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMain lets the test binary stand for the program.
func TestMain(m *testing.M) {
	if os.Getenv("WAYMARK_TEST_MAIN") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestAnswers(t *testing.T) {
	library := os.Getenv("WAYMARK_ONNXRUNTIME")
	if library == "" {
		library = "../../.deps/lib"
	}
	index := filepath.Join(t.TempDir(), "index.db")
	for question, want := range map[string]string{
		"How many minutes did the batteries last at the test in 2032?": "At the test of October 2032 the batteries lasted 17 minutes, and four of the eight blocks were replaced. [1]\n",
		"Who won the football cup?":                                    "The documents do not answer this.\n",
	} {
		cmd := exec.Command(os.Args[0], index, "../handbook/operations/runbook.md", question)
		cmd.Env = append(os.Environ(), "WAYMARK_TEST_MAIN=1", "WAYMARK_ONNXRUNTIME="+library)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil || string(out) != want {
			t.Errorf("%s\n got %q, %v\nwant %q", question, out, err, want)
		}
	}
}
