//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// hostiles are files that have stopped or misled some indexer. They are no larger than
// it takes: what is read of them is encoded like any other text.
var hostiles = []func(*writer) error{
	func(w *writer) error { return w.file("txt", nil) },
	func(w *writer) error { return w.file("txt", bytes.Repeat([]byte{0}, 5000)) },
	func(w *writer) error { return w.file("md", w.noise(5000)) },
	func(w *writer) error {
		return w.file("txt", append([]byte("\xff\xfe\xfdbad \xc3\x28 bytes. "), w.text()...))
	},
	func(w *writer) error { return w.file("txt", bytes.Repeat([]byte("a"), 1<<20)) }, // one word
	func(w *writer) error { return w.file("html", bytes.Repeat([]byte("<div>"), 20_000)) },
	func(w *writer) error { return w.file("html", bytes.Repeat([]byte("<table><tr><td>"), 20_000)) },
	func(w *writer) error { return w.file("json", bytes.Repeat([]byte("["), 20_000)) },
	func(w *writer) error {
		return w.file("jsonl", []byte("{\"text\": \"good line\"}\n{broken\n\n{\"text\": 7}\n"))
	},
	func(w *writer) error { return w.file("md", bytes.Repeat([]byte("> "), 10_000)) },
	func(w *writer) error {
		return w.file("md", []byte("---\n"+strings.Repeat("a: &a [*a]\n", 100)+"---\n"+w.text()))
	},
	func(w *writer) error {
		return w.file("csv", []byte("a,b\n\"never closed,"+strings.Repeat("x,\n", 5_000)))
	},
	func(w *writer) error { return w.file("docx", []byte("this is no archive")) },
	func(w *writer) error { // cut short
		data, err := archive(w.word2007())
		return join(err, func() error { return w.file("docx", data[:len(data)/2]) })
	},
	func(w *writer) error { // entities that multiply
		return w.zipped("docx", map[string]string{"word/document.xml": `<!DOCTYPE d [<!ENTITY a "` + strings.Repeat("x", 1000) + `"><!ENTITY b "` + strings.Repeat("&a;", 1000) + `">]><d>&b;</d>`})
	},
	func(w *writer) error {
		return w.zipped("zip", map[string]string{"../../escape.txt": w.text(), "/etc/absolute.txt": w.text(), `c:\windows.txt`: w.text()})
	},
	func(w *writer) error {
		return w.zipped("zip", map[string]string{"bomb.txt": strings.Repeat("0", 64<<20)})
	},
	func(w *writer) error { // archives in each other
		data, err := archive(map[string]string{"a.txt": w.text()})
		for range 12 {
			if err == nil {
				data, err = archive(map[string]string{"inner.zip": string(data)})
			}
		}
		return join(err, func() error { return w.file("zip", data) })
	},
	func(w *writer) error {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err := z.Write(make([]byte, 64<<20))
		return join(err, z.Close, func() error { return w.file("txt.gz", b.Bytes()) })
	},
	func(w *writer) error {
		return w.file("pdf", []byte("%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 1 0 R >>\nendobj\n"))
	},
	func(w *writer) error { return w.file("pdf", append([]byte("%PDF-1.4\n"), w.noise(5000)...)) },
	func(w *writer) error { return w.file("eml", []byte(strings.Repeat("X-Header: a\n", 20_000)+"\nbody")) },
	func(w *writer) error { // parts that contain themselves
		return w.file("eml", []byte("Content-Type: multipart/mixed; boundary=b\n\n"+strings.Repeat("--b\nContent-Type: multipart/mixed; boundary=b\n\n", 5000)))
	},
	func(w *writer) error { return w.file("ipynb", []byte(`{"cells": "none", "nbformat": 4}`)) },
	func(w *writer) error {
		return w.file("srt", []byte(strings.Repeat("1\n99:99:99,999 --> 00:00:00,000\n", 5000)))
	},
	func(w *writer) error { return w.named(strings.Repeat("n", 200)+"\n\x1b[31m.txt", []byte(w.text())) },
	func(w *writer) error { return w.named("bad \xff name.txt", []byte(w.text())) },
	func(w *writer) error { return os.Symlink("..", w.path("loop")) },
	func(w *writer) error { return os.Symlink("nowhere.txt", w.path("dangling.txt")) },
	func(w *writer) error { return syscall.Mkfifo(w.path("pipe.txt"), 0o644) },
	func(w *writer) error {
		return join(w.file("locked.txt", []byte(w.text())), func() error { return os.Chmod(w.path("locked.txt"), 0) })
	},
}

// path is that of a special file.
func (w *writer) path(name string) string {
	return filepath.Join(w.dir, w.folder, fmt.Sprintf("%05d.%s", w.number, name))
}

func (w *writer) noise(size int) []byte {
	out := make([]byte, size)
	for i := range out {
		out[i] = byte(w.random.Uint32())
	}
	return out
}

func sorted(members map[string]string) []string { return slices.Sorted(maps.Keys(members)) }
