//go:build browser

package browsertest

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestStop(t *testing.T) {
	f, base := newFake(t, map[string]string{"harbour.md": harbour})
	f.gate = make(chan struct{}) // never opened
	p := open(t, base, desk)
	for _, way := range []struct {
		name string
		stop func()
	}{
		{"button", func() { p.click("#stop") }},
		{"key", func() { p.press(kb.Escape) }},
	} {
		p.ask("How long do batteries last at Vårdsay?")
		p.wait("half of the answer", `document.querySelector(".turn:last-child .chip")`)
		way.stop()
		p.wait("the end", `document.querySelector(".turn:last-child").dataset.state === "stopped"`)
		if got := p.text(".turn:last-child .after"); !strings.Contains(got, "You stopped this answer.") {
			t.Errorf("%s: the answer ends with %q", way.name, got)
		}
		if !eval[bool](p, `document.getElementById("stop").hidden && !document.getElementById("send").hidden`) {
			t.Errorf("%s: nothing more can be asked", way.name)
		}
	}
	f.waitCancelled(t, 2)
}

func TestBrokenAnswer(t *testing.T) {
	f, base := newFake(t, map[string]string{"harbour.md": harbour})
	f.broken = &failure{Message: "the language model can't be reached", Hint: "start it, or leave llm out of the configuration"}
	p := open(t, base, desk)
	p.ask("How long do batteries last at Vårdsay?")
	p.wait("the error", `document.querySelector(".turn .notice")`)
	if got := p.text(".turn .notice"); !strings.Contains(got, "the language model can't be reached") || !strings.Contains(got, "start it, or leave llm out") {
		t.Errorf("the error reads %q", got)
	}
	if got := p.text(".answer"); !strings.Contains(got, "Harbour handbook") {
		t.Errorf("what had come is now %q", got)
	}
	f.set(func() { f.broken = nil })
	p.click(".turn .notice button")
	p.answered()
	if n := eval[int](p, `document.querySelectorAll(".turn").length`); n != 1 {
		t.Errorf("after trying again there are %d turns, want 1", n)
	}
}

func TestFollowUpSendsHistory(t *testing.T) {
	f, base := newFake(t, map[string]string{"harbour.md": harbour})
	p := open(t, base, desk)
	p.ask("How long do batteries last?")
	p.answered()
	f.set(func() { f.answer = func(a *answer) { a.Query = "where are ropes kept" } })
	p.ask("And where are ropes?")
	p.answered()
	if got := p.text(".turn:last-child .foot"); !strings.Contains(got, "Searched for “where are ropes kept”") {
		t.Errorf("below the answer stands %q", got)
	}
	f.set(func() {
		got := f.asked[1].History
		if len(got) != 2 || got[0].Role != "user" || got[0].Text != "How long do batteries last?" ||
			got[1].Role != "assistant" || !strings.Contains(got[1].Text, "seventeen hours 🔋") {
			t.Errorf("history %+v", got)
		}
		if len(f.asked[0].History) != 0 {
			t.Errorf("the first question had a history: %+v", f.asked[0].History)
		}
	})

	// The conversation is there after a reload, and its citations still open.
	p.run(chromedp.Reload())
	p.wait("the history", `document.querySelector("#conversations .entry")`)
	p.click("#conversations .entry")
	if n := eval[int](p, `document.querySelectorAll(".turn").length`); n != 2 {
		t.Errorf("%d turns after a reload, want 2", n)
	}
	p.click(".turn .chip")
	p.wait("the passage", `document.querySelector("mark.passage")?.textContent.startsWith("Batteries")`)

	p.click("#clear-history")
	p.click("#confirm-yes")
	p.wait("an empty history", `document.querySelector("#conversations .none") && document.querySelector(".empty")`)
	if kept := eval[*string](p, `localStorage.getItem("waymark.conversations")`); kept != nil {
		t.Errorf("still kept: %q", *kept)
	}
}

