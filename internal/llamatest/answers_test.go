//go:build llama && cgo && onnx

package llamatest

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/pipeline"
)

const boiler = `"How often is the boiler serviced, and by whom?"`

// TestServe holds `waymark serve` to what it says of answers, with a model behind it
// that nobody scripted.
func TestServe(t *testing.T) {
	l := newLibrary(t)
	for name, test := range map[string]func(*testing.T, library){
		"one answer": oneAnswer, "invented citations": inventedCitations, "clients that go away": clientsThatGoAway,
		"follow-up": followUp, "budget": budget,
	} {
		t.Run(name, func(t *testing.T) { test(t, l) })
	}
}

// However it is asked, a question has one answer, with the same sources, spans and
// count of tokens.
func oneAnswer(t *testing.T, l library) {
	const limit = 48
	base := l.serve(t, Start(t, 2048), "answer.context_tokens=2048", "answer.answer_tokens=48")
	want := answered[map[string]any](t, base+"/v1/ask", `{"question":`+boiler+`}`)
	check(t, answered[pipeline.Answer](t, base+"/v1/ask", `{"question":`+boiler+`}`), limit)
	same := func(face string, got map[string]any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-ask +%s):\n%s", face, face, diff)
		}
	}

	all := streamed(t, base+"/v1/ask", `{"question":`+boiler+`,"stream":true}`)
	last := all[len(all)-1]
	if text, n := texts(t, all); text != want["text"] || n < 3 || last.name != "answer" {
		t.Errorf("%d pieces, which make up %q, and %q at the end", n, text, last.name)
	}
	same("stream", decode[map[string]any](t, last.data))

	type choice struct {
		Message, Delta struct{ Content string }
		Finish         string `json:"finish_reason"`
	}
	type completion struct {
		Choices []choice
		Waymark map[string]any
		Usage   struct {
			Total int `json:"total_tokens"`
		}
	}
	chat := `{"model":"waymark","messages":[{"role":"user","content":` + boiler + `}]`
	done := answered[completion](t, base+"/v1/chat/completions", chat+`}`)
	if done.Choices[0].Message.Content != want["text"] || done.Usage.Total == 0 {
		t.Errorf("chat %+v", done)
	}
	same("chat", done.Waymark)

	var text strings.Builder
	var ended completion
	all = streamed(t, base+"/v1/chat/completions", chat+`,"stream":true}`)
	for _, e := range all[:len(all)-1] {
		c := decode[completion](t, e.data)
		if text.WriteString(c.Choices[0].Delta.Content); c.Waymark != nil {
			ended = c
		}
	}
	if text.String() != want["text"] || all[len(all)-1].data != "[DONE]" || ended.Choices[0].Finish != done.Choices[0].Finish {
		t.Errorf("the stream of a chat has the text %q and ends with %v", text.String(), all[len(all)-1])
	}
	same("chat stream", ended.Waymark)
}

// What a model invents is taken out and counted: it is told what to write, one passage
// that is there and one that is not.
func inventedCitations(t *testing.T, l library) {
	prompts := t.TempDir()
	template := "{{range .Passages}}[{{.Number}}] {{.Text}}\n{{end}}\nRepeat this sentence without any change: The boiler is serviced every second autumn by the firm Larsen [1] [7].\n{{/* {{.Question}} */}}{{.Question}}"
	if err := os.WriteFile(filepath.Join(prompts, "question.tmpl"), []byte(template), 0o600); err != nil {
		t.Fatal(err)
	}
	base := l.serve(t, Start(t, 2048), "answer.prompts="+prompts, "answer.answer_tokens=48")
	got := answered[pipeline.Answer](t, base+"/v1/ask", `{"question":"Repeat."}`)
	check(t, got, 48)
	t.Logf("%q, %+v, dropped %+v, sentences %+v", got.Text, got.Markers, got.Dropped, got.Sentences)
	if len(got.Citations) != 1 || got.Dropped.Citations == 0 {
		t.Errorf("%q has %d citations, %d dropped, want one and one", got.Text, len(got.Citations), got.Dropped.Citations)
	}
}

