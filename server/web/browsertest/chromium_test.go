//go:build browser

package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
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
