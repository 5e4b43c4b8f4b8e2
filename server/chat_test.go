package server

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/llm/llmtest"
)

const chatBody = `{"model":"waymark","messages":[{"role":"user","content":` + question + `}]`

// streamedChat is what a client puts together of the chunks.
type streamedChat struct {
	text        string
	annotations []annotation
	last        chatCompletion // with the citations
	usage       *chatUsage
	finish      string
}

func streamChat(t *testing.T, f *fixture, body string) streamedChat {
	t.Helper()
	resp, stream := f.call(t, "POST", "/v1/chat/completions", body)
	if resp.StatusCode != 200 {
		t.Fatalf("status %d: %s", resp.StatusCode, stream)
	}
	events := parseEvents(t, stream)
	if events[len(events)-1].data != "[DONE]" {
		t.Errorf("the last event is %v, want [DONE]", events[len(events)-1])
	}
	var out streamedChat
	for i, e := range events[:len(events)-1] {
		var c chatCompletion
		mustDecode(t, e.data, &c)
		if c.Object != "chat.completion.chunk" || e.name != "" {
			t.Errorf("chunk %v", e)
		}
		if c.Waymark != nil {
			out.last = c
		}
		if len(c.Choices) == 0 {
			out.usage = c.Usage
			continue
		}
		d := c.Choices[0].Delta
		if (i == 0) != (d.Role == "assistant") {
			t.Errorf("chunk %d has the role %q", i, d.Role)
		}
		if d.Content != nil {
			out.text += *d.Content
		}
		out.annotations = append(out.annotations, d.Annotations...)
		if c.Choices[0].FinishReason != nil {
			out.finish = *c.Choices[0].FinishReason
		}
	}
	return out
}

// source is what a citation or a result of a search stands for.
type source struct {
	Document string
	Range    chunker.Range
	URL      string
}

func sources(a answer) []source {
	var out []source
	for _, c := range a.Citations {
		out = append(out, source{c.Document, c.Range, c.URL})
	}
	return out
}

func passageSources(a answer) []source {
	var out []source
	for _, h := range a.Passages {
		out = append(out, source{h.Document, h.Range, h.URL})
	}
	return out
}

// The same question by every way gets the same text from the same sources.
func TestSameSourcesEverywhere(t *testing.T) {
	f := start(t, extractive(), nil)
	asked := get[answer](t, f, 200, "POST", "/v1/ask", `{"question":`+question+`}`)
	_, stream := f.call(t, "POST", "/v1/ask", `{"question":`+question+`,"stream":true}`)
	events := parseEvents(t, stream)
	var streamed answer
	mustDecode(t, events[len(events)-1].data, &streamed)
	blocking := get[chatCompletion](t, f, 200, "POST", "/v1/chat/completions", chatBody+`}`)
	chunks := streamChat(t, f, chatBody+`,"stream":true}`)

	if len(asked.Citations) == 0 {
		t.Fatal("no citations")
	}
	for way, got := range map[string]answer{"SSE": streamed, "chat": blocking.Waymark.answer, "streamed chat": chunks.last.Waymark.answer} {
		if diff := cmp.Diff(asked, got, unexported); diff != "" {
			t.Errorf("%s (-ask +%s):\n%s", way, way, diff)
		}
	}
	if *blocking.Choices[0].Message.Content != asked.Text || chunks.text != asked.Text {
		t.Errorf("chat says %q, streamed %q, ask %q", *blocking.Choices[0].Message.Content, chunks.text, asked.Text)
	}
	if diff := cmp.Diff(blocking.Choices[0].Message.Annotations, chunks.annotations, unexported); diff != "" {
		t.Errorf("annotations (-blocking +streamed):\n%s", diff)
	}
	for i, s := range sources(asked) {
		if blocking.Citations[i] != s.URL || chunks.last.Citations[i] != s.URL {
			t.Errorf("citation %d is %q and %q, want %q", i+1, blocking.Citations[i], chunks.last.Citations[i], s.URL)
		}
	}

	session := connectMCP(t, f, "")
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": "How long does the battery last?"}})
	if err != nil {
		t.Fatal(err)
	}
	var results mcpResults
	decodeStructured(t, res, &results)
	var found []source
	for _, r := range results.Results {
		_, document, _, err := parseMCPID(r.ID)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, source{document, r.Chunk, r.URL})
	}
	for _, s := range sources(asked) {
		if !slices.Contains(passageSources(asked), s) {
			t.Errorf("the source %+v is not among the passages", s)
		}
	}
	if diff := cmp.Diff(passageSources(asked), found, unexported); diff != "" {
		t.Errorf("passages (-ask +MCP):\n%s", diff)
	}
}

func TestChatAnnotationsCountCharacters(t *testing.T) {
	f := start(t, &llmtest.Scripted{Pieces: []string{"Wärme 🔋 [1]. Mehr"}}, nil)
	c := get[chatCompletion](t, f, 200, "POST", "/v1/chat/completions", chatBody+`}`)
	got := c.Choices[0].Message.Annotations
	want := []annotation{{"url_citation", urlCitation{f.url + "/#/d/default/guide%2Fbattery.md/0-150", "Battery", 8, 11}}}
	if diff := cmp.Diff(want, got, unexported); diff != "" {
		t.Error(diff)
	}
}

