//go:build unix

package ingest_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/ingest"
)

func TestWalkOddFiles(t *testing.T) {
	root := tree(t, "a\nb.txt", "caf\xe9.txt", "caf%E9.txt", "locked/a.txt", "100%.txt", "%25.txt")
	if err := syscall.Mkfifo(filepath.Join(root, "pipe.txt"), 0o644); err != nil {
		t.Fatal(err)
	}
	want := []string{"%2525.txt", "100%.txt", "a\nb.txt", "caf%25E9.txt", "caf%E9.txt", "locked/a.txt", "pipe.txt: not a regular file"}
	if os.Getuid() != 0 { // root reads a folder whatever its mode
		if err := os.Chmod(filepath.Join(root, "locked"), 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(filepath.Join(root, "locked"), 0o755)
		want[5] = "locked: unreadable"
	}
	if diff := cmp.Diff(want, walk(t, nil, root)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"pipe.txt: not a regular file"}, walk(t, nil, filepath.Join(root, "pipe.txt"))); diff != "" {
		t.Errorf("pipe as root, -want +got:\n%s", diff)
	}
}

func TestLoadPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := ingest.Load(t.Context(), ingest.File{ID: "pipe", Path: path}, nil)
	var skip *ingest.Skip
	if !errors.As(err, &skip) || skip.Reason != ingest.Special {
		t.Errorf("got %v, want a skip as special", err)
	}
}
