package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/server/web"
)

func get(t *testing.T, method, path string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	web.Handler().ServeHTTP(w, r)
	return w
}

func TestFiles(t *testing.T) {
	for _, test := range []struct {
		path, mediaType, holds string
	}{
		{"/", "text/html; charset=utf-8", "<title>Waymark</title>"},
		{"/assets/app.js", "text/javascript; charset=utf-8", "import"},
		{"/assets/style.css", "text/css; charset=utf-8", "color-scheme"},
		{"/assets/icon.svg", "image/svg+xml", "<svg"},
	} {
		w := get(t, "GET", test.path, nil)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != test.mediaType || !strings.Contains(w.Body.String(), test.holds) {
			t.Errorf("%s: %d %q, want 200 %q and %q in it", test.path, w.Code, w.Header().Get("Content-Type"), test.mediaType, test.holds)
		}
		csp := w.Header().Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: policy %q lacks %q", test.path, csp, want)
			}
		}
		if strings.Contains(csp, "unsafe") {
			t.Errorf("%s: policy %q allows what is unsafe", test.path, csp)
		}
		if got := w.Header().Get("X-Content-Type-Options"); got != "nosniff" {
			t.Errorf("%s: X-Content-Type-Options %q", test.path, got)
		}
	}
}

func TestETag(t *testing.T) {
	etag := get(t, "GET", "/", nil).Header().Get("ETag")
	if !regexp.MustCompile(`^"[0-9a-f]{64}"$`).MatchString(etag) {
		t.Fatalf("ETag %q, want a quoted SHA-256", etag)
	}
	if w := get(t, "GET", "/", http.Header{"If-None-Match": {etag}}); w.Code != http.StatusNotModified || w.Body.Len() != 0 {
		t.Errorf("the same file again: %d with %d bytes, want 304 and none", w.Code, w.Body.Len())
	}
	if other := get(t, "GET", "/assets/app.js", nil).Header().Get("ETag"); other == etag {
		t.Error("two files have one ETag")
	}
}

func TestRefused(t *testing.T) {
	for _, path := range []string{"/index.html", "/assets/", "/assets/nothing.js", "/assets/../web.go", "/assets/index.html", "/v1/ask"} {
		if w := get(t, "GET", path, nil); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", path, w.Code)
		}
	}
	if w := get(t, "POST", "/", nil); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d, Allow %q, want 405 and GET, HEAD", w.Code, w.Header().Get("Allow"))
	}
	if w := get(t, "HEAD", "/", nil); w.Code != http.StatusOK || w.Body.Len() != 0 {
		t.Errorf("HEAD: %d with %d bytes, want 200 and none", w.Code, w.Body.Len())
	}
}

// Below a prefix the page works if all that it names is relative.
func TestMountedBelowAPrefix(t *testing.T) {
	s := httptest.NewServer(http.StripPrefix("/waymark", web.Handler()))
	defer s.Close()
	resp, err := http.Get(s.URL + "/waymark/assets/app.js")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK || len(body) == 0 {
		t.Errorf("%d with %d bytes, %v", resp.StatusCode, len(body), err)
	}
	absolute := regexp.MustCompile("(href|src)=\"/|[\"`]/(v1|assets)/")
	for _, name := range sources(t) {
		if found := absolute.FindString(read(t, name)); found != "" {
			t.Errorf("%s holds %q: want paths relative to the page", name, found)
		}
	}
}

// What a browser is told never to do, the sources do not even try: parse a
// string as HTML, run one, or ask another host.
func TestSourcesKeepToThePolicy(t *testing.T) {
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|new Function|javascript:|https?://`)
	inline := regexp.MustCompile(`(?i)<script(?:\s[^>]*)?>[^<]|\son\w+=|\sstyle=`)
	for _, name := range sources(t) {
		if !slices.Contains([]string{".html", ".css", ".js", ".svg"}, filepath.Ext(name)) {
			t.Errorf("%s: its extension has no media type", name)
		}
		text := strings.ReplaceAll(read(t, name), "http://www.w3.org/2000/svg", "") // a name, not an address
		if found := forbidden.FindString(text); found != "" {
			t.Errorf("%s holds %q", name, found)
		}
		if strings.HasSuffix(name, ".html") {
			if found := inline.FindString(text); found != "" {
				t.Errorf("%s holds %q: scripts and styles stand in files of their own", name, found)
			}
		}
	}
}

func sources(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("static/*")
	if err != nil || len(names) < 10 {
		t.Fatalf("found %d files, %v", len(names), err)
	}
	return names
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
