package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/retriever"
)

// Complaints from the trackers of other systems, by their numbers in
// docs/complaints.md, on the small inputs that show them.
func TestComplaints(t *testing.T) {
	for _, c := range []struct {
		name string
		test func(b *bench)
	}{
		{"2 which passage of a document won is not known", complaintWinner},
		{"3 indexing twice doubles every chunk", complaintTwice},
		{"4 what was deleted goes on answering", complaintStale},
		{"5 bad bytes and unusual metadata", complaintBadBytes},
		{"12 a long word never ends", complaintLongWord},
		{"14 text without spaces is one giant chunk", complaintNoSpaces},
		{"15 byte order mark and CRLF shift offsets", complaintLineEnds},
		{"16 Markdown loses code, tables and numbers", complaintMarkdown},
		{"17 an unclosed fence swallows the rest", complaintFence},
		{"22 empty files make obscure errors", complaintEmpty},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(newBench(t)) })
	}
}

func complaintWinner(b *bench) {
	var text strings.Builder
	for i := range 40 {
		if i == 31 {
			text.WriteString("The archive keeps its quagga in cabinet nine.\n\n")
			continue
		}
		fmt.Fprintf(&text, "Paragraph %d tells of ordinary things in an ordinary way.\n\n", i)
	}
	b.write("long.txt", text.String())
	b.index(IndexOptions{}, "1 added, 0 changed, 0 unchanged, 0 removed, 0 skipped")
	hits, err := b.Search(b.Context(), "quagga", SearchOptions{K: 1})
	if err != nil || len(hits) != 1 {
		b.Fatal(hits, err)
	}
	h := hits[0]
	at := strings.Index(text.String(), "The archive")
	if !strings.Contains(h.Source.Of(text.String()), "quagga") || h.Source.Start > at || h.Source.Len() > 200 || h.Lines.First > 63 || h.Lines.Last < 63 || h.Chunk == 0 {
		b.Errorf("hit %+v", h)
	}
}

