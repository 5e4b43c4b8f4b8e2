//go:build browser && cgo && onnx

package browsertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/waymark-rag/waymark/internal/waymarktest"
)

// TestServe goes the whole way with the real server: files of the handbook are
// uploaded and indexed, a question is answered, and its citation opened at the
// words of the file.
func TestServe(t *testing.T) {
	base := waymarktest.Build(t).Serve(t, "web read,write - open-sesame", "--store", "local:"+filepath.Join(t.TempDir(), "index.db"))
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
