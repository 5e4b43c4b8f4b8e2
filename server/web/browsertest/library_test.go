//go:build browser

package browsertest

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestKey(t *testing.T) {
	f, base := newFake(t, map[string]string{"harbour.md": harbour})
	f.key = "sesame"
	p := load(t, base, "401")
	p.wait("the question for a key", `document.getElementById("key-dialog").open`)
	if got := p.text("#key-message"); got != "Whoever runs the server can give you one." {
		t.Errorf("the dialog says %q", got)
	}
	p.picture("key")
	p.run(chromedp.SendKeys(chromedp.ID("key"), "wrong"))
	p.press(kb.Enter)
	p.wait("the refusal", `document.getElementById("key-dialog").open && document.getElementById("key-message").innerText.startsWith("The server did not accept")`)
	p.run(chromedp.SendKeys(chromedp.ID("key"), "sesame"))
	p.press(kb.Enter)
	p.wait("the documents", `document.querySelector("#documents .title")`)
	stored := eval[[]string](p, `[sessionStorage.getItem("waymark.key"), JSON.stringify(localStorage)]`)
	if stored[0] != "sesame" || strings.Contains(stored[1], "sesame") {
		t.Errorf("kept: for the tab %q, for longer %q", stored[0], stored[1])
	}
	p.ask("Do batteries last?")
	p.answered()

	p.click("#forget-key")
	p.wait("the question for a key", `document.getElementById("key-dialog").open`)
	p.press(kb.Escape)
	p.wait("the refusal", `document.querySelector("#documents .notice")`)
	if eval[*string](p, `sessionStorage.getItem("waymark.key")`) != nil {
		t.Error("the key is not forgotten")
	}
}

func TestDrop(t *testing.T) {
	f, base := newFake(t, nil)
	p := open(t, base, desk)
	eval[any](p, `(() => {
		window.dropped = new DataTransfer();
		dropped.items.add(new File(["# Dropped\n\nA word.\n"], "dropped.md"));
		document.body.dispatchEvent(new DragEvent("dragenter", { dataTransfer: dropped, bubbles: true }));
	})()`)
	if got := p.text("#drop"); got != "Drop files to add them to default" {
		t.Errorf("while files are dragged over the page it says %q", got)
	}
	p.picture("drop")
	p.allow("429")
	eval[any](p, `document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true }))`)
	p.wait("the new document", `document.querySelector("#documents .title")?.innerText === "Dropped"`)
	if !eval[bool](p, `document.getElementById("drop").hidden`) {
		t.Error("the invitation to drop is still there")
	}
	f.set(func() {
		if got := f.documents["default"]["dropped.md"]; got != "# Dropped\n\nA word.\n" {
			t.Errorf("the server got %q", got)
		}
	})
}

func TestCollections(t *testing.T) {
	f, base := newFake(t, map[string]string{"a.md": harbour, "b.md": harbour, "c.md": harbour, "d.md": harbour, "e.md": harbour})
	p := open(t, base, desk)
	p.allow("429")
	ids := func() []string {
		return eval[[]string](p, `[...document.querySelectorAll("#documents li")].map((e) => e.dataset.id)`)
	}
	p.wait("the first page", `document.querySelectorAll("#documents li").length === 3`)
	p.click("#more-documents")
	p.wait("the second page", `document.querySelectorAll("#documents li").length === 5`)
	if got, want := ids(), []string{"a.md", "b.md", "c.md", "d.md", "e.md"}; !slices.Equal(got, want) {
		t.Errorf("documents %q, want %q", got, want)
	}

	p.click("#new-collection")
	p.run(chromedp.SendKeys(chromedp.ID("collection-name"), "Not This"))
	p.press(kb.Enter)
	if !eval[bool](p, `document.getElementById("collection-dialog").open`) {
		t.Error("a name that the server refuses is taken")
	}
	p.run(chromedp.SetValue(chromedp.ID("collection-name"), "field-notes"))
	p.press(kb.Enter)
	p.wait("the new collection", `document.getElementById("collection").value === "field-notes" && document.querySelector("#documents .none")`)
	eval[any](p, `(() => {
		const files = new DataTransfer();
		files.items.add(new File(["A curlew nests here.\n"], "birds.txt"));
		document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
	})()`)
	p.wait("its document", `document.querySelector("#documents li")?.dataset.id === "birds.txt"`)
	p.ask("Which curlew?")
	p.answered()
	f.set(func() {
		if got := f.asked[0].Collection; got != "field-notes" {
			t.Errorf("asked in %q", got)
		}
	})

	// A conversation brings its collection with it.
	p.run(chromedp.SetValue(chromedp.ID("collection"), "default"))
	eval[any](p, `document.getElementById("collection").dispatchEvent(new Event("change"))`)
	p.wait("the first collection", `document.querySelectorAll("#documents li").length === 3 && document.querySelector(".empty")`)
	p.click("#conversations .entry")
	p.wait("the other again", `document.getElementById("collection").value === "field-notes" && document.querySelector(".turn")`)
}

