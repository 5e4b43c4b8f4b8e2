package local

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/retriever"
)

func TestTenantFile(t *testing.T) {
	for _, test := range []struct{ path, tenant, want string }{
		{"/a/docs.db", "", "/a/docs.db"},
		{"/a/docs.db", "acme", "/a/docs@acme.db"},
		{"/a/docs.db", "Acme", "/a/docs@%41cme.db"},
		{"/a/docs.db", "acme_2", "/a/docs@acme_2.db"},
		{"/a/docs.db", "../x", "/a/docs@%2e%2e%2fx.db"},
		{"/a/docs.db", `c:\x`, "/a/docs@c%3a%5cx.db"},
		{"/a/docs.db", "%41cme", "/a/docs@%2541cme.db"},
		{"/a/docs.db", "é", "/a/docs@%c3%a9.db"},
		{"/a.b/docs", "acme-wal", "/a.b/docs@acme%2dwal"},
		{"/a/.db", "x", "/a/@x.db"},
	} {
		path, want := filepath.FromSlash(test.path), filepath.FromSlash(test.want)
		got, err := tenantFile(path, test.tenant)
		if err != nil || got != want {
			t.Errorf("tenantFile(%q, %q) = %q, %v, want %q", path, test.tenant, got, err, want)
		}
		if test.tenant == "" {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(got), filepath.Ext(path))
		_, escaped, _ := strings.Cut(name, "@")
		if back, err := url.PathUnescape(escaped); err != nil || back != test.tenant {
			t.Errorf("%q stands for tenant %q, %v, want %q", got, back, err, test.tenant)
		}
	}
	for tenant, want := range map[string]string{
		"\xff": "UTF-8", "a\x00": "NUL", strings.Repeat("x", 250): "names of 263 bytes", strings.Repeat("日", 30): "names of 283 bytes",
	} {
		if _, err := tenantFile("/a/docs.db", tenant); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("tenant %q: %v, want a refusal with %q", tenant, err, want)
		}
	}
}

func TestOpenTenant(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "docs.db")
	openTest(t, path, &Options{Create: true})
	_, err := Open(t.Context(), path, &Options{Tenant: "acme"})
	if !errors.Is(err, retriever.ErrNotFound) || !strings.Contains(err.Error(), `tenant "acme"`) || !strings.Contains(err.Error(), path) {
		t.Errorf("Open of a tenant that is not there: %v, want ErrNotFound with the path and the tenant", err)
	}
	s := openTest(t, path, &Options{Tenant: "acme", Create: true})
	if err := s.Upsert(t.Context(), []retriever.Document{testDocument("a", 1, 1, 0)}); err != nil {
		t.Fatal(err)
	}
	var files []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		files = append(files, e.Name())
	}
	want := []string{
		"docs.db", "docs.db-shm", "docs.db-wal", "docs.db.lock", "docs@acme.db", "docs@acme.db-shm", "docs@acme.db-wal", "docs@acme.db.lock",
	}
	if !slices.Equal(files, want) {
		t.Errorf("the folder holds %q, want %q", files, want)
	}
}
