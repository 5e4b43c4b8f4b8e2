package chunker

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the wanted chunks in testdata")

// golden is one file of testdata; its README describes the format.
type golden struct {
	head string // the settings as written
	text string // the text as written
	opts Options
	doc  Document
}

const textMark, wantMark = "-- text --\n", "-- want --\n"

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			rest, want, ok := strings.Cut(string(data), wantMark)
			if !ok && !*update {
				t.Fatalf("no line %q", wantMark)
			}
			g, err := parseGolden(rest)
			if err != nil {
				t.Fatal(err)
			}
			chunks := split(t, g.opts, g.doc)
			checkChunks(t, WordTokenizer{}, g.opts, g.doc, chunks)
			got := formatChunks(g.doc.Text, chunks)
			if *update {
				if err := os.WriteFile(file, []byte(g.head+textMark+g.text+wantMark+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("chunks (-want +got):\n%s", diff)
			}
		})
	}
}

func parseGolden(data string) (golden, error) {
	head, text, ok := strings.Cut(data, textMark)
	if !ok {
		return golden{}, fmt.Errorf("no line %q", textMark)
	}
	g := golden{head: head, text: text}
	lineBreak, repeat := "\n", 1
	for l := range strings.Lines(head) {
		if strings.HasPrefix(l, "#") {
			continue
		}
		key, value, _ := strings.Cut(strings.TrimSpace(l), ": ")
		var err error
		switch key {
		case "mode":
			g.opts.Mode = Mode(value)
		case "tokens":
			g.opts.MaxTokens, err = strconv.Atoi(value)
		case "bytes":
			g.opts.MaxBytes, err = strconv.Atoi(value)
		case "syntax":
			g.doc.Syntax = Syntax(value)
		case "repeat":
			repeat, err = strconv.Atoi(value)
		case "break":
			lineBreak, err = strconv.Unquote(value)
		default:
			err = fmt.Errorf("unknown setting")
		}
		if err != nil {
			return golden{}, fmt.Errorf("%q: %w", l, err)
		}
	}
	g.doc.Text = strings.Repeat(strings.ReplaceAll(text, "\n", lineBreak), repeat)
	return g, nil
}

// formatChunks shows each line of each chunk as a Go string.
func formatChunks(text string, chunks []Chunk) string {
	var b strings.Builder
	for _, c := range chunks {
		fmt.Fprintf(&b, "%d: bytes %s, tokens %d, headings %q\n", c.Index, c.Range, c.Tokens, c.Headings)
		for l := range linesOf(text, c.Range) {
			fmt.Fprintf(&b, "\t%q\n", l.Of(text))
		}
	}
	return b.String()
}

func split(t testing.TB, opts Options, doc Document) []Chunk {
	t.Helper()
	c, err := New(WordTokenizer{}, opts)
	if err != nil {
		t.Fatal(err)
	}
	chunks, err := c.Split(doc)
	if err != nil {
		t.Fatal(err)
	}
	return chunks
}