// Clearing the history stops the answer under way and does not keep it.
func TestClearWhileAnswering(t *testing.T) {
	f, base := newFake(t, map[string]string{"harbour.md": harbour})
	p := open(t, base, desk)
	p.ask("Do batteries last?")
	p.answered()
	f.set(func() { f.gate = make(chan struct{}) })
	p.ask("Where are ropes?")
	p.wait("half of the answer", `document.querySelector(".turn:last-child .answer").innerText !== ""`)
	p.click("#clear-history")
	p.click("#confirm-yes")
	p.wait("a new conversation", `document.querySelector(".empty") && document.getElementById("stop").hidden`)
	f.waitCancelled(t, 1)
	eval[any](p, `new Promise((resolve) => setTimeout(resolve, 100))`)
	if kept := eval[*string](p, `localStorage.getItem("waymark.conversations")`); kept != nil {
		t.Errorf("still kept: %q", *kept)
	}
}

func TestDoubtfulAndUnanswered(t *testing.T) {
	f, base := newFake(t, map[string]string{"harbour.md": harbour})
	f.answer = func(a *answer) {
		if len(a.Sentences) > 0 {
			a.Sentences[1].Supported, a.Sentences[1].Reasons = false, []string{`the passage does not hold "eighteen"`}
		}
	}
	p := open(t, base, desk)
	p.ask("Which lamp burns at Vårdsay, and do batteries last?")
	p.answered()
	if got := eval[[]string](p, `[...document.querySelectorAll(".doubtful")].map((c) => c.innerText)`); !slices.Equal(got, []string{"2"}) {
		t.Errorf("doubtful citations %q, want 2", got)
	}
	if got, want := p.text(".answer .doubt"), "Batteries last seventeen hours 🔋 when the lantern is dimmed. 2"; got != want {
		t.Errorf("underlined %q, want %q", got, want)
	}
	if got := p.text(".doubts"); !strings.Contains(got, `the passage does not hold "eighteen"`) {
		t.Errorf("the reason reads %q", got)
	}
	p.picture("doubtful")
	p.ask("Who won?")
	p.answered()
	if got := p.text(".turn:last-child"); !strings.Contains(got, "The documents do not answer this.") || !strings.Contains(got, "Try other words") {
		t.Errorf("without an answer the page says %q", got)
	}
}

// Markdown is drawn, and the pieces that are done keep the focus while the rest
// streams in.
func TestMarkup(t *testing.T) {
	f, base := newFake(t, map[string]string{"harbour.md": harbour})
	gate := make(chan struct{})
	f.gate = gate
	f.answer = func(a *answer) {
		a.Text = "First **bold [1]** and *it*, 2 * 3 * 4, `a[1] = **x**`.\n\n1. one\n2. two [2]\n   more\n\n- a\n  - b\n\n## Head\n\n> said\n\n```go\nx[1] **y**\n```\n\n[1](link) [9] <b>no</b> snake_case_name"
		a.Sentences = nil
	}
	p := open(t, base, desk)
	p.ask("How long do batteries last at Vårdsay?")
	p.wait("a chip", `document.querySelector(".answer .chip")`)
	p.run(chromedp.Focus(chromedp.CSS(".answer .chip")))
	close(gate)
	p.answered()
	if got := eval[string](p, `document.activeElement.className`); got != "chip" {
		t.Errorf("the focus is on %q, want the chip where it was", got)
	}
	want := `<p>First <strong>bold 1</strong> and <em>it</em>, 2 * 3 * 4, <code>a[1] = **x**</code>.</p>` +
		`<ol><li>one</li><li>two 2
   more</li></ol><ul><li>a</li><li>b</li></ul><h3>Head</h3><blockquote><p>said</p></blockquote>` +
		`<pre><code>x[1] **y**</code></pre><p>[1](link) [9] &lt;b&gt;no&lt;/b&gt; snake_case_name</p>`
	got := eval[string](p, `(() => {
		const copy = document.querySelector(".answer").cloneNode(true);
		for (const e of copy.querySelectorAll(".chip, .held")) e.replaceWith(...e.childNodes);
		for (const e of copy.querySelectorAll("*")) for (const a of [...e.attributes]) e.removeAttribute(a.name);
		copy.normalize();
		return copy.innerHTML;
	})()`)
	if got != want {
		t.Errorf("drawn as\n%s\nwant\n%s", got, want)
	}
}
