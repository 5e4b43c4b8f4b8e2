//go:build browser

package browsertest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func (p *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.Fatal(err)
	}
}

func (p *tab) resize(s size) {
	p.Helper()
	p.run(chromedp.EmulateViewport(s.width, s.height, chromedp.EmulateScale(1)))
}

// prefers sets what the system asks for: light or dark, and less motion.
func (p *tab) prefers(scheme string) {
	p.Helper()
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}}); err != nil {
		p.Fatal(err)
	}
}

// eval is the value of an expression, or of what it promises.
func eval[T any](p *tab, expression string) T {
	p.Helper()
	var value T
	text, err := chromedp.Run(p.ctx, chromedp.Evaluate[string]("(async () => JSON.stringify(await ("+expression+") ?? null))()", chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		p.Fatalf("%s is %s: %v", expression, text, err)
	}
	return value
}

// wait waits until an expression is true.
func (p *tab) wait(what, expression string) {
	p.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(30 * time.Millisecond) {
		if eval[bool](p, "!!("+expression+")") {
			return
		}
		if time.Now().After(end) {
			p.picture("failed")
			p.Fatalf("waited in vain for %s; the page says:\n%s", what, eval[string](p, "document.body.innerText"))
		}
	}
}

// text is that of the first element that matches.
func (p *tab) text(selector string) string {
	p.Helper()
	return eval[string](p, fmt.Sprintf("document.querySelector(%q)?.innerText ?? '(no '+%q+')'", selector, selector))
}

// click clicks in the middle of the first element that matches, as a mouse does.
func (p *tab) click(selector string) {
	p.Helper()
	p.run(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// press presses a key as a person does: the character comes only if the page
// lets it.
func (p *tab) press(key string) {
	p.Helper()
	for _, e := range kb.Encode([]rune(key)[0]) {
		if e.Type == input.DispatchKeyEventTypeChar {
			continue
		}
		if e.Type != input.DispatchKeyEventTypeKeyUp {
			e.Type, e.Text = input.DispatchKeyEventTypeKeyDown, keyText(key)
		}
		if _, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, *e); err != nil {
			p.Fatal(err)
		}
	}
}

// keyText is the character of a key that has one.
func keyText(key string) string {
	if key == kb.Enter || len(key) == 1 && key[0] >= ' ' && key[0] < 0x7f {
		return key
	}
	return ""
}

// ask types a question and sends it.
func (p *tab) ask(question string) {
	p.Helper()
	p.run(chromedp.Focus(chromedp.ID("question")))
	if _, err := chromedp.Call(p.ctx, input.InsertText, input.InsertTextParams{Text: question}); err != nil {
		p.Fatal(err)
	}
	p.press(kb.Enter)
}

// answered waits for the last answer to end.
func (p *tab) answered() {
	p.Helper()
	p.wait("the answer", `document.querySelector(".turn:last-child")?.dataset.state === "done"`)
}

// picture writes a screenshot.
func (p *tab) picture(name string) {
	p.Helper()
	// Everything has moved to where it belongs.
	eval[any](p, `Promise.all(document.getAnimations().filter((a) => a.effect.getTiming().iterations !== Infinity).map((a) => a.finished.catch(() => {})))`)
	png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.Fatal(err)
	}
	dir := os.Getenv("WAYMARK_TEST_SCREENSHOTS")
	if dir == "" {
		dir = p.ArtifactDir()
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o666); err != nil {
		p.Fatal(err)
	}
}
