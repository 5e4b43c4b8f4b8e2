//go:build browser

package browsertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// accessible has axe-core look at the page as it is: names, roles, contrast,
// landmarks, order of headings and the rest of WCAG 2.2 AA and its good practice.
func (p *tab) accessible(state string) {
	p.Helper()
	if !eval[bool](p, `"axe" in window`) {
		source, err := os.ReadFile(filepath.Join("..", "..", "..", ".deps", "axe-core", "axe.min.js"))
		if err != nil {
			p.Fatalf("axe-core is missing: run make browser, which puts it into .deps (%v)", err)
		}
		// From the debugger, so that the page's policy need not allow it.
		if _, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](string(source)+"; true")); err != nil {
			p.Fatal(err)
		}
	}
	type finding struct {
		Rule, Help string
		Nodes      []string
	}
	found := eval[struct {
		Passes     int
		Violations []finding
	}](p, `axe.run(document).then((r) => ({ passes: r.passes.length, violations:
		r.violations.map((v) => ({ rule: v.id, help: v.help, nodes: v.nodes.map((n) => n.html + " " + n.failureSummary) })) }))`)
	for _, f := range found.Violations {
		p.Errorf("%s: %s: %s:\n%s", state, f.Rule, f.Help, strings.Join(f.Nodes, "\n"))
	}
	if found.Passes < 20 {
		p.Errorf("%s: axe-core found only %d rules to check", state, found.Passes)
	}
}

func TestAccessible(t *testing.T) {
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			f, base := newFake(t, map[string]string{"harbour.md": harbour, "quay.md": "# Quay\n\nThe lamp on the quay is electric.\n"})
			f.set(func() {
				f.answer = func(a *answer) {
					a.Sentences[0].Supported, a.Sentences[0].Reasons = false, []string{`the passage does not hold "eighteen"`}
					a.Text += "\n\n## More\n\n- `code` and **bold**\n\n> quoted\n\n```\nblock\n```"
				}
			})
			p := open(t, base, desk)
			p.prefers(scheme)
			if got := eval[string](p, `getComputedStyle(document.body).backgroundColor`); (got == "rgb(20, 22, 23)") != (scheme == "dark") {
				t.Errorf("the ground is %s", got)
			}
			p.accessible("empty")
			p.ask("Which lamp burns paraffin at Vårdsay?")
			p.answered()
			p.accessible("answer")
			p.click(`.chip[data-number="2"]`)
			p.wait("the passage", `document.querySelector("mark.passage")`)
			p.accessible("citation open")
			p.picture("citation-" + scheme)
			p.allow("404")
			f.set(func() { clear(f.documents["default"]) })
			p.click(`#documents li:nth-child(2) .entry`)
			p.wait("the refusal", `document.querySelector("#reader .notice")`)
			p.accessible("refused")
			p.click("#new-collection")
			p.accessible("dialog")
			p.press(kb.Escape)
			p.resize(phone)
			p.press(kb.Escape)
			p.accessible("phone")
			p.click("#sidebar-open")
			p.wait("the drawer", `document.getElementById("sidebar").getBoundingClientRect().left === 0`)
			p.accessible("drawer")
		})
	}
}
