package s3_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/ingest"
	"github.com/waymark-rag/waymark/ingest/s3"
)

// service is an S3 service with one bucket, docs, that lists two objects a page.
type service struct {
	*httptest.Server
	objects map[string]string
	broken  string // an object that is listed and not there
}

func newService(t *testing.T, objects map[string]string) *service {
	t.Helper()
	s := &service{objects: objects}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	fail := func(status int, code string) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `<Error><Code>%s</Code><Message>no</Message></Error>`, code)
	}
	switch {
	case bucket != "docs":
		fail(404, "NoSuchBucket")
	case r.URL.Query().Has("location"):
		fmt.Fprint(w, `<LocationConstraint></LocationConstraint>`)
	case key == "":
		s.list(w, r)
	case s.objects[key] == "" || key == s.broken:
		fail(404, "NoSuchKey")
	default:
		w.Header().Set("Last-Modified", modified.Format(http.TimeFormat))
		w.Header().Set("ETag", `"x"`)
		http.ServeContent(w, r, "", modified, strings.NewReader(s.objects[key]))
	}
}

var modified = time.Date(2031, 5, 4, 3, 2, 1, 0, time.UTC)

func (s *service) list(w http.ResponseWriter, r *http.Request) {
	type object struct {
		Key          string
		Size         int
		LastModified string
	}
	var page struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string
		Contents              []object
	}
	var keys []string
	for key := range s.objects {
		if strings.HasPrefix(key, r.URL.Query().Get("prefix")) && key > r.URL.Query().Get("continuation-token") {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for i, key := range keys {
		if i == 2 {
			page.IsTruncated, page.NextContinuationToken = true, keys[1]
			break
		}
		page.Contents = append(page.Contents, object{key, len(s.objects[key]), modified.Format(time.RFC3339)})
	}
	xml.NewEncoder(w).Encode(page)
}

func TestBucket(t *testing.T) {
	svc := newService(t, map[string]string{
		"notes/a.md": "# A\n\nText.\n", "notes/sub/b.txt": "Other text.\n", "notes/sub/": "", "notes/c.log": "left out", "notes-old/d.md": "Old.\n",
		"notes/gone.md": "Not there.", "notes/e%41.md": "Percent.\n",
	})
	svc.broken = "notes/gone.md"
	b, err := s3.Open("s3://docs/notes", s3.Options{Endpoint: svc.URL, Anonymous: true, Exclude: []string{"*.log"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for f, err := range b.Files(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		roots, _ := b.Roots()
		if roots[f.Root] != svc.URL+"/docs/notes/" || !f.Modified.Equal(modified) {
			t.Errorf("%+v of the roots %q", f, roots)
		}
		for loaded, err := range ingest.Read(t.Context(), f, nil) {
			var skip *ingest.Skip
			switch {
			case errors.As(err, &skip):
				got = append(got, f.ID+": "+string(skip.Reason))
			case err != nil:
				t.Fatal(err)
			default:
				got = append(got, fmt.Sprintf("%s %s %q", loaded.Document.ID, loaded.Format, loaded.Document.Text))
			}
		}
	}
	want := []string{`a.md markdown "# A\n\nText.\n"`, `e%2541.md markdown "Percent.\n"`, "gone.md: unreadable", `sub/b.txt text "Other text.\n"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWhatCannotBeListed(t *testing.T) {
	svc := newService(t, nil)
	b, err := s3.Open("s3://other", s3.Options{Endpoint: svc.URL, Anonymous: true})
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	for _, err := range b.Files(t.Context()) {
		failed = err
	}
	if failed == nil || !strings.Contains(failed.Error(), "check its name") {
		t.Errorf("listing a bucket that is not there: %v", failed)
	}
	for _, tt := range []struct {
		address string
		opts    s3.Options
	}{
		{"docs", s3.Options{}}, {"s3://", s3.Options{}}, {"s3://key:secret@docs", s3.Options{}},
		{"s3://docs", s3.Options{Endpoint: "minio.example"}}, {"s3://docs", s3.Options{Endpoint: "https://u:secret@minio.example"}},
		{"s3://docs", s3.Options{Include: []string{"["}}},
	} {
		if _, err := s3.Open(tt.address, tt.opts); err == nil || strings.Contains(err.Error(), "secret@minio") {
			t.Errorf("%q, %+v: %v", tt.address, tt.opts, err)
		}
	}
}
