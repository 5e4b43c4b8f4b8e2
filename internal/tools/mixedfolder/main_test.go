//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestTheSameFlagsWriteTheSameFiles(t *testing.T) {
	list := func() map[string]int64 {
		dir := filepath.Join(t.TempDir(), "mixed")
		if err := write(dir, 330, 0.2, 100, 7); err != nil {
			t.Fatal(err)
		}
		out := map[string]int64{}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, _ := filepath.Rel(dir, path)
			info, err := os.Lstat(path)
			out[rel] = info.Size()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first, second := list(), list()
	if len(first) != 330 {
		t.Errorf("%d files", len(first))
	}
	for name, size := range first {
		if second[name] != size {
			t.Errorf("%q has %d and %d bytes", name, size, second[name])
		}
	}
}
