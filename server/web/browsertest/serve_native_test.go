//go:build browser && cgo && onnx

package browsertest

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// serve starts `waymark serve` on an empty index and returns its address. Keys
// are lines as WAYMARK_SERVER_KEYS takes them.
func serve(t *testing.T, keys string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "waymark")
	if out, err := exec.Command("go", "build", "-tags", "onnx", "-o", program, "github.com/waymark-rag/waymark/cmd/waymark").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--store", "local:"+filepath.Join(t.TempDir(), "index.db"))
	cmd.Env = append(os.Environ(), "WAYMARK_SERVER_KEYS="+keys)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Logf("waymark serve ended: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	base, ok := strings.CutPrefix(strings.TrimSpace(line), "serving on ")
	if !ok {
		t.Fatalf("waymark serve printed %q, %v", line, err)
	}
	return base
}

// TestServe goes the whole way with the real server: files of the handbook are
// uploaded and indexed, a question is answered, and its citation opened at the
// words of the file.
func TestServe(t *testing.T) {
	base := serve(t, "web read,write - open-sesame")
	p := load(t, base, "401")
	p.resize(desk)
	p.prefers("light")
	p.wait("the question for a key", `document.getElementById("key-dialog").open`)
	p.run(chromedp.SendKeys(chromedp.ID("key"), "open-sesame"))
	p.press(kb.Enter)
	p.wait("an empty collection", `document.querySelector("#documents .none") && document.querySelector(".empty h2").innerText === "Add documents to begin"`)

	var files []string
	for _, name := range []string{"field/bm25.md", "guide/faq.html", "guide/citations.md", "operations/sqlite-wal.md"} {
		path, err := filepath.Abs(filepath.Join("..", "..", "..", "examples", "handbook", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	p.run(chromedp.SetUploadFiles(chromedp.ID("files"), files))
	p.wait("the end of indexing", `document.querySelector("#jobs .done")`)
	if got := strings.TrimSpace(p.text("#jobs .done")); got != "4 documents added" {
		t.Errorf("the upload ended with %q", got)
	}
	p.click("#jobs .dismiss")
	p.wait("the documents", `document.querySelectorAll("#documents .title").length === 4`)
	p.picture("serve-empty")

	p.ask("Which SQLite release fixed the race that could damage a database when the log starts over?")
	p.answered()
	if got := p.text(".answer"); !strings.Contains(got, "3.51.3") {
		t.Errorf("the answer is %q, want 3.51.3 in it", got)
	}
	p.click(".chip")
	p.wait("the passage", `document.querySelector("mark.passage")`)
	source, err := os.ReadFile(files[3])
	if err != nil {
		t.Fatal(err)
	}
	if got := eval[string](p, `document.querySelector("mark.passage").textContent`); !strings.Contains(got, "3.51.3") || !strings.Contains(string(source), got) {
		t.Errorf("highlighted %q, want a part of sqlite-wal.md with 3.51.3", got)
	}
	p.looksHighlighted()
	if got := p.text(".rule code"); !strings.Contains(got, "landmark") || !strings.Contains(got, "document") {
		t.Errorf("the rule is %q", got)
	}
	p.accessible("citation open")
	p.picture("serve-citation")
	p.prefers("dark")
	p.picture("serve-dark")
	p.prefers("light")

	// The link that the API gives with a citation leads to the same place.
	url := eval[string](p, `fetch("v1/ask", { method: "POST", headers: { "Content-Type": "application/json", Authorization: "Bearer open-sesame" },
		body: JSON.stringify({ question: "Which SQLite release fixed the race that could damage a database when the log starts over?" }) })
		.then((r) => r.json()).then((a) => a.citations[0].url)`)
	marked := p.text("mark.passage")
	p.press(kb.Escape)
	p.run(chromedp.Navigate(url))
	p.wait("the same passage", `document.querySelector("mark.passage")`)
	if got := p.text("mark.passage"); got != marked {
		t.Errorf("%s leads to %q, want %q", url, got, marked)
	}
	p.press(kb.Escape)

	p.ask("Who won the football cup?")
	p.answered()
	if got := p.text(".turn:last-child .answer"); got != "The documents do not answer this." {
		t.Errorf("what no document says is answered with %q", got)
	}

	p.click(`#documents li[data-id="bm25.md"] button[aria-label^="Delete"]`)
	p.click("#confirm-yes")
	p.wait("one document less", `document.querySelectorAll("#documents .title").length === 3`)

	p.resize(phone)
	p.picture("serve-phone")
}
