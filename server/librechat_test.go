package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/retriever"
)

func withLibreChat(o *Options) {
	withKeys(o)
	o.LibreChatSecret = "jwt-secret"
}

// as is the header of a user's token.
func as(user string) []string {
	return []string{"Authorization", "Bearer " + token(`{"alg":"HS256"}`, fmt.Sprintf(`{"id":%q,"exp":%d}`, user, time.Now().Add(time.Minute).Unix()), "jwt-secret")}
}

func (f *fixture) attach(t *testing.T, user, id, name, text string, extra ...[2]string) ragReply {
	t.Helper()
	body, kind := form(t, append([][2]string{{"=file_id", id}, {name, text}}, extra...)...)
	return get[ragReply](t, f, 200, "POST", "/embed", body, append(as(user), "Content-Type", kind)...)
}

type ragPair [2]any

func pairs(t *testing.T, f *fixture, user, path, body string) []ragFound {
	t.Helper()
	var out []ragFound
	last := -1.0
	for _, p := range get[[]ragPair](t, f, 200, "POST", path, body, as(user)...) {
		doc := p[0].(map[string]any)
		out = append(out, ragFound{doc["page_content"].(string), doc["metadata"].(map[string]any), ""})
		distance := p[1].(float64)
		if distance < last || distance < 0 || distance > 2 {
			t.Errorf("distance %v behind %v: want them to rise", distance, last)
		}
		last = distance
	}
	return out
}

func TestLibreChat(t *testing.T) {
	f := start(t, extractive(), withLibreChat)
	if found := pairs(t, f, "u1", "/query", `{"query":"x","file_id":"f1"}`); len(found) != 0 {
		t.Errorf("found %+v before anything was attached", found)
	}
	r := f.attach(t, "u1", "f1", "manual.md", battery)
	if !r.Status || !r.KnownType || r.FileID != "f1" || r.Filename != "manual.md" {
		t.Errorf("reply %+v", r)
	}
	f.attach(t, "u1", "f2", "screen.txt", screen)
	f.attach(t, "u2", "f3", "other.md", "The battery of the other user is red.\n")
	f.attach(t, "u2", "f4", "agent.md", "The agent knows the battery is green.\n", [2]string{"=entity_id", "agent1"})
	if r := f.attach(t, "u1", "f5", "photo.png", "\x89PNG\r\n\x1a\n\x00"); r.Status || r.KnownType {
		t.Errorf("a picture: reply %+v", r)
	}

	found := pairs(t, f, "u1", "/query", `{"query":"battery warm","file_id":"f1","k":1}`)
	if len(found) != 1 || found[0].Metadata["file_id"] != "f1" || found[0].Metadata["source"] != "manual.md" || !strings.Contains(found[0].PageContent, "Wärme") {
		t.Errorf("found %+v", found)
	}
	if found := pairs(t, f, "u1", "/query_multiple", `{"query":"battery screen water","file_ids":["f1","f2","f3"],"k":10}`); len(found) < 2 || strings.Contains(fmt.Sprint(found), "other user") {
		t.Errorf("found %+v, want all of u1's", found)
	}
	if found := pairs(t, f, "u1", "/query", `{"query":"battery","file_id":"f3"}`); len(found) != 0 {
		t.Errorf("u1 found what is u2's: %+v", found)
	}
	if found := pairs(t, f, "u1", "/query", `{"query":"battery","file_id":"f4","entity_id":"agent1"}`); len(found) != 1 {
		t.Errorf("found %+v, want the agent's", found)
	}
	if ids := get[[]string](t, f, 200, "GET", "/ids", "", as("u1")...); strings.Join(ids, " ") != "f1 f2" {
		t.Errorf("ids %q", ids)
	}
	if docs := get[[]ragFound](t, f, 200, "GET", "/documents?ids=f1&ids=f2", "", as("u1")...); len(docs) < 3 || docs[0].Metadata["file_id"] != "f1" {
		t.Errorf("documents %+v", docs)
	}
	if ids := get[[]string](t, f, 200, "GET", "/ids", "", as("u2")...); strings.Join(ids, " ") != "f3 f4" {
		t.Errorf("ids %q, want the one that u2 uploaded for an agent too", ids)
	}
	get[map[string]string](t, f, 404, "DELETE", "/documents", `["f4"]`, as("u1")...)
	get[map[string]string](t, f, 200, "DELETE", "/documents", `["f4"]`, as("u2")...)
	get[map[string]string](t, f, 404, "GET", "/documents?ids=f3", "", as("u1")...)
	get[map[string]string](t, f, 404, "DELETE", "/documents", `["f1","f3"]`, as("u1")...)
	if text := get[string](t, f, 200, "GET", "/documents/f2/context", "", as("u1")...); !strings.Contains(text, "screen.txt") || !strings.Contains(text, "thirteen inches") {
		t.Errorf("context %q", text)
	}
	body, kind := form(t, [2]string{"=file_id", "f3"}, [2]string{"mine.md", "stolen"})
	get[map[string]string](t, f, 403, "POST", "/embed", body, append(as("u1"), "Content-Type", kind)...)
	get[map[string]string](t, f, 200, "DELETE", "/documents", `["f1"]`, as("u1")...)
	get[map[string]string](t, f, 404, "DELETE", "/documents", `["f1"]`, as("u1")...)

	body, kind = form(t, [2]string{"=file_id", "f9"}, [2]string{"a.html", "<p>Plain</p>"})
	text := get[struct {
		Text      string
		KnownType bool `json:"known_type"`
	}](t, f, 200, "POST", "/text", body, append(as("u1"), "Content-Type", kind)...)
	if strings.TrimSpace(text.Text) != "Plain" || !text.KnownType {
		t.Errorf("text %+v", text)
	}

	// A bad token is refused here; a key works, and LibreChat's tokens are good for
	// nothing else.
	get[map[string]string](t, f, 401, "GET", "/ids", "", "Authorization", "Bearer "+token(`{"alg":"HS256"}`, `{"id":"u1","exp":9999999999}`, "wrong"))
	get[[]string](t, f, 200, "GET", "/ids", "", "Authorization", "Bearer "+aliceReads)
	f.refused(t, 401, "invalid_key", "GET", "/v1/documents", "", as("u1")...)
}