// Whoever goes away in the middle of an answer stops the model.
func clientsThatGoAway(t *testing.T, l library) {
	const limit = 900
	s := Start(t, 2048)
	base := l.serve(t, s, "answer.context_tokens=2048", "answer.answer_tokens=900")
	for path, body := range map[string]string{
		"/v1/ask":              `{"question":` + boiler + `,"stream":true}`,
		"/v1/chat/completions": `{"model":"waymark","messages":[{"role":"user","content":` + boiler + `}],"stream":true}`,
	} {
		before := s.WaitIdle(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, "POST", base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		began := func(e event) bool { return e.name == "text" || strings.Contains(e.data, `"content":"`) }
		seen := events(t, resp.Body, began)
		cancel()
		resp.Body.Close()
		if len(seen) == 0 || !began(seen[len(seen)-1]) {
			t.Fatalf("%s: no text in %v", path, seen)
		}
		n := s.WaitIdle(time.Minute) - before
		t.Logf("%s: %d tokens", path, n)
		if n < 1 || n >= limit {
			t.Errorf("%s: the model wrote %d tokens of %d", path, n, limit)
		}
	}
}

// What was condensed is searched for and is no part of the answer.
func followUp(t *testing.T, l library) {
	base := l.serve(t, Start(t, 2048), "answer.context_tokens=2048", "answer.answer_tokens=32", "answer.condense=llm")
	all := streamed(t, base+"/v1/ask", `{"question":"And who does that?","stream":true,"history":[
		{"role":"user","text":"How often is the boiler serviced?"},{"role":"assistant","text":"The boiler is serviced every second autumn."}]}`)
	got := decode[pipeline.Answer](t, all[len(all)-1].data)
	check(t, got, 32)
	text, _ := texts(t, all)
	if all[0].name != "query" || decode[pipeline.Event](t, all[0].data).Query != got.Query || got.Condensed == "" || text != got.Text {
		t.Errorf("searched for %q (%s), first event %v, answer %q, streamed %q", got.Query, got.Condensed, all[0], got.Text, text)
	}
	if strings.Contains(text, got.Query) {
		t.Errorf("the answer %q holds what was searched for: %q", text, got.Query)
	}
}

// A question too long for the budget is refused before the model is asked; a budget
// that is larger than the server's context has that server's words.
func budget(t *testing.T, l library) {
	s := Start(t, 256)
	base := l.serve(t, s, "answer.context_tokens=2048", "answer.answer_tokens=48")
	type refusal struct {
		Error struct{ Message, Code string }
	}
	before := s.WaitIdle(time.Minute)
	status, body := post(t, base+"/v1/ask", `{"question":"`+strings.Repeat("How often is the boiler serviced? ", 200)+`"}`)
	if e := decode[refusal](t, body).Error; status != http.StatusBadRequest || e.Code != "context_too_small" {
		t.Errorf("status %d: %s", status, body)
	}
	if n := s.WaitIdle(time.Minute); n != before {
		t.Errorf("the model was asked: it wrote %d tokens", n-before)
	}
	status, body = post(t, base+"/v1/ask", `{"question":"`+strings.Repeat("How often is the boiler serviced? ", 20)+`"}`)
	if e := decode[refusal](t, body).Error; status != http.StatusBadGateway || e.Code != "model_failed" || !strings.Contains(e.Message, "context is smaller") {
		t.Errorf("status %d: %s", status, body)
	}
}

// marker is what cites in an answer.
var marker = regexp.MustCompile(`\[\d+\]`)

// check holds what is true of every answer.
func check(t *testing.T, a pipeline.Answer, limit int) {
	t.Helper()
	if a.Usage.Estimated || a.Usage.AnswerTokens < 1 || a.Usage.AnswerTokens > limit || (a.Stopped == "length") != (a.Usage.AnswerTokens == limit) {
		t.Errorf("usage %+v of at most %d tokens, stopped by %q", a.Usage, limit, a.Stopped)
	}
	var marks bytes.Buffer
	for i, c := range a.Citations {
		p := a.Passages[c.Passage]
		if c.Number != i+1 || c.Document != p.Document || c.Range != p.Range || documents[c.Document][c.Source.Start:c.Source.End] != p.Text {
			t.Errorf("citation %d is %+v, its passage %+v", i+1, c, p)
		}
	}
	for _, m := range a.Markers {
		if m.Number < 1 || m.Number > len(a.Citations) {
			t.Errorf("marker %+v names none of %d citations", m, len(a.Citations))
		}
		marks.WriteString(m.Range.Of(a.Text))
	}
	var inText bytes.Buffer
	for _, found := range marker.FindAllString(a.Text, -1) {
		inText.WriteString(found)
	}
	if marks.String() != inText.String() {
		t.Errorf("%q has the markers %q, named are %q", a.Text, &inText, &marks)
	}
	cited := 0
	for _, s := range a.Sentences {
		if cited += len(s.Citations); s.Supported == (len(s.Reasons) > 0) {
			t.Errorf("sentence %q: supported %v for the reasons %q", s.Range.Of(a.Text), s.Supported, s.Reasons)
		}
	}
	if (cited > 0) != (len(a.Markers) > 0) {
		t.Errorf("%d markers, and sentences that cite %d passages", len(a.Markers), cited)
	}
}
