package ingest_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/ingest"
)

func TestRead(t *testing.T) {
	root := tree(t, "docs/a.txt", "docs/b%41.md")
	for f, err := range ingest.Walk(t.Context(), []string{root}, nil) {
		if err != nil {
			t.Fatal(err)
		}
		got, err := one(ingest.Read(t.Context(), f, nil))
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		if got.Document.ID != f.ID || got.Hash != hex.EncodeToString(sum[:]) || got.Document.Text != string(data) {
			t.Errorf("Read(%q) = %+v", f.Path, got)
		}
		raw, err := ingest.Load(t.Context(), f, nil)
		if err != nil || raw.Hash != got.Hash || raw.ID != f.ID || string(raw.Data) != string(data) {
			t.Errorf("Load(%q) = %+v, %v", f.Path, raw, err)
		}
		// What a reader is given by name is the same document.
		name := strings.TrimPrefix(f.Path, root+string(filepath.Separator))
		parsed, err := parse(filepath.ToSlash(name), data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got.Document.Metadata, parsed.Document.Metadata); diff != "" || parsed.Hash != got.Hash {
			t.Errorf("Read and Parse differ: %s", diff)
		}
	}
}

func TestLoadLimits(t *testing.T) {
	root := tree(t, "12345.txt", "empty.txt", "folder.txt/", "film.mp4")
	if err := os.Truncate(filepath.Join(root, "empty.txt"), 0); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		max  int64
		want ingest.Reason // empty for none
	}{
		{"12345.txt", 9, ""},
		{"12345.txt", 8, ingest.TooLarge},
		{"12345.txt", 0, ""},
		{"empty.txt", 0, ingest.Empty},
		{"folder.txt", 0, ingest.Special},
		{"film.mp4", 1, ingest.Unsupported}, // told by its name, without a look at its size
		{"gone.txt", 0, ingest.Unreadable},
	} {
		f := ingest.File{ID: tc.name, Path: filepath.Join(root, tc.name)}
		_, err := one(ingest.Read(t.Context(), f, &ingest.ReadOptions{MaxBytes: tc.max}))
		var skip *ingest.Skip
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("Read(%q, max %d): %v", tc.name, tc.max, err)
		case tc.want == "":
		case !errors.As(err, &skip) || skip.Reason != tc.want || skip.Path != f.Path:
			t.Errorf("Read(%q, max %d) gives %v, want a skip as %q", tc.name, tc.max, err, tc.want)
		case tc.want == ingest.Unreadable && !errors.Is(err, fs.ErrNotExist):
			t.Errorf("Read(%q) gives %v, want the cause in it", tc.name, err)
		}
	}
	if _, err := ingest.Load(t.Context(), ingest.File{}, &ingest.ReadOptions{MaxBytes: -1}); err == nil || !strings.Contains(err.Error(), "-1") {
		t.Errorf("max bytes of -1 gives %v", err)
	}
}

// A file that reports no size, as those of /proc do, is bounded all the same.
func TestLoadBoundsReading(t *testing.T) {
	const path = "/proc/self/environ"
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Skip("needs a file that is longer than it says")
	}
	_, err := ingest.Load(t.Context(), ingest.File{ID: "environ", Path: path}, &ingest.ReadOptions{MaxBytes: 1})
	var skip *ingest.Skip
	if !errors.As(err, &skip) || skip.Reason != ingest.TooLarge {
		t.Errorf("got %v, want a skip as too large", err)
	}
}

func TestLoadCanceled(t *testing.T) {
	root := tree(t, "a.txt")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := ingest.Load(ctx, ingest.File{ID: "a.txt", Path: filepath.Join(root, "a.txt")}, nil)
	if !errors.Is(err, context.Canceled) || errors.As(err, new(*ingest.Skip)) {
		t.Errorf("got %v, want it canceled", err)
	}
}
