package ingest_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/waymark-rag/waymark/ingest"
)

func TestWatch(t *testing.T) {
	root := tree(t, "a.txt", "sub/b.txt", ".hidden/c.txt")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	changed, err := ingest.Watch(ctx, []string{root}, nil)
	if err != nil {
		t.Fatal(err)
	}
	wait := func(what string) {
		t.Helper()
		select {
		case err := <-changed:
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s is not told of", what)
		}
	}
	write := func(name string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("other"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a.txt")
	wait("a change")
	write("new/deep/d.txt")
	wait("a new folder")
	write("new/deep/d.txt")
	wait("a change in a new folder")
	if err := os.Rename(filepath.Join(root, "new"), filepath.Join(root, "sub/new")); err != nil {
		t.Fatal(err)
	}
	wait("a folder that was moved")
	if err := os.Remove(filepath.Join(root, "sub/b.txt")); err != nil {
		t.Fatal(err)
	}
	wait("a removal")
	write(".gitignore")
	wait("a new list of what to leave out")
	stop()
	for err := range changed { // is closed, perhaps after a change that was under way
		if err != nil {
			t.Error(err)
		}
	}
}

func TestWatchAFile(t *testing.T) {
	root := tree(t, "a.txt")
	changed, err := ingest.Watch(t.Context(), []string{filepath.Join(root, "a.txt")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	// As editors save: another file takes its place.
	if err := os.WriteFile(filepath.Join(root, "a.new"), []byte("other"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(root, "a.new"), filepath.Join(root, "a.txt")); err != nil {
		t.Fatal(err)
	}
	if err := <-changed; err != nil {
		t.Error(err)
	}
	if _, err := ingest.Watch(t.Context(), []string{filepath.Join(root, "gone")}, nil); err == nil {
		t.Error("a root that is not there is watched")
	}
}
