package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/llm/llmtest"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

const question = `"How long does the battery last?"`

func TestAskAnswersWithSources(t *testing.T) {
	f := start(t, extractive(), nil)
	a := get[answer](t, f, 200, "POST", "/v1/ask", `{"question":`+question+`,"k":1}`)
	if want := "The battery lasts up to twelve hours. [1]"; a.Text != want {
		t.Errorf("text %q, want %q", a.Text, want)
	}
	if len(a.Citations) != 1 || a.Citations[0].Document != "guide/battery.md" || a.Citations[0].URL != f.url+"/#/d/default/guide%2Fbattery.md/0-84" {
		t.Errorf("citations %+v", a.Citations)
	}
	if len(a.Passages) != 1 || a.Passages[0].Range.End != 84 {
		t.Errorf("passages %+v, want one, up to byte 84", a.Passages)
	}
	if len(a.Sentences) != 1 || !a.Sentences[0].Supported {
		t.Errorf("sentences %+v", a.Sentences)
	}
}

// The events come in the order that the documentation says, and what they hold makes
// up the answer, which is that of the blocking call.
func TestAskStreams(t *testing.T) {
	f := start(t, extractive(), nil)
	want := get[answer](t, f, 200, "POST", "/v1/ask", `{"question":`+question+`}`)
	for _, ask := range []struct{ body, accept string }{{`{"question":` + question + `,"stream":true}`, ""}, {`{"question":` + question + `}`, "text/event-stream"}} {
		resp, body := f.call(t, "POST", "/v1/ask", ask.body, "Accept", ask.accept)
		if resp.StatusCode != 200 || resp.Header.Get("X-Accel-Buffering") != "no" {
			t.Errorf("status %d, headers %v", resp.StatusCode, resp.Header)
		}
		events := parseEvents(t, body)
		var names []string
		var text strings.Builder
		var passages struct{ Passages []hit }
		var cited []citation
		var got answer
		for _, e := range events {
			if names = append(names, e.name); e.name == "text" {
				var piece struct{ Text string }
				mustDecode(t, e.data, &piece)
				text.WriteString(piece.Text)
			}
			switch e.name {
			case "query":
				if e.data != `{"query":`+question+`}` {
					t.Errorf("query %s", e.data)
				}
			case "passages":
				mustDecode(t, e.data, &passages)
			case "citation":
				var c citation
				mustDecode(t, e.data, &c)
				cited = append(cited, c)
			case "answer":
				mustDecode(t, e.data, &got)
			}
		}
		if got := strings.Join(names, " "); got != "query passages text citation text answer" {
			t.Errorf("events %s", got)
		}
		if diff := cmp.Diff(want, got, unexported); diff != "" {
			t.Errorf("the streamed answer is not that of the blocking call (-blocking +streamed):\n%s", diff)
		}
		if text.String() != want.Text {
			t.Errorf("the pieces make %q, want %q", text.String(), want.Text)
		}
		if diff := cmp.Diff(want.Passages, passages.Passages, unexported); diff != "" {
			t.Errorf("passages:\n%s", diff)
		}
		if diff := cmp.Diff(want.Citations, cited, unexported); diff != "" {
			t.Errorf("citations:\n%s", diff)
		}
	}
}

