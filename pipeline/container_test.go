package pipeline

import (
	"archive/zip"
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// zipped is an archive of texts by their names.
func zipped(t *testing.T, members map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(members[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAnArchiveIsKeptUpWithMemberByMember(t *testing.T) {
	b := newBench(t)
	b.write("notes.zip", zipped(t, map[string]string{"a.md": "The lamp burns colza.", "sub/b.md": "The bridge carries lanes.", "c.bin": "\x00\x00\x00"}))
	b.write("plain.md", "A kiln heats tiles.")
	b.index(IndexOptions{}, "3 added, 0 changed, 0 unchanged, 0 removed, 1 skipped")
	if got := b.found("colza"); !slices.Equal(got, []string{"notes.zip/a.md"}) {
		t.Errorf("colza found in %q", got)
	}
	before := b.encoded.Load()
	b.index(IndexOptions{}, "0 added, 0 changed, 3 unchanged, 0 removed, 1 skipped")

	// One member changed, one gone, one new: no other is encoded.
	b.write("notes.zip", zipped(t, map[string]string{"a.md": "The lamp burns paraffin.", "d.md": "An orchard feeds bees.", "c.bin": "\x00\x00\x00"}))
	b.index(IndexOptions{}, "1 added, 1 changed, 1 unchanged, 1 removed, 1 skipped")
	if n := b.encoded.Load() - before; n != 2 {
		t.Errorf("%d documents encoded, want the changed and the new one", n)
	}

	// The archive under another name: nothing is encoded.
	before = b.encoded.Load()
	if err := os.Rename(filepath.Join(b.dir, "notes.zip"), filepath.Join(b.dir, "old.zip")); err != nil {
		t.Fatal(err)
	}
	if report := b.index(IndexOptions{}, "0 added, 0 changed, 1 unchanged, 0 removed, 1 skipped"); report.Moved != 2 || b.encoded.Load() != before {
		t.Errorf("%d moved, %d encoded", report.Moved, b.encoded.Load()-before)
	}
	if got := b.found("paraffin"); !slices.Equal(got, []string{"old.zip/a.md"}) {
		t.Errorf("paraffin found in %q", got)
	}

	// The share of an archive is that of all that is in it.
	for number := range 2 {
		report, err := b.Index(t.Context(), []string{b.dir}, IndexOptions{Shard: Shard{number + 1, 2}})
		if err != nil || report.Removed+report.Added+report.Changed != 0 {
			t.Errorf("share %d: %+v, %v", number+1, report, err)
		}
	}

	if err := os.Remove(filepath.Join(b.dir, "old.zip")); err != nil {
		t.Fatal(err)
	}
	b.index(IndexOptions{}, "0 added, 0 changed, 1 unchanged, 2 removed, 0 skipped")
}

func TestRemoveTakesAllThatWasInAFile(t *testing.T) {
	b := newBench(t)
	b.write("notes.zip", zipped(t, map[string]string{"a.md": "The lamp burns colza.", "b.md": "The bridge carries lanes."}))
	b.write("notes.md", "A kiln heats tiles.")
	if n, err := b.Remove(t.Context(), "nothing"); n != 0 || err != nil {
		t.Errorf("of an empty store: %d, %v", n, err)
	}
	b.index(IndexOptions{}, "3 added, 0 changed, 0 unchanged, 0 removed, 0 skipped")
	if n, err := b.Remove(t.Context(), "notes.zip", "notes.zip/b.md"); n != 1 || err != nil {
		t.Errorf("all but one: %d, %v", n, err)
	}
	if n, err := b.Remove(t.Context(), "notes.zip"); n != 1 || err != nil {
		t.Errorf("the rest: %d, %v", n, err)
	}
	if n, err := b.Remove(t.Context(), "notes.md"); n != 1 || err != nil {
		t.Errorf("a document: %d, %v", n, err)
	}
}