func TestUnusableAttachments(t *testing.T) {
	f := start(t, extractive(), nil)
	for _, parts := range [][][2]string{{{"a.md", "x"}}, {{"=file_id", "f1"}}, {{"=file_id", "../f1"}, {"a.md", "x"}}, {{"=file_id", "f1"}, {"a.md", "x"}, {"=entity_id", "a\nb"}}} {
		body, kind := form(t, parts...)
		if e := get[map[string]string](t, f, 400, "POST", "/embed", body, "Content-Type", kind); e["detail"] == "" {
			t.Errorf("%v: %v", parts, e)
		}
	}
	for path, body := range map[string]string{"/query": `{"query":"x"}`, "/query_multiple": `{"file_ids":["x"]}`} {
		get[map[string]string](t, f, 400, "POST", path, body)
	}
	get[map[string]string](t, f, 400, "GET", "/documents", "")
}

// The metadata of passages found in other ways may lack what LibreChat's have.
func TestPassagesWithoutMetadata(t *testing.T) {
	found := newRAGFound("text", nil, retriever.Lines{First: 2, Last: 3}, chunker.Place{})
	paged := newRAGFound("text", nil, retriever.Lines{}, chunker.Place{Kind: chunker.PagePlace, First: "3", Last: "4"})
	if paged.Metadata["place"] != "pages 3-4" || found.Metadata["place"] != nil {
		t.Errorf("places %+v, %+v", paged.Metadata, found.Metadata)
	}
	if found.PageContent != "text" || fmt.Sprint(found.Metadata["lines"]) != "[2 3]" || found.Metadata["source"] != nil {
		t.Errorf("%+v", found)
	}
}
