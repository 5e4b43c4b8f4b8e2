//go:build cgo && onnx

package onnx

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// minRuntime is the release whose C interface onnxruntime_go is compiled for.
const minRuntime = "1.24"

// candidates returns the libraries to try in order, and where it looked.
func candidates(library string) (paths, searched []string) {
	if library != "" {
		if info, err := os.Stat(library); err == nil && info.IsDir() {
			return inFolder(library), []string{library}
		}
		return []string{library}, nil
	}
	if exe, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
		dir := filepath.Dir(exe)
		searched = append(searched, dir, filepath.Join(filepath.Dir(dir), "lib"))
	}
	searched = append(searched, "/usr/local/lib", "/usr/lib", "/usr/lib64")
	switch runtime.GOOS + "/" + runtime.GOARCH {
	case "linux/amd64":
		searched = append(searched, "/usr/lib/x86_64-linux-gnu")
	case "linux/arm64":
		searched = append(searched, "/usr/lib/aarch64-linux-gnu")
	case "darwin/arm64":
		searched = append(searched, "/opt/homebrew/lib")
	}
	for _, dir := range searched {
		paths = append(paths, inFolder(dir)...)
	}
	return paths, searched
}

// inFolder returns the ONNX Runtime libraries in a folder: the one without a
// version in its name first, then from the newest to the oldest.
func inFolder(dir string) []string {
	var found []string
	for _, pattern := range []string{"libonnxruntime.so*", "libonnxruntime*.dylib"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err == nil { // else dir holds glob characters, and nothing is found in it
			found = append(found, names...)
		}
	}
	slices.SortFunc(found, func(a, b string) int {
		va, vb := version(a), version(b)
		if len(va) == 0 || len(vb) == 0 {
			return len(va) - len(vb)
		}
		return slices.Compare(vb, va)
	})
	return found
}

// version is the numbers in a library's file name.
func version(path string) (v []int) {
	for part := range strings.SplitSeq(filepath.Base(path), ".") {
		if n, err := strconv.Atoi(part); err == nil {
			v = append(v, n)
		}
	}
	return v
}
