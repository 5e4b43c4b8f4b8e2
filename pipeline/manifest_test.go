package pipeline

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/waymark-rag/waymark/retriever"
)

// age sets a file's time of change back, as if it had been left alone for a while.
func (b *bench) age(name string, by time.Duration) {
	b.Helper()
	then := time.Now().Add(-by).Truncate(time.Second)
	if err := os.Chtimes(filepath.Join(b.dir, name), then, then); err != nil {
		b.Fatal(err)
	}
}

func TestManifestSparesReading(t *testing.T) {
	b := newBench(t)
	path := filepath.Join(t.TempDir(), "manifest")
	open := func() *Manifest { return OpenManifest(path, "maker") }
	b.write("a.txt", "The lamp burns colza.")
	b.write("b.txt", "The bridge carries lanes.")
	b.write("blank.txt", " \n")
	for _, name := range []string{"a.txt", "b.txt", "blank.txt"} {
		b.age(name, time.Hour)
	}
	if report := b.index(IndexOptions{Manifest: open()}, "2 added, 0 changed, 0 unchanged, 0 removed, 1 skipped"); report.Bytes == 0 {
		t.Error("nothing was read")
	}
	report := b.index(IndexOptions{Manifest: open()}, "0 added, 0 changed, 2 unchanged, 0 removed, 1 skipped")
	if report.Bytes != 0 {
		t.Errorf("%d bytes were read of a folder that has not changed", report.Bytes)
	}

	// A change that leaves size and time as they were cannot be seen; any other is.
	b.write("a.txt", "The lamp burns olive.")
	if b.index(IndexOptions{Manifest: open()}, "0 added, 1 changed, 1 unchanged, 0 removed, 1 skipped").Bytes == 0 {
		t.Error("the changed file was not read")
	}
	// It was read within moments of being written: its time does not tell yet.
	if b.index(IndexOptions{Manifest: open()}, "0 added, 0 changed, 2 unchanged, 0 removed, 1 skipped").Bytes == 0 {
		t.Error("a file that was just written is taken for unchanged by its time")
	}

	// What the store has lost is read again, whatever the manifest says.
	if _, err := b.Store.Delete(t.Context(), []string{"b.txt"}); err != nil {
		t.Fatal(err)
	}
	b.index(IndexOptions{Manifest: open()}, "1 added, 0 changed, 1 unchanged, 0 removed, 1 skipped")

	// Another maker starts anew, and so does a manifest that is damaged.
	if n := len(OpenManifest(path, "another").files); n != 0 {
		t.Errorf("another maker has %d files", n)
	}
	if n := len(open().files); n != 3 {
		t.Errorf("%d files noted, want 3", n)
	}
	if err := os.Remove(filepath.Join(b.dir, "b.txt")); err != nil {
		t.Fatal(err)
	}
	b.index(IndexOptions{Manifest: open()}, "0 added, 0 changed, 1 unchanged, 1 removed, 1 skipped")
	if n := len(open().files); n != 2 {
		t.Errorf("%d files noted after one is gone, want 2", n)
	}
	if err := os.WriteFile(path, []byte("{\"maker\": "), 0o600); err != nil {
		t.Fatal(err)
	}
	b.index(IndexOptions{Manifest: open()}, "0 added, 0 changed, 1 unchanged, 0 removed, 1 skipped")
	if n := len(open().files); n != 2 {
		t.Errorf("%d files noted after damage, want 2", n)
	}
}

func TestManifestForgetsWhatOnlySeemedSkipped(t *testing.T) {
	b := newBench(t)
	path := filepath.Join(t.TempDir(), "manifest")
	b.write("a.txt", "The lamp burns colza.")
	b.age("a.txt", time.Hour)
	small := IndexOptions{Manifest: OpenManifest(path, "maker")}
	small.Read.MaxBytes = 3
	b.index(small, "0 added, 0 changed, 0 unchanged, 0 removed, 1 skipped")
	b.index(IndexOptions{Manifest: OpenManifest(path, "maker")}, "1 added, 0 changed, 0 unchanged, 0 removed, 0 skipped")
}

func TestMovedFilesAreNotEncodedAgain(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "The lamp burns colza.")
	b.write("b.txt", "<p>The bridge carries lanes.</p>")
	b.index(IndexOptions{}, "2 added, 0 changed, 0 unchanged, 0 removed, 0 skipped")
	before := b.encoded.Load()
	if err := os.MkdirAll(filepath.Join(b.dir, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(b.dir, "a.txt"), filepath.Join(b.dir, "sub/lamp.txt")); err != nil {
		t.Fatal(err)
	}
	report := b.index(IndexOptions{}, "0 added, 0 changed, 1 unchanged, 0 removed, 0 skipped")
	if report.Moved != 1 || b.encoded.Load() != before {
		t.Errorf("%d moved, %d encoded", report.Moved, b.encoded.Load()-before)
	}
	if got := b.found("colza"); len(got) != 1 || got[0] != "sub/lamp.txt" {
		t.Errorf("colza found in %q", got)
	}
	docs, err := b.Store.Fetch(t.Context(), []string{"sub/lamp.txt"}, retriever.Want{Text: true})
	if err != nil || len(docs) != 1 || docs[0].Metadata["path"] != "sub/lamp.txt" || docs[0].Title != "lamp.txt" {
		t.Errorf("stored %+v, %v", docs, err)
	}
	// Another format makes another text of the same bytes.
	if err := os.Rename(filepath.Join(b.dir, "b.txt"), filepath.Join(b.dir, "b.html")); err != nil {
		t.Fatal(err)
	}
	b.index(IndexOptions{}, "1 added, 0 changed, 1 unchanged, 1 removed, 0 skipped")
}

// A page without text stays in the report of every run, also of those that do not
// read the file.
func TestManifestKeepsWhatWasLeftOutOfAFile(t *testing.T) {
	b := newBench(t)
	path := filepath.Join(t.TempDir(), "manifest")
	for _, name := range []string{"minutes.pdf", "costs.xlsx"} { // one has pages of pictures, one a hidden sheet
		data, err := os.ReadFile("../ingest/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		b.write(name, string(data))
	}
	for run, want := range []string{"2 added, 0 changed, 0 unchanged, 0 removed, 2 skipped", "0 added, 0 changed, 2 unchanged, 0 removed, 2 skipped", "0 added, 0 changed, 2 unchanged, 0 removed, 2 skipped"} {
		report := b.index(IndexOptions{Manifest: OpenManifest(path, "maker")}, want)
		if s := report.Skipped; filepath.Base(s[0].Path) != `costs.xlsx, sheet "Lists"` || filepath.Base(s[1].Path) != "minutes.pdf, pages 3-4" {
			t.Errorf("run %d: skipped %+v", run, s)
		}
		for _, name := range []string{"minutes.pdf", "costs.xlsx"} {
			b.age(name, time.Hour) // its time has changed, its content has not
		}
	}
}
