//go:build cgo && onnx

package onnx

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/models"
)

// libraryFolder is a new folder with ONNX Runtime under the given name.
func libraryFolder(t *testing.T, name string) string {
	t.Helper()
	path := runtimeLibrary()
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "libonnxruntime.so")
	}
	real, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(real, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestOpenFindsLibrary(t *testing.T) {
	dir := libraryFolder(t, "libonnxruntime.so.1.32.0")
	for name, path := range map[string]string{"file": filepath.Join(dir, "libonnxruntime.so.1.32.0"), "folder": dir} {
		m, err := Open(context.Background(), models.Default(), &Options{Runtime: ONNXRuntime, Library: path, Threads: 1})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !strings.Contains(m.Runtime, dir) || !strings.Contains(m.Runtime, "ONNX Runtime 1.") {
			t.Errorf("%s: runtime %q, want its release and %q", name, m.Runtime, dir)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenWithoutLibrary(t *testing.T) {
	fake := filepath.Join(t.TempDir(), "libonnxruntime.so")
	if err := os.WriteFile(fake, []byte("not a library"), 0o644); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	for _, c := range []struct{ name, library, word string }{
		{"no such file", filepath.Join(empty, "libonnxruntime.so"), "libonnxruntime.so"},
		{"folder without it", empty, empty},
		{"not a library", fake, "may be older"},
		{"another library", "libm.so.6", "OrtGetApiBase"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(context.Background(), models.Default(), &Options{Runtime: ONNXRuntime, Library: c.library})
			if !errors.Is(err, ErrLibrary) {
				t.Fatalf("error %v, want ErrLibrary", err)
			}
			for _, word := range []string{c.word, "1.24", "make deps", "WAYMARK_ONNXRUNTIME"} {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("error %q, want it to say %q", err, word)
				}
			}
		})
	}
}

// TestSecondLibrary holds that a library is not silently another than asked for.
func TestSecondLibrary(t *testing.T) {
	first := openWith(t, ONNXRuntime, 1)
	second, err := Open(context.Background(), models.Default(), &Options{Runtime: ONNXRuntime, Library: libraryFolder(t, "libonnxruntime.so"), Threads: 1})
	if err == nil {
		second.Close()
		t.Fatalf("opened with %s while %s was loaded", second.Runtime, first.Runtime)
	}
	if !strings.Contains(err.Error(), "already loaded") {
		t.Errorf("error %q, want it to say that another is loaded", err)
	}
}

func TestCandidates(t *testing.T) {
	paths, searched := candidates("")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if len(searched) < 3 || searched[0] != filepath.Dir(exe) {
		t.Errorf("searched %q, want the executable's folder %q first", searched, filepath.Dir(exe))
	}
	for _, p := range paths {
		if !strings.Contains(filepath.Base(p), "onnxruntime") {
			t.Errorf("candidate %q", p)
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"libonnxruntime.so.1.9.0", "libonnxruntime.so.1.24.4", "libonnxruntime.so", "libonnxruntime.so.1.23.2", "libother.so"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, p := range inFolder(dir) {
		got = append(got, filepath.Base(p))
	}
	want := []string{"libonnxruntime.so", "libonnxruntime.so.1.24.4", "libonnxruntime.so.1.23.2", "libonnxruntime.so.1.9.0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order differs (-want +got):\n%s", diff)
	}
}
