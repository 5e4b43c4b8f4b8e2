package wire

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/configs"
)

func TestWhereCollectionsLie(t *testing.T) {
	file := location{place: configs.Place{Kind: configs.KindLocal, Path: filepath.Join("a", "index.db"), Tenant: "own"}}
	server := location{place: configs.Place{Kind: configs.KindQdrant, Address: "h:1", Collection: "docs"}}
	for _, test := range []struct {
		base         location
		tenant, name string
		want         configs.Place
	}{
		{file, "", "default", configs.Place{Kind: configs.KindLocal, Path: filepath.Join("a", "index.db"), Tenant: "own"}},
		{file, "acme", "notes", configs.Place{Kind: configs.KindLocal, Path: filepath.Join("a", "notes.db"), Tenant: "acme"}},
		{server, "", "default", configs.Place{Kind: configs.KindQdrant, Address: "h:1", Collection: "docs"}},
		{server, "acme", "notes", configs.Place{Kind: configs.KindQdrant, Address: "h:1", Collection: "notes", Tenant: "acme"}},
	} {
		got := test.base.collection(test.tenant, test.name)
		if diff := cmp.Diff(test.want, got.place); diff != "" || got.qdrant.Tenant != test.want.Tenant {
			t.Errorf("%s of %q: tenant %q for the server\n%s", test.name, test.tenant, got.qdrant.Tenant, diff)
		}
	}
}

// The collections of a folder are the stores in it, each tenant's its own.
func TestNamesOfLocalCollections(t *testing.T) {
	dir := t.TempDir()
	store := make([]byte, 100)
	binary.BigEndian.PutUint32(store[68:], 0x574D4B31)
	for name, content := range map[string][]byte{
		"index.db": store, "index@acme.db": store, "notes.db": store, "my-notes_2.db": store, "Big.db": store, "x.y.db": store,
		"notes@acme.db": store, "plans@acme.db": store, "plans@a%26b.db": store, "notes.db-wal": store, "notes.sqlite": store,
		"app.db": make([]byte, 100), "short.db": []byte("x"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := &Collections{base: location{place: configs.Place{Kind: configs.KindLocal, Path: filepath.Join(dir, "index.db")}}}
	for tenant, want := range map[string][]string{
		"": {"default", "my-notes_2", "notes"}, "acme": {"default", "notes", "plans"}, "a&b": {"default", "plans"}, "none": {"default"},
	} {
		got, err := c.Names(t.Context(), tenant)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("tenant %q (-want +got):\n%s", tenant, diff)
		}
	}
	gone := &Collections{base: location{place: configs.Place{Kind: configs.KindLocal, Path: filepath.Join(dir, "none", "index.db")}}}
	if got, err := gone.Names(t.Context(), ""); err != nil || len(got) != 1 {
		t.Errorf("names %q, error %v", got, err)
	}
	shared := &Collections{listed: []string{"b", "a"}, base: location{place: configs.Place{Kind: configs.KindQdrant, Collection: "docs"}}}
	if got, err := shared.Names(t.Context(), ""); err != nil || cmp.Diff([]string{"default", "a", "b"}, got) != "" {
		t.Errorf("names %q, error %v", got, err)
	}
}
