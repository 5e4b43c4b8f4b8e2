//go:build browser

package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

func TestPhone(t *testing.T) {
	_, base := newFake(t, map[string]string{"harbour.md": harbour})
	p := open(t, base, phone)
	p.prefers("light")
	if got := eval[float64](p, `document.documentElement.scrollWidth`); got != 390 {
		t.Errorf("the page is %v wide, want 390", got)
	}
	if !eval[bool](p, `getComputedStyle(document.getElementById("sidebar")).visibility === "hidden"`) {
		t.Error("the sidebar can be reached while its drawer is closed")
	}
	p.click("#sidebar-open")
	if got := eval[string](p, `document.activeElement.id`); got != "sidebar-close" || !eval[bool](p, `document.getElementById("main").inert`) {
		t.Errorf("with the drawer open the focus is on %q, want sidebar-close, and the rest out of reach", got)
	}
	p.picture("phone-drawer")
	p.press(kb.Escape)
	if got := eval[string](p, `document.activeElement.id`); got != "sidebar-open" {
		t.Errorf("with the drawer closed the focus is on %q, want sidebar-open", got)
	}

	p.ask("How long do batteries last at Vårdsay?")
	p.answered()
	p.picture("phone")
	p.click(`.chip[data-number="3"]`)
	p.wait("the passage", `document.querySelector("mark.passage")`)
	p.looksHighlighted()
	type box struct{ Left, Width, Top, Bottom float64 }
	if got := eval[box](p, `document.getElementById("reader").getBoundingClientRect()`); got.Left != 0 || got.Width != 390 || got.Bottom != 844 || got.Top < 20 {
		t.Errorf("the document is a sheet at %+v", got)
	}
	if !eval[bool](p, `document.getElementById("main").inert`) {
		t.Error("what lies below the sheet can be reached")
	}
	p.picture("phone-citation")
	p.press(kb.Escape)
	if !eval[bool](p, `document.getElementById("reader").hidden && !document.getElementById("main").inert`) {
		t.Error("Esc does not close the sheet")
	}
	if small := eval[[]string](p, `[...document.querySelectorAll("button")].filter((b) => b.offsetParent && (b.offsetWidth < 24 || b.offsetHeight < 24)).map((b) => b.outerHTML)`); len(small) > 0 {
		t.Errorf("too small for a finger: %q", small)
	}
}
