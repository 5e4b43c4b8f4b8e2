package ingest_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/ingest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden compares each file of testdata with the .golden file beside it.
func TestGolden(t *testing.T) {
	for _, name := range inputs(t) {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			got, golden := "", filepath.Join("testdata", name+".golden")
			for l, err := range ingest.Parse(t.Context(), "folder/"+name, data, nil) {
				switch skip := (*ingest.Skip)(nil); {
				case errors.As(err, &skip):
					got += skip.Error() + "\n"
				case err != nil:
					t.Fatal(err)
				default:
					checkLoaded(t, data, l)
					got += describe(l)
				}
			}
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got (rewrite with -update):\n%s", diff)
			}
		})
	}
}

func inputs(t testing.TB) []string {
	t.Helper()
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if name := e.Name(); !e.IsDir() && !strings.HasSuffix(name, ".golden") && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	return names
}

// describe shows a document: its fields, then each line of the text with the
// bytes and lines of the file that it stands for.
func describe(l *ingest.Loaded) string {
	var b strings.Builder
	doc := l.Document
	if doc.ID != doc.Metadata["path"] {
		b.WriteString("its path is not its id\n")
	}
	fmt.Fprintf(&b, "title: %q\nsyntax: %q\n", doc.Title, doc.Syntax)
	for _, key := range slices.Sorted(maps.Keys(doc.Metadata)) {
		fmt.Fprintf(&b, "%s: %#v\n", key, doc.Metadata[key])
	}
	for _, h := range doc.Headings {
		fmt.Fprintf(&b, "h%d %v: %q\n", h.Level, h.Range, h.Title)
	}
	for _, table := range doc.Tables {
		fmt.Fprintf(&b, "table %v, header %q\n", table.Range, table.Header.Of(doc.Text))
	}
	for _, p := range doc.Places {
		fmt.Fprintf(&b, "place %v: %s\n", p.Range, p.Place)
	}
	at := 0
	for line := range strings.Lines(doc.Text) {
		file := doc.Source.Tile(chunker.Range{Start: at, End: at + len(line)})
		first, last := doc.Source.Lines(file)
		fmt.Fprintf(&b, "%v L%d-%d %q\n", file, first, last, line)
		at += len(line)
	}
	return b.String()
}
