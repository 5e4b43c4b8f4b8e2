package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-chi/chi/v5"
)

// document is /openapi.json, read once.
var document = sync.OnceValues(func() (*openapi3.T, error) {
	return openapi3.NewLoader().LoadFromData(openapiJSON)
})

func TestOpenAPIIsValid(t *testing.T) {
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := start(t, extractive(), nil)
	resp, body := f.call(t, "GET", "/openapi.json", "")
	if resp.StatusCode != 200 || body != string(openapiJSON) {
		t.Errorf("status %d and %d bytes, want the document", resp.StatusCode, len(body))
	}
}

// Every route is in the document and the other way round.
func TestOpenAPIListsAllRoutes(t *testing.T) {
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	var listed, served []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			listed = append(listed, method+" "+path)
		}
	}
	s := start(t, extractive(), nil)
	err = chi.Walk(s.routes, func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if route == "/mcp" && method != "POST" { // answered by MCP's own refusal
			return nil
		}
		served = append(served, method+" "+strings.Replace(route, "/*", "/{id}", 1))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(listed)
	slices.Sort(served)
	if !slices.Equal(listed, served) {
		t.Errorf("listed:\n%s\nserved:\n%s", strings.Join(listed, "\n"), strings.Join(served, "\n"))
	}
}

// conforms checks a JSON response against the document, in whichever test it is seen.
func conforms(t *testing.T, s *Server, method, path string, status int, kind string, body []byte) {
	t.Helper()
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	path, _, _ = strings.Cut(path, "?")
	rc := chi.NewRouteContext()
	if kind != "application/json" || path == "/mcp" || !s.routes.Match(rc, method, path) {
		return
	}
	route := strings.Replace(rc.RoutePattern(), "/*", "/{id}", 1)
	item := doc.Paths.Find(route)
	if item == nil || item.GetOperation(method) == nil {
		t.Errorf("%s %s: the document does not list it", method, route)
		return
	}
	responses := item.GetOperation(method).Responses
	ref := responses.Status(status)
	if ref == nil {
		ref = responses.Default()
	}
	if route == "/embed" && bytes.Contains(body, []byte(`"detail"`)) {
		return // LibreChat's shape, of its upload
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Errorf("%s %s: %v", method, path, err)
		return
	}
	if err := ref.Value.Content["application/json"].Schema.Value.VisitJSON(v); err != nil {
		t.Errorf("%s %s, status %d: not as the document says: %v\n%s", method, path, status, err, body)
	}
}
