package langchain_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/textsplitter"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/langchain"
)

func newSplitter(t testing.TB, syntax chunker.Syntax, opts chunker.Options) *langchain.TextSplitter {
	t.Helper()
	c, err := chunker.New(chunker.WordTokenizer{}, opts)
	if err != nil {
		t.Fatal(err)
	}
	s, err := langchain.NewTextSplitter(c, syntax)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// awkward are texts that splitters lose bytes of.
var awkward = []string{
	"", " ", "\n\n", "\uFEFF", "\uFEFF# Title\r\n\r\nA.\r\n\r\nB.", "before\x00after", "ab\xffcd\xfe", "\xff\xfe", "\x00", "cut \xe4\xb8",
	"  indented\n    more\n\ttab   \n", strings.Repeat("今天下雨。明天晴。", 60), strings.Repeat("x", 3000), strings.Repeat("a ", 200) + "\xff" + strings.Repeat("\x00b ", 200),
	"---\na: b\n---\n\n# Title\n\n- item\n\n  ```sh\n  code\n  ```\n\n5. five\n6. six\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nnever closed\n\n## Next\n",
}

func TestSplitterLosesNothing(t *testing.T) {
	for _, mode := range []chunker.Mode{chunker.Structure, chunker.Sentence, chunker.Fixed} {
		for _, syntax := range []chunker.Syntax{chunker.Plain, chunker.Markdown, chunker.Code} {
			s := newSplitter(t, syntax, chunker.Options{Mode: mode, MaxTokens: 8})
			for _, text := range awkward {
				pieces, err := s.SplitText(text)
				if err != nil {
					t.Errorf("%s, %s: %q: %v", mode, syntax, text, err)
				}
				if got := strings.Join(pieces, ""); got != text {
					t.Errorf("%s, %s: %q became %q", mode, syntax, text, got)
				}
			}
		}
	}
}

func TestSplitterCuts(t *testing.T) {
	s := newSplitter(t, chunker.Markdown, chunker.Options{MaxTokens: 8})
	got, err := s.SplitText("# One\n\nFirst text of it.\n\n# Two\n\nSecond text of it.\n")
	if err != nil {
		t.Fatal(err)
	}
	wantDiff(t, "pieces", []string{"# One\n\nFirst text of it.\n\n", "# Two\n\nSecond text of it.\n"}, got)
	empty, err := s.SplitText("")
	if err != nil || len(empty) != 0 {
		t.Errorf("the empty text: %q, %v", empty, err)
	}
}

func TestSplitterInLangchaingosSplitDocuments(t *testing.T) {
	s := newSplitter(t, chunker.Plain, chunker.Options{MaxTokens: 8})
	docs := []schema.Document{{PageContent: "One two three. Four five six. Seven eight nine.", Metadata: map[string]any{"k": "v"}}}
	got, err := textsplitter.SplitDocuments(s, docs)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(texts(got), "") != docs[0].PageContent || len(got) < 2 || got[1].Metadata["k"] != "v" {
		t.Errorf("pieces %q", texts(got))
	}
}

// broken is a chunker that breaks its contract.
type broken struct {
	chunks []chunker.Chunk
	err    error
}

func (b broken) Split(chunker.Document) ([]chunker.Chunk, error) { return b.chunks, b.err }

func TestSplitterOverABrokenChunker(t *testing.T) {
	at := func(start, end int) chunker.Chunk { return chunker.Chunk{Range: chunker.Range{Start: start, End: end}} }
	for want, b := range map[string]broken{
		"bytes 1-4 of 4": {chunks: []chunker.Chunk{at(1, 4)}},
		"bytes 0-9 of 4": {chunks: []chunker.Chunk{at(0, 9)}},
		"bytes 2-1 of 4": {chunks: []chunker.Chunk{at(0, 2), at(2, 1)}},
		"cut 2 bytes":    {chunks: []chunker.Chunk{at(0, 2)}},
		"cut 0 bytes":    {},
		"out of order":   {err: errors.New("out of order")},
	} {
		s, err := langchain.NewTextSplitter(b, chunker.Plain)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.SplitText("text")
		wantError(t, err, want)
	}
	_, err := langchain.NewTextSplitter(nil, chunker.Plain)
	wantError(t, err, "needs a chunker")
}

func FuzzSplitter(f *testing.F) {
	for _, text := range awkward {
		f.Add(text, uint8(8), false)
		f.Add(text, uint8(12), true)
	}
	f.Fuzz(func(t *testing.T, text string, size uint8, markdown bool) {
		syntax := chunker.Plain
		if markdown {
			syntax = chunker.Markdown
		}
		s := newSplitter(t, syntax, chunker.Options{MaxTokens: max(8, int(size))})
		pieces, err := s.SplitText(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(pieces, ""); got != text {
			t.Errorf("%q became %q", text, pieces)
		}
	})
}
