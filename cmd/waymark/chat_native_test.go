//go:build cgo && onnx

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Ctrl-C while an answer streams ends the call to the model and not the chat.
func TestChatCtrlC(t *testing.T) {
	var calls atomic.Int32
	left := make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"The harbour \"}}]}\n\n")
		if calls.Add(1) == 1 {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			close(left)
			return
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"master [1].\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()

	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "boat.md"), []byte("The harbour master keeps the key.\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	store := "local:" + filepath.Join(t.TempDir(), "index.db")
	waymark := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), os.Args[0], append(args, "--store", store)...)
		cmd.Env = append(os.Environ(), "WAYMARK_TEST_MAIN=1")
		return cmd
	}
	if out, err := waymark("index", "--quiet", dir).CombinedOutput(); err != nil {
		t.Fatalf("index: %v\n%s", err, out)
	}
	cmd := waymark("chat", "--llm", "openai/tiny", "--set", "llm.base_url="+server.URL+"/v1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(stdin, "who keeps the key?")
	begun := make([]byte, len("The harbour"))
	if _, err := io.ReadFull(stdout, begun); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case <-left:
	case <-time.After(time.Minute):
		t.Fatal("the call to the model goes on")
	}
	fmt.Fprintln(stdin, "who keeps the key?\n/quit")
	rest, err := io.ReadAll(stdout)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("chat: %v", err)
	}
	if got := string(begun) + string(rest); !strings.HasPrefix(got, "The harbour\nThe harbour master [1].\n\n[1] boat.md:1") {
		t.Errorf("stdout %q", got)
	}
	if stderr.String() != "cancelled\n" || calls.Load() != 2 {
		t.Errorf("stderr %q after %d calls", stderr.String(), calls.Load())
	}
}