func TestChatReadsConversations(t *testing.T) {
	f := start(t, extractive(), nil)
	c := get[chatCompletion](t, f, 200, "POST", "/v1/chat/completions", `{"model":"waymark","temperature":0.3,"max_tokens":null,"tools":[],"messages":[
		{"role":"system","content":"You are a pirate."},
		{"role":"user","content":"What is the screen like?"},
		{"role":"assistant","content":null,"tool_calls":[]},
		{"role":"user","content":[{"type":"text","text":"How long does"},{"type":"text","text":"the battery last?"}]}]}`)
	if text := *c.Choices[0].Message.Content; !strings.HasPrefix(text, "The battery lasts up to twelve hours. [1]") {
		t.Errorf("text %q", text)
	}
	if want := []string{"system messages", "temperature", "tools"}; !slices.Equal(c.Waymark.Ignored, want) {
		t.Errorf("ignored %q, want %q", c.Waymark.Ignored, want)
	}
	if c.Usage.Prompt == 0 || c.Usage.Total != c.Usage.Prompt+c.Usage.Completion || *c.Choices[0].FinishReason != "stop" || c.Model != "waymark" {
		t.Errorf("usage %+v, choice %+v", c.Usage, c.Choices[0])
	}
}

// What a request says of how its answer is written reaches the model, and that request
// alone.
func TestChatTellsTheModelHowToWrite(t *testing.T) {
	model := &llmtest.Scripted{Pieces: []string{"Twelve hours [1]."}}
	f := start(t, model, nil)
	c := get[chatCompletion](t, f, 200, "POST", "/v1/chat/completions", chatBody+`,"max_tokens":900,"max_completion_tokens":20,"temperature":1.5,"top_p":0.5,"seed":7,"stop":["END","\n"],"tools":[]}`)
	if want := []string{"tools"}; !slices.Equal(c.Waymark.Ignored, want) {
		t.Errorf("ignored %q, want %q", c.Waymark.Ignored, want)
	}
	streamChat(t, f, chatBody+`,"stream":true,"stop":"END","max_tokens":100000,"temperature":0}`)
	get[chatCompletion](t, f, 200, "POST", "/v1/chat/completions", chatBody+`,"max_tokens":null,"max_completion_tokens":null,"temperature":null,"top_p":null,"seed":null,"stop":null}`)
	temperature, zero, topP, seed := 1.5, 0.0, 0.5, 7
	want := []llm.Request{
		{MaxTokens: 20, Temperature: &temperature, TopP: &topP, Seed: &seed, Stop: []string{"END", "\n"}},
		{MaxTokens: 512, Temperature: &zero, Stop: []string{"END"}},
		{MaxTokens: 512},
	}
	for i, got := range model.Requests() {
		got.Messages, got.Question, got.Sources = nil, "", nil
		if diff := cmp.Diff(want[i], got); diff != "" {
			t.Errorf("request %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestChatWithoutAWord(t *testing.T) {
	f := start(t, &llmtest.Scripted{Pieces: []string{" "}, Stopped: "length"}, nil)
	if e := f.refused(t, 502, "model_failed", "POST", "/v1/chat/completions", chatBody+`,"max_tokens":1}`); e.Error.Hint == "" {
		t.Errorf("%+v", e)
	}
}

func TestChatStreamsUsageOnRequest(t *testing.T) {
	f := start(t, extractive(), nil)
	if u := streamChat(t, f, chatBody+`,"stream":true}`).usage; u != nil {
		t.Errorf("usage %+v without being asked", u)
	}
	c := streamChat(t, f, chatBody+`,"stream":true,"stream_options":{"include_usage":true}}`)
	if c.usage == nil || c.usage.Total == 0 || c.finish != "stop" {
		t.Errorf("usage %+v, finish %q", c.usage, c.finish)
	}
}

func TestChatPrintsSourcesOnRequest(t *testing.T) {
	f := start(t, extractive(), nil)
	want := "The battery lasts up to twelve hours. [1]\n\n---\n\n[1] [Battery](<" + f.url + "/#/d/default/guide%2Fbattery.md/0-150>), lines 1-7  "
	c := get[chatCompletion](t, f, 200, "POST", "/v1/chat/completions", chatBody+`,"waymark":{"print_sources":true}}`)
	if got := *c.Choices[0].Message.Content; got != want {
		t.Errorf("blocking: %q, want %q", got, want)
	}
	body := strings.Replace(chatBody, `"waymark"`, `"waymark+sources"`, 1) + `,"stream":true}`
	if got := streamChat(t, f, body).text; got != want {
		t.Errorf("streamed: %q, want %q", got, want)
	}
}

func TestChatModelChoosesTheCollection(t *testing.T) {
	f := start(t, extractive(), nil)
	f.library.add(t, "", "notes", "note.md", "The battery of the old model lasts four hours.\n")
	c := get[chatCompletion](t, f, 200, "POST", "/v1/chat/completions", strings.Replace(chatBody, `"waymark"`, `"waymark/notes"`, 1)+`}`)
	if got := *c.Choices[0].Message.Content; got != "The battery of the old model lasts four hours. [1]" {
		t.Errorf("text %q", got)
	}
	if want := f.url + "/#/d/notes/note.md/0-47"; c.Citations[0] != want {
		t.Errorf("citation %q, want %q", c.Citations[0], want)
	}
	list := get[struct{ Data []model }](t, f, 200, "GET", "/v1/models", "")
	var ids []string
	for _, m := range list.Data {
		ids = append(ids, m.ID)
	}
	if want := []string{"waymark", "waymark/notes", "fake-model"}; !slices.Equal(ids, want) {
		t.Errorf("models %q, want %q", ids, want)
	}
	for _, path := range []string{"/v1/models/waymark/notes", "/v1/models/waymark%2Fnotes"} {
		if m := get[model](t, f, 200, "GET", path, ""); m.ID != "waymark/notes" {
			t.Errorf("%s: %+v", path, m)
		}
	}
	f.refused(t, 404, "model_not_found", "GET", "/v1/models/gpt", "")
}

func TestUnusableChats(t *testing.T) {
	f := start(t, extractive(), nil)
	message := `"messages":[{"role":"user","content":"x"}]`
	for body, want := range map[string]struct {
		status int
		code   string
		param  string
	}{
		`{"model":"gpt-4",` + message + `}`:                                                 {404, "model_not_found", "model"},
		`{"model":"waymark/../x",` + message + `}`:                                          {404, "model_not_found", "model"},
		`{"model":"waymark/none",` + message + `}`:                                          {404, "collection_not_found", "collection"},
		`{"model":"waymark"}`:                                                               {400, "invalid_value", "messages"},
		`{"model":"waymark","messages":[{"role":"assistant","content":"x"}]}`:               {400, "invalid_value", "messages"},
		`{"model":"waymark","messages":[{"role":"wizard","content":"x"}]}`:                  {400, "invalid_value", "messages"},
		`{"model":"waymark","messages":[{"role":"user","content":[{"type":"image_url"}]}]}`: {400, "invalid_value", "messages"},
		`{"model":"waymark",` + message + `,"n":2}`:                                         {400, "invalid_value", "n"},
		`{"model":"waymark",` + message + `,"max_tokens":0}`:                                {400, "invalid_value", "max_tokens"},
		`{"model":"waymark",` + message + `,"max_completion_tokens":-1}`:                    {400, "invalid_value", "max_completion_tokens"},
		`{"model":"waymark",` + message + `,"max_tokens":1.5}`:                              {400, "invalid_value", "max_tokens"},
		`{"model":"waymark",` + message + `,"temperature":2.1}`:                             {400, "invalid_value", "temperature"},
		`{"model":"waymark",` + message + `,"temperature":"hot"}`:                           {400, "invalid_value", "temperature"},
		`{"model":"waymark",` + message + `,"top_p":0}`:                                     {400, "invalid_value", "top_p"},
		`{"model":"waymark",` + message + `,"top_p":1.01}`:                                  {400, "invalid_value", "top_p"},
		`{"model":"waymark",` + message + `,"seed":1e30}`:                                   {400, "invalid_value", "seed"},
		`{"model":"waymark",` + message + `,"stop":""}`:                                     {400, "invalid_value", "stop"},
		`{"model":"waymark",` + message + `,"stop":7}`:                                      {400, "invalid_value", "stop"},
		`{"model":"waymark",` + message + `,"stop":["a",null]}`:                             {400, "invalid_value", "stop"},
		`{"model":"waymark",` + message + `,"stop":["a","b","c","d","e"]}`:                  {400, "invalid_value", "stop"},
		`{"model":"waymark",` + message + `,"response_format":{"type":"json_object"}}`:      {400, "invalid_value", "response_format"},
		`{"model":"waymark",` + message + `,"waymark":{"topk":3}}`:                          {400, "invalid_value", "topk"},
		`{"model":"waymark",` + message + `,"waymark":{"collection":"notes"}}`:              {400, "invalid_value", "waymark.collection"},
		`{"model":"waymark",` + message + `,"waymark":{"k":"three"}}`:                       {400, "invalid_value", "k"},
	} {
		e := f.refused(t, want.status, want.code, "POST", "/v1/chat/completions", body)
		if e.Error.Param != want.param {
			t.Errorf("%s: param %q, want %q", body, e.Error.Param, want.param)
		}
	}
}

// connectMCP connects the SDK's client over HTTP.
func connectMCP(t *testing.T, f *fixture, key string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(context.Background(), &mcp.StreamableClientTransport{Endpoint: f.url + "/mcp", HTTPClient: keyed(key), DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func decodeStructured(t *testing.T, res *mcp.CallToolResult, v any) {
	t.Helper()
	if res.IsError {
		t.Fatalf("the tool failed: %+v", res.Content[0])
	}
	data, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	mustDecode(t, string(data), v)
}
