//go:build browser

package browsertest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// harbour is a document whose passages lie behind characters that UTF-8, UTF-16
// and code points count differently.
const harbour = `# Harbour handbook 🧭 für Vårdsay

The lamp at Vårdsay 🔦 burns paraffin from the eastern store.

Batteries last seventeen hours 🔋 when the lantern is dimmed.

Ropes are kept dry in the boathouse, coiled to the left.
`

func TestUploadAskCiteDelete(t *testing.T) {
	f, base := newFake(t, nil)
	p := open(t, base, desk)
	p.prefers("light")
	if got := p.text(".empty h2"); got != "Add documents to begin" {
		t.Errorf("an empty collection says %q", got)
	}
	p.picture("empty-no-documents")

	p.allow("429")
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "harbour.md"), filepath.Join(dir, "lamp.png")}
	for _, file := range files {
		if err := os.WriteFile(file, []byte(harbour), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p.run(chromedp.SetUploadFiles(chromedp.ID("files"), files))
	p.wait("the progress bar", `document.querySelector("#jobs progress")`)
	p.wait("the end of indexing", `document.querySelector("#jobs .done")`)
	if got, want := p.text("#jobs .done"), "1 document added\n\nlamp.png: it is a picture, which has no text"; got != want {
		t.Errorf("the upload ended with %q, want %q", got, want)
	}
	p.wait("the new document", `document.querySelector("#documents .title")?.innerText === "Harbour handbook 🧭 für Vårdsay"`)
	p.wait("the invitation to ask", `document.querySelector(".empty h2").innerText === "Ask your documents"`)
	p.click("#jobs .dismiss")
	p.picture("empty")

	gate := make(chan struct{})
	f.set(func() { f.gate = gate })
	p.press("/")
	if got := eval[string](p, `document.activeElement.id + document.getElementById("question").value`); got != "question" {
		t.Errorf("/ gives %q, want the focus on an empty question", got)
	}
	p.ask("How long do batteries last at Vårdsay?")
	p.wait("the first half of the answer", `document.querySelector(".answer .chip")`)
	if state, stop := eval[string](p, `document.querySelector(".turn").dataset.state`), eval[bool](p, `!document.getElementById("stop").hidden`); state != "writing" || !stop {
		t.Errorf("while the answer streams in the turn is %q, and that there is a stop button %v", state, stop)
	}
	p.picture("streaming")
	close(gate)
	p.answered()
	if got, want := eval[[]string](p, `[...document.querySelectorAll(".answer .chip")].map((c) => c.innerText)`), []string{"1", "2", "3"}; !slices.Equal(got, want) {
		t.Errorf("chips %q, want %q", got, want)
	}
	if got := p.text("#spoken"); !strings.Contains(got, "Batteries last seventeen hours") || strings.Contains(got, "[") {
		t.Errorf("screen readers are told %q", got)
	}

	p.click(`.chip[data-number="3"]`)
	p.wait("the passage", `document.querySelector("mark.passage")`)
	if got, want := eval[string](p, `document.querySelector("mark.passage").textContent`), "Batteries last seventeen hours 🔋 when the lantern is dimmed."; got != want {
		t.Errorf("highlighted %q, want %q", got, want)
	}
	if got := eval[string](p, `document.querySelector("#reader .flow").textContent`); got != harbour {
		t.Errorf("the document reads %q", got)
	}
	p.looksHighlighted()
	for row, want := range map[string]string{"Passage": "0.823", "Document": "0.644", "Words": "5.25"} {
		if got := eval[string](p, `[...document.querySelectorAll(".scores dt")].find((e) => e.innerText === "`+row+`").nextSibling.querySelector(".value").innerText`); got != want {
			t.Errorf("the score of the %s is %q, want %q", row, got, want)
		}
	}
	if got := p.text(".rule code"); !strings.HasPrefix(got, "fused (1.000 + 0.6·1.000)/1.6: dense #1") {
		t.Errorf("the rule is %q", got)
	}
	p.picture("citation")
	p.press(kb.Escape)
	if got := eval[string](p, `document.activeElement.dataset.number + document.getElementById("reader").hidden`); got != "3true" {
		t.Errorf("after Esc the focus is on citation and the document is hidden: %q, want 3true", got)
	}

	p.click(`#documents li button[aria-label^="Delete"]`)
	p.wait("the question whether to delete", `document.getElementById("confirm-dialog").open`)
	p.click("#confirm-yes")
	p.wait("an empty list", `document.querySelector("#documents .none")`)
	f.set(func() {
		if n := len(f.documents["default"]); n != 0 {
			t.Errorf("%d documents are left", n)
		}
	})
	p.allow("404")
	p.click(`.chip[data-number="1"]`)
	p.wait("word that it is gone", `document.querySelector("#reader .notice")?.innerText.startsWith("This document is no longer in the collection.")`)
}

// looksHighlighted checks that the passage is in sight, and that it and its
// landmark have backgrounds of their own.
func (p *tab) looksHighlighted() {
	p.Helper()
	type box struct{ Top, Bottom float64 }
	mark := eval[box](p, `document.querySelector("mark.passage").getBoundingClientRect()`)
	view := eval[box](p, `document.querySelector("#reader .text").getBoundingClientRect()`)
	if mark.Top < view.Top || mark.Top > view.Bottom-20 {
		p.Errorf("the passage begins at %v, out of sight from %v to %v", mark.Top, view.Top, view.Bottom)
	}
	colours := eval[[]string](p, `["#reader .flow", "mark.passage", "mark .landmark"].map((s) => getComputedStyle(document.querySelector(s)).backgroundColor)`)
	if colours[0] != "rgba(0, 0, 0, 0)" || colours[1] == colours[0] || colours[2] == colours[1] || colours[2] == colours[0] {
		p.Errorf("backgrounds of the text, the passage and the landmark: %q", colours)
	}
}