func complaintTwice(b *bench) {
	b.write("a.md", "---\nb: 2\na: 1\n---\n\nThe lamp burns colza.")
	b.write("b.md", "The bridge carries lanes.")
	b.index(IndexOptions{}, "2 added, 0 changed, 0 unchanged, 0 removed, 0 skipped")
	before, err := b.Store.Stats(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.index(IndexOptions{}, "0 added, 0 changed, 2 unchanged, 0 removed, 0 skipped")
	if after, err := b.Store.Stats(b.Context()); err != nil || after.Documents != before.Documents || after.Chunks != before.Chunks {
		b.Errorf("%+v, then %+v, %v", before, after, err)
	}
	hits, err := b.Search(b.Context(), "lamp bridge", SearchOptions{K: 10})
	if err != nil {
		b.Fatal(err)
	}
	seen := map[string]bool{}
	for _, h := range hits {
		key := fmt.Sprint(h.Document, h.Range)
		if seen[key] {
			b.Errorf("%s comes twice", key)
		}
		seen[key] = true
	}
}

func complaintStale(b *bench) {
	b.write("facts.md", "The lamp burns colza.\n\nThe vault opens with a brass key.\n")
	b.write("gone.md", "The ferry leaves at dawn.\n")
	b.index(IndexOptions{}, "2 added, 0 changed, 0 unchanged, 0 removed, 0 skipped")
	b.write("facts.md", "The lamp burns colza.\n")
	if err := os.Remove(filepath.Join(b.dir, "gone.md")); err != nil {
		b.Fatal(err)
	}
	b.index(IndexOptions{}, "0 added, 1 changed, 0 unchanged, 1 removed, 0 skipped")
	for _, word := range []string{"brass", "ferry"} {
		if got := b.found(word); len(got) != 0 {
			b.Errorf("%s is still found in %q", word, got)
		}
	}
}

func complaintBadBytes(b *bench) {
	b.write("bad.txt", "caf\xe9 \x00 end of the lamp")
	b.index(IndexOptions{}, "1 added, 0 changed, 0 unchanged, 0 removed, 0 skipped")
	docs, err := b.Store.Fetch(b.Context(), []string{"bad.txt"}, retriever.Want{Text: true})
	if err != nil || len(docs) != 1 || !utf8.ValidString(docs[0].Text) || strings.Contains(docs[0].Text, "\x00") || !strings.HasSuffix(docs[0].Text, "end of the lamp") {
		b.Errorf("stored %+v, %v", docs, err)
	}
	good := chunker.Document{ID: "good", Text: "A text.", Metadata: map[string]any{"tags": []string{"a", "b"}, "year": int64(2031)}}
	if report, err := b.Add(b.Context(), good); err != nil || report.Added != 1 {
		b.Errorf("%+v, %v", report, err)
	}
	odd := chunker.Document{ID: "odd", Text: "A text.", Metadata: map[string]any{"when": time.Now()}}
	if _, err := b.Add(b.Context(), odd); err == nil || !strings.Contains(err.Error(), `"when"`) {
		b.Errorf("a time as metadata: %v, want an error that names the key", err)
	}
}

func complaintLongWord(b *bench) {
	b.write("key.txt", strings.Repeat("QmFzZTY0", 625)+"\n")
	b.index(IndexOptions{}, "1 added, 0 changed, 0 unchanged, 0 removed, 0 skipped")
	for _, opts := range []chunker.Options{{MaxTokens: 1}, {MaxTokens: -8}, {MaxBytes: 8}} {
		if _, err := chunker.New(chunker.WordTokenizer{}, opts); err == nil {
			b.Errorf("%+v is taken", opts)
		}
	}
}

func complaintNoSpaces(b *bench) {
	for name, sentence := range map[string]string{
		"chinese.txt": "今天下雨。明天晴。", "hindi.txt": "आज बारिश है। कल धूप होगी। ", "arabic.txt": "هل تمطر اليوم؟ نعم. ", "thai.txt": "วันนี้ฝนตกพรุ่งนี้แดดออก",
	} {
		text := strings.Repeat(sentence, 300)
		split, err := chunker.New(chunker.WordTokenizer{}, chunker.Options{MaxTokens: 64})
		if err != nil {
			b.Fatal(err)
		}
		chunks, err := split.Split(chunker.Document{Text: text})
		if err != nil || len(chunks) < 5 {
			b.Errorf("%s: %d chunks, %v", name, len(chunks), err)
		}
		for _, c := range chunks {
			if c.Tokens > 64 || c.Len() > 64*32 {
				b.Errorf("%s: a chunk of %d tokens and %d bytes", name, c.Tokens, c.Len())
			}
		}
		b.write(name, text)
	}
	b.index(IndexOptions{}, "4 added, 0 changed, 0 unchanged, 0 removed, 0 skipped")
}

func complaintLineEnds(b *bench) {
	file := "\ufeff# Title\r\n\r\nThe lamp burns colza.\r\n\r\n## Bridge\r\n\r\nThe bridge carries lanes.\r\n"
	b.write("windows.md", file)
	b.index(IndexOptions{}, "1 added, 0 changed, 0 unchanged, 0 removed, 0 skipped")
	docs, err := b.Store.Fetch(b.Context(), []string{"windows.md"}, retriever.Want{Text: true, Chunks: true})
	if err != nil || len(docs) != 1 || docs[0].Title != "Title" || strings.HasPrefix(docs[0].Text, "\ufeff") {
		b.Fatalf("stored %+v, %v", docs, err)
	}
	all := ""
	for _, c := range docs[0].Chunks {
		all += c.Source.Of(file)
		if text := c.Text.Of(docs[0].Text); !strings.HasSuffix(c.Source.Of(file), text) {
			b.Errorf("chunk %q stands at %q", text, c.Source.Of(file))
		}
	}
	if all != file {
		b.Errorf("the spans are %q", all)
	}
	hits, err := b.Search(b.Context(), "bridge", SearchOptions{K: 1})
	if err != nil || len(hits) != 1 || !strings.Contains(hits[0].Source.Of(file), "carries lanes") {
		b.Errorf("hits %+v, %v", hits, err)
	}
}

func complaintMarkdown(b *bench) {
	file := "---\ntitle: Steps\n---\n\n5. Install:\n\n   ```sh\n   make install\n   ```\n\n6. Look up:\n\n   | key | value |\n   |---|---|\n   | colour | teal |\n\n7. Done.\n"
	b.write("steps.md", file)
	b.index(IndexOptions{}, "1 added, 0 changed, 0 unchanged, 0 removed, 0 skipped")
	docs, err := b.Store.Fetch(b.Context(), []string{"steps.md"}, retriever.Want{Text: true, Chunks: true})
	if err != nil || len(docs) != 1 {
		b.Fatal(docs, err)
	}
	text := ""
	for _, c := range docs[0].Chunks {
		text += c.Text.Of(docs[0].Text)
	}
	if text != docs[0].Text || docs[0].Title != "Steps" {
		b.Errorf("title %q, text %q", docs[0].Title, text)
	}
	for _, kept := range []string{"5. Install", "make install", "| colour | teal |", "7. Done."} {
		if !strings.Contains(text, kept) {
			b.Errorf("%q is lost", kept)
		}
	}
	if strings.Contains(text, "title:") {
		b.Error("the front matter is text")
	}
}

func complaintFence(b *bench) {
	b.write("open.md", "# Start\n\n```py\nprint(1)\n\n## Next\n\nThe lamp burns colza.\n")
	b.index(IndexOptions{}, "1 added, 0 changed, 0 unchanged, 0 removed, 0 skipped")
	if got := b.found("colza"); len(got) != 1 {
		b.Errorf("what follows the fence is found in %q", got)
	}
}

func complaintEmpty(b *bench) {
	b.write("empty.txt", "")
	b.write("blank.txt", " \n\t\n")
	b.write("matter.md", "---\ntitle: only this\n---\n")
	report := b.index(IndexOptions{}, "0 added, 0 changed, 0 unchanged, 0 removed, 3 skipped")
	for _, s := range report.Skipped {
		if s.Reason == "" || filepath.Base(s.Path) == "" {
			b.Errorf("skipped %+v", s)
		}
	}
}

// TestEveryComplaintNamesATest holds docs/complaints.md to what there is.
func TestEveryComplaintNamesATest(t *testing.T) {
	page, err := os.ReadFile("../docs/complaints.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`go test \\./([a-z/0-9]+) -run (Test[A-Za-z]+)(/\\d+)?`").FindAllStringSubmatch(string(page), -1)
	if len(named) < 25 {
		t.Fatalf("%d tests are named", len(named))
	}
	for _, n := range named {
		files, err := filepath.Glob(filepath.Join("..", n[1], "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(source), "func "+n[2]+"(") && (n[3] == "" || strings.Contains(string(source), `{"`+n[3][1:]+" "))
		}
		if !found {
			t.Errorf("there is no test %s%s in %s", n[2], n[3], n[1])
		}
	}
}