func TestKeyboard(t *testing.T) {
	_, base := newFake(t, map[string]string{"harbour.md": harbour})
	p := open(t, base, desk)
	p.ask("How long do batteries last at Vårdsay?")
	p.answered()
	focus := func() string {
		return eval[string](p, `document.activeElement.dataset.number ?? document.activeElement.id`)
	}
	p.run(chromedp.Focus(chromedp.CSS(`.chip[data-number="1"]`)))
	p.press(kb.ArrowRight)
	if got := focus(); got != "2" {
		t.Errorf("→ moves to %q, want 2", got)
	}
	if width := eval[string](p, `getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).outlineWidth`); width != "solid2px" {
		t.Errorf("the focus is shown by an outline %q", width)
	}
	p.press(kb.Enter)
	p.wait("the second passage", `document.querySelector("mark.passage")?.textContent.startsWith("The lamp")`)
	if got := focus(); got != "reader-title" {
		t.Errorf("the focus is on %q, want the document's title", got)
	}
	p.press(kb.ArrowRight)
	p.wait("the third passage", `document.querySelector("mark.passage")?.textContent.startsWith("Batteries")`)
	if got := eval[[]string](p, `[...document.querySelectorAll(".chip[aria-current]")].map((c) => c.innerText)`); !slices.Equal(got, []string{"3"}) {
		t.Errorf("marked as open: %q, want 3", got)
	}
	p.press(kb.ArrowLeft)
	p.wait("the second passage", `document.querySelector("mark.passage")?.textContent.startsWith("The lamp")`)
	p.press(kb.Escape)
	if got := focus(); got != "2" {
		t.Errorf("Esc leaves the focus on %q, want 2", got)
	}
	p.press("/")
	if got := focus(); got != "question" {
		t.Errorf("/ moves to %q, want the question", got)
	}
	if got := eval[string](p, `document.getElementById("question").value`); got != "" {
		t.Errorf("/ wrote %q", got)
	}
}

func TestTheme(t *testing.T) {
	_, base := newFake(t, nil)
	p := open(t, base, desk)
	p.prefers("dark")
	ground := func() string { return eval[string](p, `getComputedStyle(document.body).backgroundColor`) }
	const light, dark = "rgb(247, 246, 243)", "rgb(20, 22, 23)"
	for _, want := range []struct{ label, ground string }{
		{"Colours: as the system. Change to light", dark},
		{"Colours: light. Change to dark", light},
		{"Colours: dark. Change to as the system", dark},
	} {
		if got := eval[string](p, `document.getElementById("theme").getAttribute("aria-label")`); got != want.label || ground() != want.ground {
			t.Errorf("%q on %s, want %q on %s", got, ground(), want.label, want.ground)
		}
		p.click("#theme")
	}
	p.prefers("light")
	p.click("#theme")
	p.click("#theme")
	p.run(chromedp.Reload())
	if got := ground(); got != dark {
		t.Errorf("the choice of dark is lost by a reload: %s", got)
	}
}

func TestServerGone(t *testing.T) {
	f, base := newFake(t, map[string]string{"harbour.md": harbour})
	p := open(t, base, desk)
	p.allow("ERR_")
	f.stop()
	p.ask("Do batteries last?")
	p.wait("the error", `document.querySelector(".turn .notice")`)
	if got := p.text(".turn .notice"); !strings.Contains(got, "The server can't be reached.") || !strings.Contains(got, "Try again") {
		t.Errorf("the error reads %q", got)
	}
}

// Many files go in parts that a server takes, one after the other.
func TestUploadInParts(t *testing.T) {
	f, base := newFake(t, nil)
	p := open(t, base, desk)
	p.allow("429")
	eval[any](p, `(() => {
		const files = new DataTransfer();
		for (let i = 0; i < 4; i++) files.items.add(new File(["x".repeat(9 << 20)], "part-" + i + ".txt"));
		document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
	})()`)
	p.wait("the end of indexing", `document.querySelector("#jobs .done")`)
	if got := strings.TrimSpace(p.text("#jobs .done")); got != "4 documents added" {
		t.Errorf("the upload ended with %q", got)
	}
	f.set(func() {
		if len(f.jobs) != 4 || len(f.documents["default"]["part-3.txt"]) != 9<<20 {
			t.Errorf("%d uploads, the last file with %d bytes; want 4 and all", len(f.jobs), len(f.documents["default"]["part-3.txt"]))
		}
	})
}
