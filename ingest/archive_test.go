package ingest_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/waymark-rag/waymark/ingest"
)

func gzipped(t testing.TB, data string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(data)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// zipped makes an archive of names and contents.
func zipped(t testing.TB, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.Create(files[i])
		if err == nil {
			_, err = f.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func tarred(t testing.TB, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		err := w.WriteHeader(&tar.Header{Name: files[i], Size: int64(len(files[i+1])), Mode: 0o644})
		if err == nil {
			_, err = w.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstded(t testing.TB, data string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(data), nil))
}

// outcome lists the ids of the documents and the reasons of skips.
func outcome(t *testing.T, name, data string, opts *ingest.ReadOptions) []string {
	t.Helper()
	var out []string
	for l, err := range ingest.Parse(t.Context(), name, []byte(data), opts) {
		var skip *ingest.Skip
		switch {
		case errors.As(err, &skip):
			out = append(out, skip.Path+": "+string(skip.Reason))
		case err != nil:
			t.Fatal(err)
		default:
			checkLoaded(t, []byte(data), l)
			out = append(out, l.Document.ID+" "+l.Document.Text)
		}
	}
	return out
}

func TestArchives(t *testing.T) {
	xz, err := os.ReadFile(filepath.Join("testdata", "letter.md.xz"))
	if err != nil {
		t.Fatal(err)
	}
	const bz = "BZh91AY&SY\x29\x1c\x58\x0e\x00\x00\x01\x11\x80\x40\x00\x22\x04\x00\x00"
	files := []string{"a.txt", "A", "b/c.md", "C"}
	bomb := strings.Repeat("\x00", 1<<20)
	deep := "text"
	for range 4 {
		deep = gzipped(t, deep)
	}
	for _, tc := range []struct {
		name, data string
		opts       *ingest.ReadOptions
		want       []string
	}{
		{"f.txt.gz", gzipped(t, "A"), nil, []string{"f.txt.gz A"}},
		{"f.json.gz", gzipped(t, "{\"_id\": 1, \"text\": \"A\"}\n{\"_id\": 2, \"text\": \"B\"}"), nil, []string{"f.json.gz/1 A", "f.json.gz/2 B"}},
		{"f.pdf.gz", gzipped(t, "A"), nil, []string{"f.pdf.gz: damaged"}},
		{"f.txt.zst", zstded(t, "A"), nil, []string{"f.txt.zst A"}},
		{"f.tgz", gzipped(t, tarred(t, files...)), nil, []string{"f.tgz/a.txt A", "f.tgz/b/c.md C"}},
		{"f.tar.zst", zstded(t, tarred(t, files...)), nil, []string{"f.tar.zst/a.txt A", "f.tar.zst/b/c.md C"}},
		{"f.tar", tarred(t, files...), nil, []string{"f.tar/a.txt A", "f.tar/b/c.md C"}},
		{"f.zip", zipped(t, files...), nil, []string{"f.zip/a.txt A", "f.zip/b/c.md C"}},

		// Told by their content.
		{"f", zipped(t, files...), nil, []string{"f/a.txt A", "f/b/c.md C"}},
		{"f", tarred(t, files...), nil, []string{"f/a.txt A", "f/b/c.md C"}},
		{"f", gzipped(t, "A"), nil, []string{"f A"}},
		{"f", zstded(t, "A"), nil, []string{"f A"}},
		{"f", string(xz), nil, []string{"f # Letter\n\nPacked small.\n"}},
		{"f", "BZh is how this sentence starts", nil, []string{"f BZh is how this sentence starts"}},
		{"f", zipped(t, "META-INF/MANIFEST.MF", "x"), nil, []string{"f: unsupported format"}},
		{"f.unknown", zipped(t, "AndroidManifest.xml", "x"), nil, []string{"f.unknown: unsupported format"}},

		// What is left out.
		{"f.zip", zipped(t, ".git/config", "x", "__MACOSX/a.txt", "x", "node_modules/a.js", "x"), nil, []string{"f.zip: empty"}},
		{"f.zip", zipped(t), nil, []string{"f.zip: empty"}},
		{"f.zip", "no archive", nil, []string{"f.zip: damaged"}},
		{"f.tar", "no archive", nil, []string{"f.tar: damaged"}},
		{"f.gz", "no archive", nil, []string{"f.gz: damaged"}},
		{"f.bz2", bz, nil, []string{"f.bz2: damaged"}},
		{"f.xz", "no archive", nil, []string{"f.xz: damaged"}},
		{"f.zst", "no archive", nil, []string{"f.zst: damaged"}},
		{"f.tgz", gzipped(t, tarred(t, files...)[:1100]), nil, []string{"f.tgz/a.txt A", "f.tgz: damaged"}},
		{"f.txt.gz", gzipped(t, "A long text")[:20], nil, []string{"f.txt.gz: damaged"}},

		// What would fill the memory.
		{"f.gz", gzipped(t, bomb), &ingest.ReadOptions{MaxBytes: 1 << 19}, []string{"f.gz: too large"}},
		{"f.zip", zipped(t, "a.txt", "A", "b.txt", bomb, "c.txt", "C"), &ingest.ReadOptions{MaxBytes: 1 << 19}, []string{"f.zip/a.txt A", "f.zip/b.txt: too large", "f.zip/c.txt C"}},
		{"f.zip", zipped(t, "a.txt", "A", "b.txt", bomb, "c.txt", "C"), &ingest.ReadOptions{MaxUnpacked: 1 << 19}, []string{"f.zip/a.txt A", "f.zip/b.txt: too large", "f.zip/c.txt: too large"}},
		{"f.tgz", gzipped(t, tarred(t, "a.txt", bomb, "b.txt", "B")), &ingest.ReadOptions{MaxBytes: 1 << 19}, []string{"f.tgz/a.txt: too large", "f.tgz/b.txt B"}},
		{"f.zip", zipped(t, files...), &ingest.ReadOptions{MaxMembers: 1}, []string{"f.zip/a.txt A", "f.zip: too large"}},
		{"f.zip", zipped(t, "a.json", "{}", "b.eml", "Subject: B\n\nB", "c.txt", "C"), &ingest.ReadOptions{MaxMembers: 3}, []string{"f.zip/a.json {}", "f.zip/b.eml B", "f.zip/c.txt C"}},
		{"f", deep, nil, []string{"f: too many archives in each other"}},
		{"f", deep, &ingest.ReadOptions{MaxDepth: 4}, []string{"f text"}},
	} {
		if diff := cmp.Diff(tc.want, outcome(t, tc.name, tc.data, tc.opts)); diff != "" {
			t.Errorf("%s %.20q: -want +got:\n%s", tc.name, tc.data, diff)
		}
	}
}

// A name in an archive leads to nothing outside of it.
func TestArchiveNames(t *testing.T) {
	for name, want := range map[string]string{
		"a/b.txt": "a/b.txt", "./a.txt": "a.txt", "a//b/./c.txt": "a/b/c.txt", "../../a.txt": "a.txt", "a/../../../b.txt": "b.txt",
		"/etc/passwd": "etc/passwd", `..\..\a.txt`: "a.txt", `C:\docs\a.txt`: "C:/docs/a.txt", "a\nb.txt": "a_b.txt", "caf\xe9.txt": "café.txt",
		"100%41.txt": "100%2541.txt", "\x83\x65\x83\x58\x83\x67\x93\xfa\x96\x7b\x8c\xea.txt": "テスト日本語.txt",
	} {
		got := outcome(t, "f.zip", zipped(t, name, "text"), nil)
		if diff := cmp.Diff([]string{"f.zip/" + want + " text"}, got); diff != "" {
			t.Errorf("%q: -want +got:\n%s", name, diff)
		}
	}
}

// FuzzArchive reads anything as an archive of each kind, within small limits.
func FuzzArchive(f *testing.F) {
	names := []string{"a.zip", "a.tar", "a.tgz", "a.xz", "a.zst", "a.bz2"}
	files := []string{"a.txt", "A", "../b.jsonl", "{\"text\": \"x\"}"}
	for i, data := range []string{zipped(f, files...), tarred(f, files...), gzipped(f, tarred(f, files...)), "\xfd7zXZ\x00", zstded(f, "text"), "BZh91AY&SY"} {
		f.Add(uint8(i), []byte(data))
	}
	opts := &ingest.ReadOptions{MaxBytes: 1 << 16, MaxUnpacked: 1 << 18, MaxMembers: 20}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		name := names[int(which)%len(names)]
		for l, err := range ingest.Parse(t.Context(), name, data, opts) {
			var skip *ingest.Skip
			if err == nil {
				checkLoaded(t, []byte("\x1f\x8b"), l) // its bytes are not those of data
				if id := l.Document.ID; id != name && (!strings.HasPrefix(id, name+"/") || strings.Contains(fmt.Sprint("/", id, "/"), "/../")) {
					t.Errorf("id %q", id)
				}
			} else if !errors.As(err, &skip) {
				t.Fatal(err)
			}
		}
	})
}
