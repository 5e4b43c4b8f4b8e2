//go:build browser

package browsertest

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// What stands in documents, names and answers is shown, never run.
func TestHostileDocument(t *testing.T) {
	const evil = `<img src=x onerror="window.ran=1"><script>window.ran=1</script></textarea><svg onload=window.ran=1>`
	id := evil + "/../a b?c#d%2F.md"
	f, base := newFake(t, map[string]string{id: "# " + evil + "\n\nStatement about harpoons " + evil + "\n\nשלום עולם, harpoons abc\n"})
	f.answer = func(a *answer) { a.Text += "\n\n" + evil + " **" + evil + "** [x](javascript:alert)" }
	p := open(t, base, desk)
	p.ask("Where are the harpoons " + evil + "?")
	p.answered()
	p.click(`.chip[data-number="2"]`)
	p.wait("the passage", `document.querySelector("mark.passage")`)
	if got := p.text("#reader-title"); got != evil {
		t.Errorf("the title reads %q", got)
	}
	if got := p.text("mark.passage"); got != "Statement about harpoons "+evil {
		t.Errorf("the passage reads %q", got)
	}
	if found := eval[[]string](p, `[...document.querySelectorAll("img:not(.brand img), script:not([src^=assets]), a:not(.skip), iframe, [onerror], [onload]")].map((e) => e.outerHTML)`); len(found) > 0 {
		t.Errorf("made from text: %q", found)
	}
	if eval[bool](p, `"ran" in window`) {
		t.Error("a script ran")
	}
	p.click(`#documents li button[aria-label^="Delete"]`)
	p.click("#confirm-yes")
	p.wait("an empty list", `document.querySelector("#documents .none")`)
}

// A long document is shown around its passage and grows on request, until it is
// all there.
func TestLongDocument(t *testing.T) {
	for _, test := range []struct {
		name  string
		lines int
		all   bool // show all of it
	}{
		{"350 kB", 3_000, true},
		{"11 MB", 90_000, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b strings.Builder
			for i := range test.lines {
				fmt.Fprintf(&b, "Entry %d of the log, weather fair 🌊 and the sea calm, nothing else to report at all, so the watch wrote these words.\n", i)
				if i == test.lines/2 {
					b.WriteString("\nA narwhal was sighted.\n\n")
				}
			}
			text := b.String()
			_, base := newFake(t, map[string]string{"log.md": text})
			p := open(t, base, desk)
			p.ask("narwhal?")
			p.answered()
			p.click(".chip")
			p.wait("the passage", `document.querySelector("mark.passage")`)
			if got := p.text("mark.passage"); got != "A narwhal was sighted." {
				t.Errorf("highlighted %q", got)
			}
			p.looksHighlighted()
			if n := eval[int](p, `document.querySelector(".flow").textContent.length`); n > 20_000 {
				t.Errorf("%d characters of %d are drawn at first, want few", n, len(text))
			}
			top := `document.querySelector("mark.passage").getBoundingClientRect().top`
			before := eval[float64](p, top)
			eval[any](p, `document.querySelector(".text .more").click()`)
			if after := eval[float64](p, top); after < before-1 || after > before+1 {
				t.Errorf("showing more moved the passage from %v to %v", before, after)
			}
			eval[any](p, `[...document.querySelectorAll(".text .more")].at(-1).click()`)
			shown := eval[string](p, `document.querySelector(".flow").textContent`)
			if !strings.Contains(text, shown) || len(shown) < 120_000 {
				t.Errorf("%d bytes are shown, want more, and a part of the document", len(shown))
			}
			if !test.all {
				return
			}
			eval[any](p, `(() => { for (const b of document.querySelectorAll(".text .more")) while (!b.hidden) b.click(); })()`)
			if got := eval[string](p, `document.querySelector(".flow").textContent`); got != text {
				t.Errorf("in the end %d bytes are there, want the %d of the document", len(got), len(text))
			}
		})
	}
}

func TestChangedDocument(t *testing.T) {
	f, base := newFake(t, map[string]string{"harbour.md": harbour})
	p := open(t, base, desk)
	p.ask("Do batteries last?")
	p.answered()
	f.set(func() {
		f.documents["default"]["harbour.md"] = "A new first line, longer than the old one.\n\n" + harbour
	})
	p.click(".chip")
	p.wait("the passage at its new place", `document.querySelector("mark.passage")?.textContent === "Batteries last seventeen hours 🔋 when the lantern is dimmed."`)
	p.click(`[aria-label="Close the document"]`)
	f.set(func() { f.documents["default"]["harbour.md"] = "All of it is new.\n" })
	p.run(chromedp.Reload())
	p.click("#conversations .entry")
	p.click(".chip")
	p.wait("word that it is gone", `document.querySelector("#reader .notice")?.innerText.startsWith("This passage is no longer in the document")`)
	if eval[bool](p, `document.querySelector("mark") !== null`) {
		t.Error("something is highlighted all the same")
	}
}

// The API's links to a place in a document count bytes.
func TestLink(t *testing.T) {
	_, base := newFake(t, map[string]string{"guide/harbour 1.md": harbour})
	p := open(t, base, desk)
	start := strings.Index(harbour, "Ropes")
	p.run(chromedp.Navigate(fmt.Sprintf("%s/#/d/default/%s/%d-%d", base, url.PathEscape("guide/harbour 1.md"), start, len(harbour))))
	p.wait("the passage", `document.querySelector("mark.passage")?.textContent === "Ropes are kept dry in the boathouse, coiled to the left."`)
}
