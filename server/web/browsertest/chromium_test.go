package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// browser is the Chromium that all tests of the binary share.
var browser struct {
	once sync.Once
	ctx  context.Context
	stop func()
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if browser.stop != nil {
		browser.stop()
	}
	os.Exit(code)
}

func startBrowser() {
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		browser.err = fmt.Errorf("no Chromium on the PATH: install it (Debian: apt install chromium), or run make browser")
		return
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program),
		chromedp.NoSandbox, // of no use for pages of our own, and refused to root
		chromedp.WSURLReadTimeout(time.Minute),
	)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(allocator)
	browser.ctx, browser.stop = ctx, func() { cancel(); stop() }
	browser.err = chromedp.Do(ctx)
}

// size is that of a window.
type size struct{ width, height int64 }

var (
	desk  = size{1440, 900}
	phone = size{390, 844}
)

// tab is a page open in a window of its own, with nothing stored.
type tab struct {
	*testing.T
	ctx  context.Context
	base string

	mu      sync.Mutex
	trouble []string // exceptions, broken policies, requests to other hosts
	allowed []string
}

// open loads the page of a server.
func open(t *testing.T, base string, s size) *tab {
	t.Helper()
	p := load(t, base)
	p.resize(s)
	p.wait("the collections", `document.querySelectorAll("#collection option").length > 0`)
	return p
}

// load loads the page of a server, which may ask for a key; allowed is what else
// than nothing the browser may log.
func load(t *testing.T, base string, allowed ...string) *tab {
	t.Helper()
	browser.once.Do(startBrowser)
	if browser.err != nil {
		t.Fatal(browser.err)
	}
	p := &tab{T: t, base: base, allowed: allowed}
	ctx, cancel := chromedp.NewContext(browser.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(p.listen))
	ctx, stop := context.WithTimeout(ctx, 2*time.Minute)
	p.ctx = ctx
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, what := range p.trouble {
			t.Errorf("the page: %s", what)
		}
		stop()
		cancel()
	})
	p.run(chromedp.Navigate(base + "/"))
	return p
}

func (p *tab) listen(event any) {
	var what string
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		what = "exception: " + e.ExceptionDetails.Text + " " + e.ExceptionDetails.Exception.Description
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Source == log.EntrySourceSecurity {
			what = fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, p.base+"/") && !strings.HasPrefix(e.Request.URL, "data:") && !strings.HasPrefix(e.Request.URL, "about:") {
			what = "asks another host: " + e.Request.URL
		}
	}
	if what == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, ok := range p.allowed {
		if strings.Contains(what, ok) {
			return
		}
	}
	p.trouble = append(p.trouble, what)
}

// allow takes messages that hold the text for no trouble: a browser logs every
// response that is an error.
func (p *tab) allow(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allowed = append(p.allowed, text)
}

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
