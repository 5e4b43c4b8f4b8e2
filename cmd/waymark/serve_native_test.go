//go:build cgo && onnx

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serving is a `waymark serve` that runs in this process.
type serving struct {
	url  string
	stop context.CancelFunc
	code chan int
	log  bytes.Buffer // to be read after the end
}

func startServing(t *testing.T, dir string, args ...string) *serving {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &serving{stop: cancel, code: make(chan int, 1)}
	out, stdout := io.Pipe()
	p := program{stdin: strings.NewReader(""), stdout: stdout, stderr: &s.log, environ: os.Environ()}
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--store", "local:" + filepath.Join(dir, "docs.db")}, args...)
	go func() {
		s.code <- run(ctx, args, p)
		stdout.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "serving on ")
	if err != nil || !ok {
		t.Fatalf("%q, %v; the program ended with %d: %s", line, err, <-s.code, s.log.String())
	}
	s.url = url
	return s
}

func (s *serving) end(t *testing.T) {
	t.Helper()
	s.stop()
	if code := <-s.code; code != exitDone {
		t.Errorf("exit code %d: %s", code, s.log.String())
	}
}

// call sends JSON and decodes the answer into v, unless it is nil.
func (s *serving) call(t *testing.T, status int, method, path, key, body string, v any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != status {
		t.Fatalf("%s %s: status %d, want %d: %s", method, path, resp.StatusCode, status, data)
	}
	if v != nil {
		if err := json.Unmarshal(data, v); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
	}
}

// upload adds a document and waits until it is indexed.
func (s *serving) upload(t *testing.T, key, collection, id, text string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"documents": []any{map[string]string{"id": id, "text": text}}})
	if err != nil {
		t.Fatal(err)
	}
	var started struct{ Job string }
	s.call(t, http.StatusAccepted, "POST", "/v1/documents?collection="+collection, key, string(body), &started)
	for range 600 {
		var job struct{ State string }
		if s.call(t, http.StatusOK, "GET", "/v1/jobs/"+started.Job, key, "", &job); job.State == "done" {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the upload was not indexed")
}

type collectionNames struct {
	Collections []struct {
		Name      string
		Documents int
	}
}

func (c collectionNames) String() string {
	var names []string
	for _, one := range c.Collections {
		names = append(names, one.Name)
	}
	return strings.Join(names, " ")
}

// A whole life of the server: upload, ask, end, and start again with keys and tenants.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	// What else lies in the folder is no collection.
	if err := os.WriteFile(filepath.Join(dir, "other.db"), []byte("not a store"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServing(t, dir)
	s.upload(t, "", "default", "boiler.md", "# Boiler\n\nThe boiler is serviced every second autumn.\n")
	s.upload(t, "", "notes", "bees.md", "# Bees\n\nThe bees moved to the orchard in May.\n")
	var answer struct {
		Text      string
		Citations []struct{ Document, URL string }
	}
	s.call(t, http.StatusOK, "POST", "/v1/ask", "", `{"question":"When is the boiler serviced?"}`, &answer)
	if answer.Text != "The boiler is serviced every second autumn. [1]" || answer.Citations[0].URL != s.url+"/#/d/default/boiler.md/0-54" {
		t.Errorf("answer %+v", answer)
	}
	var chat struct {
		Choices []struct{ Message struct{ Content string } }
	}
	s.call(t, http.StatusOK, "POST", "/v1/chat/completions", "", `{"model":"waymark/notes","messages":[{"role":"user","content":"Where did the bees move?"}]}`, &chat)
	if got := chat.Choices[0].Message.Content; got != "The bees moved to the orchard in May. [1]" {
		t.Errorf("chat %q", got)
	}
	var page bytes.Buffer
	resp, err := http.Get(s.url)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := page.ReadFrom(resp.Body); err != nil || resp.Body.Close() != nil || !strings.Contains(page.String(), "<title>") {
		t.Errorf("no page: %q, %v", page.String(), err)
	}
	s.end(t)

	keys := filepath.Join(dir, "keys.txt")
	if err := os.WriteFile(keys, []byte("own read - owner-secret\nacme read,write acme acme-secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = startServing(t, dir, "--set", "server.keys_file="+keys)
	s.call(t, http.StatusUnauthorized, "GET", "/v1/collections", "", "", nil)
	var names collectionNames
	if s.call(t, http.StatusOK, "GET", "/v1/collections", "owner-secret", "", &names); names.String() != "default notes" {
		t.Errorf("collections after a restart: %v", names)
	}
	if s.call(t, http.StatusOK, "GET", "/v1/collections", "acme-secret", "", &names); names.String() != "default" || names.Collections[0].Documents != 0 {
		t.Errorf("another tenant's collections: %v", names)
	}
	s.call(t, http.StatusNotFound, "GET", "/v1/documents/boiler.md", "acme-secret", "", nil)
	s.upload(t, "acme-secret", "notes", "acme.md", "Acme keeps no bees.\n")
	if s.call(t, http.StatusOK, "GET", "/v1/collections", "acme-secret", "", &names); names.String() != "default notes" || names.Collections[1].Documents != 1 {
		t.Errorf("another tenant's collections: %+v", names)
	}
	s.call(t, http.StatusNotFound, "GET", "/v1/documents/acme.md?collection=notes", "owner-secret", "", nil)
	s.end(t)
	for _, secret := range []string{"owner-secret", "acme-secret", "bees moved"} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
}

func TestMCPCommand(t *testing.T) {
	dir := t.TempDir()
	s := startServing(t, dir)
	s.upload(t, "", "default", "boiler.md", "# Boiler\n\nThe boiler is serviced every second autumn.\n")
	s.end(t)

	in, clientOut := io.Pipe()
	clientIn, out := io.Pipe()
	code := make(chan int, 1)
	var log bytes.Buffer
	go func() {
		code <- run(context.Background(), []string{"mcp", "--store", "local:" + filepath.Join(dir, "docs.db")}, program{stdin: in, stdout: out, stderr: &log, environ: os.Environ()})
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: clientIn, Writer: clientOut}, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": "When is the boiler serviced?"}})
	if err != nil || res.IsError {
		t.Fatalf("%+v, %v", res, err)
	}
	if text := res.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, "waymark://default/boiler.md#0-54") || !strings.Contains(text, "every second autumn") {
		t.Errorf("result %q", text)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	clientOut.Close()
	if c := <-code; c != exitDone {
		t.Errorf("exit code %d: %s", c, log.String())
	}
}
