package server

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/pipeline"
)

// form is a multipart body of files, by names as they are sent.
func form(t *testing.T, parts ...[2]string) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		h := textproto.MIMEHeader{}
		if field, ok := strings.CutPrefix(p[0], "="); ok {
			h.Set("Content-Disposition", fmt.Sprintf("form-data; name=%q", field))
		} else {
			h.Set("Content-Disposition", `form-data; name="file"; filename="`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p[0])+`"`)
		}
		part, err := w.CreatePart(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte(p[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

// upload sends files and waits for the job to end.
func (f *fixture) upload(t *testing.T, path, body, contentType string, headers ...string) jobStatus {
	t.Helper()
	headers = append([]string{"Content-Type", contentType}, headers...)
	id := get[map[string]string](t, f, 202, "POST", path, body, headers...)["job"]
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		j := get[jobStatus](t, f, 200, "GET", "/v1/jobs/"+id, "", headers[2:]...)
		if j.ended() {
			return j
		}
		if time.Now().After(deadline) {
			t.Fatalf("job %+v did not end", j)
		}
	}
}

type documentList struct {
	Documents []listed
	Next      string
}

func TestUploadListGetDelete(t *testing.T) {
	f := start(t, extractive(), nil)
	body, kind := form(t, [2]string{"docs/ü & 100%/fan.md", "# Fan\n\nThe fan is quiet.\n"}, [2]string{"empty.md", " \n"}, [2]string{"photo.png", "\x89PNG\r\n\x1a\n\x00\x00"})
	j := f.upload(t, "/v1/documents?collection=manuals", body, kind)
	if j.State != "done" || j.Done != 3 || j.Total != 3 || j.Collection != "manuals" || j.Report.Added != 1 || len(j.Report.Skipped) != 2 {
		t.Fatalf("job %+v, report %+v", j, j.Report)
	}
	if s := j.Report.Skipped[0]; s.Path != "empty.md" || s.Reason != "nothing but white space" {
		t.Errorf("skipped %+v", s)
	}
	list := get[documentList](t, f, 200, "GET", "/v1/documents?collection=manuals", "")
	want := []listed{{ID: "docs/ü & 100%/fan.md", Title: "Fan", Format: "markdown", Chunks: 1, Bytes: 25, Metadata: map[string]any{"format": "markdown", "path": "docs/ü & 100%/fan.md"}}}
	if diff := cmp.Diff(want, list.Documents); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	at := "/v1/documents/" + url.PathEscape("docs/ü & 100%/fan.md") + "?collection=manuals"
	doc := get[viewed](t, f, 200, "GET", at, "")
	if doc.Text != "# Fan\n\nThe fan is quiet.\n" || doc.Title != "Fan" || len(doc.Chunks) != 1 {
		t.Errorf("document %+v", doc)
	}
	collections := get[struct {
		Collections []struct {
			Name              string
			Documents, Chunks int
		}
	}](t, f, 200, "GET", "/v1/collections", "").Collections
	if len(collections) != 2 || collections[0].Name != "default" || collections[0].Documents != 2 || collections[1].Name != "manuals" || collections[1].Documents != 1 {
		t.Errorf("collections %+v", collections)
	}
	f.refused(t, 404, "document_not_found", "GET", strings.Replace(at, "manuals", "default", 1), "")
	if resp, body := f.call(t, "DELETE", at, ""); resp.StatusCode != 204 || body != "" {
		t.Errorf("delete: status %d, body %q", resp.StatusCode, body)
	}
	f.refused(t, 404, "document_not_found", "DELETE", at, "")
	f.refused(t, 404, "document_not_found", "GET", at, "")
}

// A collection that another model made is not listed, hides no other, and says
// what it is when it is asked for.
func TestForeignCollection(t *testing.T) {
	f := start(t, extractive(), nil)
	f.library.foreign = true
	collections := get[struct{ Collections []struct{ Name string } }](t, f, 200, "GET", "/v1/collections", "").Collections
	if len(collections) != 1 || collections[0].Name != "default" {
		t.Errorf("collections %+v, want the default one", collections)
	}
	if log := f.log.String(); !strings.Contains(log, "collection left out") || !strings.Contains(log, foreign) {
		t.Errorf("the log does not tell of it: %s", log)
	}
	f.refused(t, 409, "model_mismatch", "GET", "/v1/documents?collection="+foreign, "")
}

func TestUploadOfJSON(t *testing.T) {
	f := start(t, extractive(), nil)
	const body = `{"documents":[
		{"id":"a.html","title":"Titled","text":"<p>The lamp is red.</p>","metadata":{"year":2026,"share":0.5,"tags":["a","b"],"draft":false,"note":null,"url":"https://docs.example/lamp"}},
		{"text":"# Cable\n\nThe cable is long.\n"}]}`
	j := f.upload(t, "/v1/documents", body, "application/json")
	if j.Report == nil || j.Report.Added != 2 {
		t.Fatalf("job %+v", j)
	}
	doc := get[viewed](t, f, 200, "GET", "/v1/documents/a.html", "")
	want := map[string]any{"format": "html", "path": "a.html", "year": 2026.0, "share": 0.5, "tags": []any{"a", "b"}, "draft": false, "url": "https://docs.example/lamp"}
	if diff := cmp.Diff(want, doc.Metadata); diff != "" || doc.Title != "Titled" || !strings.Contains(doc.Text, "The lamp is red.") || strings.Contains(doc.Text, "<p>") {
		t.Errorf("document %+v\n%s", doc, diff)
	}
	hits := get[struct{ Hits []hit }](t, f, 200, "POST", "/v1/search", `{"query":"lamp","filter":"year>=2026 tags=b"}`).Hits
	if len(hits) != 1 || hits[0].URL != "https://docs.example/lamp" {
		t.Errorf("hits %+v, want the lamp, at its own address", hits)
	}
	if again := f.upload(t, "/v1/documents", body, "application/json"); again.Report.Unchanged != 2 {
		t.Errorf("the same again: report %+v", again.Report)
	}
	for body, param := range map[string]string{
		`{"documents":[]}`: "documents", `{"documents":[{"id":"x","txt":""}]}`: "txt", `{"documents":[{"id":"../x","text":"x"}]}`: "id",
		`{"documents":[{"text":"x","title":"a\nb"}]}`: "title", `{"documents":[{"text":"x","metadata":{"a":{}}}]}`: "metadata",
		`{"documents":[{"text":"x","metadata":{"a":[1]}}]}`: "metadata", `{"documents":[{"text":"x","metadata":{"root":"/etc"}}]}`: "metadata",
		`{"documents":[{"text":"x","metadata":{"":1}}]}`: "metadata",
	} {
		if e := f.refused(t, 400, "invalid_value", "POST", "/v1/documents", body); e.Error.Param != param {
			t.Errorf("%s: param %q, want %q", body, e.Error.Param, param)
		}
	}
	f.refused(t, 400, "invalid_value", "POST", "/v1/documents?collection=A", `{"documents":[{"text":"x"}]}`)
}

func TestListIsPaged(t *testing.T) {
	f := start(t, extractive(), nil)
	for i := range 5 {
		f.library.add(t, "", "many", fmt.Sprintf("doc%d.md", i), fmt.Sprintf("Text number %d.\n", i))
	}
	var seen []string
	cursor := ""
	for page := 0; ; page++ {
		list := get[documentList](t, f, 200, "GET", "/v1/documents?collection=many&limit=2&cursor="+url.QueryEscape(cursor), "")
		for _, d := range list.Documents {
			seen = append(seen, d.ID)
		}
		if cursor = list.Next; cursor == "" {
			break
		}
	}
	if got := strings.Join(seen, " "); got != "doc0.md doc1.md doc2.md doc3.md doc4.md" {
		t.Errorf("seen %s", got)
	}
	for _, limit := range []string{"0", "1001", "x"} {
		f.refused(t, 400, "invalid_value", "GET", "/v1/documents?limit="+limit, "")
	}
}

func TestJobStreamsItsProgress(t *testing.T) {
	f := start(t, extractive(), nil)
	body, kind := form(t, [2]string{"a.md", "One.\n"}, [2]string{"b.md", "Two.\n"})
	id := get[map[string]string](t, f, 202, "POST", "/v1/documents", body, "Content-Type", kind)["job"]
	_, stream := f.call(t, "GET", "/v1/jobs/"+id, "", "Accept", "text/event-stream")
	events := parseEvents(t, stream)
	var last jobStatus
	for _, e := range events {
		done := last.Done
		mustDecode(t, e.data, &last)
		if e.name != "job" || last.Done < done {
			t.Errorf("event %+v after %d", e, done)
		}
	}
	if last.State != "done" || last.Done != 2 || last.Report.Added != 2 {
		t.Errorf("last event %+v", last)
	}
	f.refused(t, 404, "job_not_found", "GET", "/v1/jobs/none", "")
}

func TestUnusableUploads(t *testing.T) {
	f := start(t, extractive(), func(o *Options) { o.Limits.Upload = 10_000 })
	post := func(status int, code string, parts ...[2]string) {
		t.Helper()
		body, kind := form(t, parts...)
		f.refused(t, status, code, "POST", "/v1/documents", body, "Content-Type", kind)
	}
	post(400, "invalid_value")
	post(400, "invalid_value", [2]string{"=note", "x"})
	post(413, "body_too_large", [2]string{"a.md", strings.Repeat("x", 10_001)})
	f.refused(t, 400, "invalid_value", "POST", "/v1/documents", "no form", "Content-Type", "multipart/form-data; boundary=x")
	f.refused(t, 400, "invalid_value", "POST", "/v1/documents", "no form", "Content-Type", "multipart/form-data")
	f.refused(t, 415, "unsupported_media_type", "POST", "/v1/documents", "text", "Content-Type", "text/plain")
	docs, err := json.Marshal(map[string]any{"documents": []any{map[string]string{"text": strings.Repeat("x", 10_000)}}})
	if err != nil {
		t.Fatal(err)
	}
	f.refused(t, 413, "body_too_large", "POST", "/v1/documents", string(docs))
}

func TestTooManyCollections(t *testing.T) {
	f := start(t, extractive(), func(o *Options) { o.Limits.Collections = 2 })
	const body = `{"documents":[{"text":"x y z"}]}`
	f.upload(t, "/v1/documents?collection=one", body, "application/json")
	f.upload(t, "/v1/documents?collection=one", body, "application/json")
	f.refused(t, 400, "invalid_value", "POST", "/v1/documents?collection=two", body)
}

func TestAnArchiveIsReplacedAndDeletedAsOne(t *testing.T) {
	f := start(t, extractive(), nil)
	archive := func(members ...string) string {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, name := range members {
			w, err := z.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(w, "Text of "+name+".\n"); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	upload := func(content string) *pipeline.Report {
		t.Helper()
		body, kind := form(t, [2]string{"notes.zip", content})
		id := get[map[string]string](t, f, 202, "POST", "/v1/documents", body, "Content-Type", kind)["job"]
		f.call(t, "GET", "/v1/jobs/"+id, "", "Accept", "text/event-stream") // ends with the job
		return get[jobStatus](t, f, 200, "GET", "/v1/jobs/"+id, "").Report
	}
	if r := upload(archive("a.md", "b.md", "picture.png")); r.Added != 2 || len(r.Skipped) != 1 || r.Skipped[0].Path != "notes.zip/picture.png" {
		t.Errorf("report %+v", r)
	}
	if r := upload(archive("b.md", "c.md")); r.Added != 1 || r.Unchanged != 1 || r.Removed != 1 {
		t.Errorf("report of another version %+v", r)
	}
	if resp, _ := f.call(t, "DELETE", "/v1/documents/notes.zip", ""); resp.StatusCode != 204 {
		t.Errorf("status %d", resp.StatusCode)
	}
	if resp, body := f.call(t, "GET", "/v1/documents/notes.zip%2Fc.md", ""); resp.StatusCode != 404 {
		t.Errorf("status %d after the archive was deleted: %s", resp.StatusCode, body)
	}
}