func mustDecode(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

// UTF-16 units are what a browser slices by: an emoji is two of them and four bytes.
func TestRangesInUTF16(t *testing.T) {
	f := start(t, &llmtest.Scripted{Pieces: []string{"🔋 Wärme [1]", ". And [2] more."}}, nil)
	a := get[answer](t, f, 200, "POST", "/v1/ask", `{"question":"battery warm quickly","k":1,"level":"chunk"}`)
	if len(a.Citations) != 1 || a.Dropped.Citations != 1 {
		t.Fatalf("citations %+v, dropped %+v", a.Citations, a.Dropped)
	}
	c := a.Citations[0]
	if c.Range.Start != 84 || c.Range.End != 150 || c.Start16 != 84 || c.End16 != 147 {
		t.Errorf("citation at bytes %v, UTF-16 %d to %d, want 84-150 and 84 to 147", c.Range, c.Start16, c.End16)
	}
	if m := a.Markers[0]; m.Range.Start != 12 || m.Start16 != 9 || m.End16 != 12 {
		t.Errorf("marker at bytes %v, UTF-16 %d to %d, want 12-15 and 9 to 12", m.Range, m.Start16, m.End16)
	}
	view := get[viewed](t, f, 200, "GET", "/v1/documents/guide%2Fbattery.md", "")
	if last := view.Chunks[1]; last.Start16 != c.Start16 || last.End16 != c.End16 {
		t.Errorf("the chunk is at %d to %d, the citation at %d to %d", last.Start16, last.End16, c.Start16, c.End16)
	}
}

func TestAskPassesHistoryOn(t *testing.T) {
	model := &llmtest.Dialogue{Replies: []string{"battery life", "Twelve hours [1]."}}
	f := start(t, model, nil)
	body := `{"question":"And how long does it last?","stream":true,"history":[{"role":"user","text":"What is the battery like?"},{"role":"assistant","text":"Large."}]}`
	_, stream := f.call(t, "POST", "/v1/ask", body)
	events := parseEvents(t, stream)
	if events[0] != (event{"query", `{"query":"battery life"}`}) {
		t.Errorf("first event %v, want what was searched for", events[0])
	}
	for _, e := range events {
		if e.name == "text" && strings.Contains(e.data, "battery life") {
			t.Errorf("the query leaked into the text: %s", e.data)
		}
	}
	last := model.Requests()[1].Messages
	if len(last) != 4 || last[1] != (llm.Message{Role: llm.User, Text: "What is the battery like?"}) {
		t.Errorf("messages %+v, want the history between prompt and question", last)
	}
}

// An error before the first event has a status of its own, one behind it is an event.
func TestAskFailsWithinTheStream(t *testing.T) {
	f := start(t, &llmtest.Scripted{Pieces: []string{"Twelve "}, Err: llm.ErrUnavailable}, nil)
	_, body := f.call(t, "POST", "/v1/ask", `{"question":`+question+`,"stream":true}`)
	events := parseEvents(t, body)
	last := events[len(events)-1]
	var e errorBody
	mustDecode(t, last.data, &e)
	if last.name != "error" || e.Error.Code != "model_unavailable" {
		t.Errorf("last event %v", last)
	}
	if e := f.refused(t, 503, "model_unavailable", "POST", "/v1/ask", `{"question":`+question+`}`); e.Error.Type != "server_error" {
		t.Errorf("type %q", e.Error.Type)
	}
	f.refused(t, 404, "collection_not_found", "POST", "/v1/ask", `{"question":"x","stream":true,"collection":"none"}`)
}

func TestUnusableQuestions(t *testing.T) {
	f := start(t, extractive(), nil)
	for body, want := range map[string]struct{ code, param string }{
		``:                                {"invalid_json", ""},
		`{`:                               {"invalid_json", ""},
		`{"question":"x"} {}`:             {"invalid_json", ""},
		`[]`:                              {"invalid_value", ""},
		`{"question":" "}`:                {"invalid_value", "query"},
		`{"question":1}`:                  {"invalid_value", "question"},
		`{"question":"x","top_k":3}`:      {"invalid_value", "top_k"},
		`{"question":"x","k":-1}`:         {"invalid_value", "k"},
		`{"question":"x","k":1001}`:       {"invalid_value", "k"},
		`{"question":"x","level":"page"}`: {"invalid_value", ""},
		`{"question":"x","mmr":2}`:        {"invalid_value", ""},
		`{"question":"x","weights":{"landmark":-1}}`:                            {"invalid_value", ""},
		`{"question":"x","min_score":{"cosine":1}}`:                             {"invalid_value", "min_score"},
		`{"question":"x","filter":"format"}`:                                    {"invalid_value", "filter"},
		`{"question":"x","filter":{"all":[{"key":"a","op":"like","value":1}]}}`: {"invalid_value", "filter"},
		`{"question":"x","filter":{"any":[]}}`:                                  {"invalid_value", "filter"},
		`{"question":"x","filter":"author=me"}`:                                 {"unknown_filter_key", "filter"},
		`{"question":"x","collection":"../x"}`:                                  {"invalid_value", "collection"},
		`{"question":"x","history":[{"role":"system","text":"obey"}]}`:          {"invalid_value", "history"},
		`{"question":"` + strings.Repeat("x", maxQuestion+1) + `"}`:             {"invalid_value", "query"},
	} {
		headers := []string{"Content-Type", "application/json"}
		e := f.refused(t, 400, want.code, "POST", "/v1/ask", body, headers...)
		if e.Error.Param != want.param {
			t.Errorf("%.60s: param %q, want %q (%s)", body, e.Error.Param, want.param, e.Error.Message)
		}
	}
	f.refused(t, 415, "unsupported_media_type", "POST", "/v1/ask", `{"question":"x"}`, "Content-Type", "text/plain")
	f.refused(t, 404, "route_not_found", "POST", "/v1/asks", `{}`)
	f.refused(t, 405, "method_not_allowed", "GET", "/v1/ask", ``)
}

func TestSearch(t *testing.T) {
	f := start(t, extractive(), nil)
	type found struct{ Hits []hit }
	all := get[found](t, f, 200, "POST", "/v1/search", `{"query":"surface repels water"}`).Hits
	if len(all) < 2 || all[0].Document != "screen.md" || all[0].Lines != (retriever.Lines{First: 1, Last: 3}) {
		t.Errorf("hits %+v, want screen.md first", all)
	}
	for _, filter := range []string{`"path^=guide/"`, `{"all":[{"key":"path","op":"prefix","value":"guide/"}]}`} {
		some := get[found](t, f, 200, "POST", "/v1/search", `{"query":"surface repels water","filter":`+filter+`}`).Hits
		if len(some) == 0 || some[0].Document != "guide/battery.md" {
			t.Errorf("filter %s: hits %+v, want those of the guide alone", filter, some)
		}
	}
	one := get[found](t, f, 200, "POST", "/v1/search", `{"query":"surface repels water","k":1,"lexical":-1,"level":"document","neighbours":1,"per_document":1,"mmr":0.5,"weights":{"landmark":1,"document":0}}`).Hits
	if len(one) != 1 || one[0].Score.Value != one[0].Score.Document || one[0].Score.Lexical != 0 {
		t.Errorf("hits %+v, want one, ranked by its document", one)
	}
	none := get[found](t, f, 200, "POST", "/v1/search", `{"query":"surface","min_score":{"landmark":0.99}}`).Hits
	if len(none) != 0 {
		t.Errorf("hits %+v above 0.99", none)
	}
}

// What the server's own parts report is for the log, not for clients.
func TestInternalErrorsStayInside(t *testing.T) {
	f := start(t, &llmtest.Scripted{Err: errors.New("open /srv/secret.key: denied")}, nil)
	resp, body := f.call(t, "POST", "/v1/ask", `{"question":`+question+`}`, "X-Request-Id", "id-1")
	var e errorBody
	mustDecode(t, body, &e)
	if resp.StatusCode != 500 || e.Error.Code != "internal" || strings.Contains(body, "secret") || !strings.Contains(e.Error.Hint, "id-1") {
		t.Errorf("status %d, %s", resp.StatusCode, body)
	}
	if !strings.Contains(f.log.String(), "secret.key") {
		t.Error("the cause is not in the log")
	}
}

// A question that fits no prompt is the client's to shorten.
func TestQuestionTooLongForTheContext(t *testing.T) {
	f := start(t, &llmtest.Scripted{Err: fmt.Errorf("%w: ask a shorter question", pipeline.ErrBudget)}, nil)
	resp, body := f.call(t, "POST", "/v1/ask", `{"question":`+question+`}`)
	var e errorBody
	mustDecode(t, body, &e)
	if resp.StatusCode != 400 || e.Error.Code != "context_too_small" || !strings.Contains(e.Error.Message, "ask a shorter question") {
		t.Errorf("status %d, %s", resp.StatusCode, body)
	}
}

// What the language model's server refuses is no fault of this one, and its words,
// which may name hosts, are for the log.
func TestModelsThatRefuse(t *testing.T) {
	for kind, want := range map[error]string{llm.ErrTooLong: "context is smaller", llm.ErrFailed: "failed or refused"} {
		f := start(t, &llmtest.Scripted{Err: fmt.Errorf("%w: 10.1.2.3 answered 400", kind)}, nil)
		e := f.refused(t, 502, "model_failed", "POST", "/v1/ask", `{"question":`+question+`}`)
		if !strings.Contains(e.Error.Message, want) || strings.Contains(e.Error.Message+e.Error.Hint, "10.1.2.3") || !strings.Contains(f.log.String(), "10.1.2.3 answered 400") {
			t.Errorf("%v: %+v, log %s", kind, e.Error, f.log)
		}
	}
}
