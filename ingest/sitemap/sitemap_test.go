package sitemap_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/ingest"
	"github.com/waymark-rag/waymark/ingest/sitemap"
)

// website serves pages by their paths, and says what was asked.
func website(t *testing.T, pages map[string]string) (site *httptest.Server, host string, asked *[]string) {
	t.Helper()
	asked = new([]string)
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.RequestURI())
		page, ok := pages[r.URL.RequestURI()]
		to, redirect := strings.CutPrefix(page, "to ")
		switch {
		case !ok:
			http.NotFound(w, r)
		case redirect:
			http.Redirect(w, r, to, http.StatusFound)
		case strings.HasSuffix(r.URL.Path, ".gz"):
			z := gzip.NewWriter(w)
			io.WriteString(z, strings.ReplaceAll(page, "SITE", s.URL))
			z.Close()
		default:
			io.WriteString(w, strings.ReplaceAll(page, "SITE", s.URL))
		}
	}))
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return s, u.Host, asked
}

// list reads every page and says what became of it, with HOST for the host.
func list(t *testing.T, s *sitemap.Site, host string) []string {
	t.Helper()
	var got []string
	say := func(format string, args ...any) {
		got = append(got, strings.ReplaceAll(fmt.Sprintf(format, args...), host, "HOST"))
	}
	for f, err := range s.Files(t.Context()) {
		var skip *ingest.Skip
		switch {
		case errors.As(err, &skip):
			say("%s: %s", f.ID, skip.Reason)
			continue
		case err != nil:
			say("%v", err)
			continue
		}
		for loaded, err := range ingest.Read(t.Context(), f, nil) {
			switch {
			case errors.As(err, &skip):
				say("%s: %s", f.ID, skip.Reason)
			case err != nil:
				t.Fatal(err)
			default:
				say("%s %s %q", loaded.Document.ID, loaded.Format, loaded.Document.Text)
			}
		}
	}
	return got
}

func TestSite(t *testing.T) {
	pages := map[string]string{
		"/sitemap.xml": `<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
			<sitemap><loc>SITE/pages.xml.gz</loc></sitemap><sitemap><loc>SITE/list.txt</loc></sitemap><sitemap><loc>SITE/sitemap.xml</loc></sitemap></sitemapindex>`,
		"/pages.xml.gz": `<urlset><url><loc>SITE/guide/start</loc><lastmod>2031-05-04</lastmod></url><url><loc>SITE/index.php?page=2&amp;x=1</loc></url>
			<url><loc>SITE/guide/start#part</loc></url><url><loc>SITE/secret/plan</loc></url><url><loc>https://elsewhere.example/page</loc></url>
			<url><loc>SITE/away</loc></url><url><loc>SITE/gone</loc></url></urlset>`,
		"/list.txt":             "SITE/notes.txt\nSITE/draft.html\n",
		"/robots.txt":           "User-agent: *\nDisallow: /secret/\n",
		"/guide/start":          "<title>Start</title><p>Begin &amp; go on.</p>",
		"/index.php?page=2&x=1": "<p>Page two.</p>",
		"/notes.txt":            "Plain <b>text</b>.",
		"/draft.html":           "<p>Draft.</p>",
		"/away":                 "to https://elsewhere.example/",
		"/secret/plan":          "<p>Plan.</p>",
	}
	web, host, asked := website(t, pages)
	s, err := sitemap.Open(web.URL+"/sitemap.xml", sitemap.Options{Hosts: []string{host}, Private: true, Rate: 1000, Exclude: []string{"draft.html"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`HOST/guide/start html "Begin & go on."`,
		`HOST/index.php?page=2&x=1 html "Page two."`,
		"HOST/secret/plan: unreadable",
		"elsewhere.example/page: unreadable",
		"HOST/away: unreadable",
		"HOST/gone: unreadable",
		`HOST/notes.txt text "Plain <b>text</b>."`,
	}
	if diff := cmp.Diff(want, list(t, s, host)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, uri := range *asked {
		if strings.HasPrefix(uri, "/secret") || uri == "/draft.html" {
			t.Errorf("%s was asked for", uri)
		}
	}
}

func TestWhatMustNotBeAsked(t *testing.T) {
	web, host, asked := website(t, map[string]string{"/sitemap.xml": "<urlset><url><loc>SITE/a</loc></url></urlset>", "/a": "<p>A.</p>"})
	for _, opts := range []sitemap.Options{{}, {Hosts: []string{"docs.example.com"}}, {Hosts: []string{host}, MaxPages: -1}, {Hosts: []string{host}, Include: []string{"["}}} {
		if _, err := sitemap.Open(web.URL+"/sitemap.xml", opts); err == nil {
			t.Errorf("%+v is taken", opts)
		}
	}
	for _, address := range []string{"", "docs.example.com", "ftp://" + host, "https://user:word@" + host, "file:///etc/passwd"} {
		if _, err := sitemap.Open(address, sitemap.Options{Hosts: []string{host}}); err == nil || strings.Contains(err.Error(), "word") {
			t.Errorf("%q: %v", address, err)
		}
	}
	s, err := sitemap.Open(web.URL+"/sitemap.xml", sitemap.Options{Hosts: []string{host}, Rate: 1000}) // the host is named, its address is this machine
	if err != nil {
		t.Fatal(err)
	}
	if got := list(t, s, host); len(got) != 1 || !strings.Contains(got[0], "private") || len(*asked) != 0 {
		t.Errorf("listed %q after asking for %q", got, *asked)
	}
}

func TestLimits(t *testing.T) {
	web, host, _ := website(t, map[string]string{
		"/sitemap.xml": "<urlset><url><loc>SITE/a</loc></url><url><loc>SITE/b</loc></url></urlset>",
		"/broken.xml":  "<urlset><url><loc>SITE/a</loc>",
		"/a":           "<p>A.</p>", "/b": "<p>B.</p>",
	})
	for path, want := range map[string]string{"/sitemap.xml": "more than 1 pages", "/broken.xml": "cannot be read", "/none.xml": "status 404"} {
		s, err := sitemap.Open(web.URL+path, sitemap.Options{Hosts: []string{host}, Private: true, Rate: 1000, MaxPages: 1})
		if err != nil {
			t.Fatal(err)
		}
		got := list(t, s, host)
		if len(got) == 0 || !strings.Contains(got[len(got)-1], want) {
			t.Errorf("%s: %q, want it to end with %q", path, got, want)
		}
	}
}
