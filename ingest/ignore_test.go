package ingest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/ingest"
)

func TestWalkHonoursIgnoreFiles(t *testing.T) {
	root := tree(t, "a.txt", "a.log", "keep.log", "build/out.txt", "docs/build/page.txt", "docs/a.txt", "docs/draft.txt",
		"docs/more/draft.txt", "docs/more/b.txt", "sub/x.tmp", "sub/keep/y.tmp", "space .txt", "#a.txt", "!b.txt", "gen/a.txt", "gen/keep.txt")
	write := func(name string, lines ...string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), []byte(strings.Join(lines, "\r\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".gitignore", "# build results", "*.log", "!keep.log", "/build/", "", "gen/**", "!gen/keep.txt", `\#a.txt`, `\!b.txt`, "[unclosed")
	write("docs/.gitignore", "draft.txt", "more/b.txt")
	write("docs/.waymarkignore", "!more/draft.txt")
	write("sub/.waymarkignore", "*.tmp", "!keep/*.tmp")
	want := []string{"a.txt", "docs/a.txt", "docs/build/page.txt", "docs/more/draft.txt", "gen/keep.txt", "keep.log", "space .txt", "sub/keep/y.tmp"}
	if diff := cmp.Diff(want, walk(t, nil, root)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := walk(t, &ingest.WalkOptions{Ignored: true}, root); len(got) != 16 {
		t.Errorf("with all that is ignored: %q", got)
	}
}

func TestWalkOnly(t *testing.T) {
	root := tree(t, "a.txt", "b/c.txt", "b/.d.txt", "e.log")
	outside := tree(t, "f.txt")
	in := func(name string) string { return filepath.Join(root, name) }
	got := walk(t, &ingest.WalkOptions{Only: []string{in("b/c.txt"), in("b/.d.txt"), in("gone.txt"), filepath.Join(outside, "f.txt"), in("b/../a.txt")}}, root)
	want := []string{"b/c.txt", "b/.d.txt", "gone.txt: " + string(ingest.Unreadable), "a.txt"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
