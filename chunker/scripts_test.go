package chunker

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestGoldPassagesOfOtherScriptsStayTogether cuts Chinese articles, whose gold
// passages are known by their bytes, and Hindi paragraphs, each a gold passage, and
// counts the cuts inside of gold passages.
func TestGoldPassagesOfOtherScriptsStayTogether(t *testing.T) {
	data := filepath.Join("..", "..", "shared", "data", "eval")
	if _, err := os.Stat(data); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("the evaluation sets are not here: %v", err)
		}
		t.Skipf("without the evaluation sets: %v", err)
	}
	for set, opts := range map[string]Options{
		// A model that knows Chinese has about a token for one and a half characters,
		// where WordTokenizer has one each. With 128 of those, even chunks that began
		// with every passage would cut each 1.3 times.
		"xquad_articles_zh": {MaxTokens: 192},
		"xquad_hi":          {},
	} {
		texts := map[string]string{}
		for line := range lines(t, filepath.Join(data, set, "corpus.jsonl")) {
			var d struct {
				ID   string `json:"_id"`
				Text string `json:"text"`
			}
			if err := json.Unmarshal([]byte(line), &d); err != nil {
				t.Fatal(err)
			}
			texts[d.ID] = d.Text
		}
		gold := map[string]map[Range]bool{} // a passage answers several questions
		if set == "xquad_hi" {
			for id, text := range texts {
				gold[id] = map[Range]bool{{0, len(text)}: true}
			}
		} else {
			for line := range lines(t, filepath.Join(data, set, "qrels", "spans.tsv")) {
				f := strings.Split(line, "\t")
				start, err1 := strconv.Atoi(f[4])
				end, err2 := strconv.Atoi(f[5])
				if err1 != nil || err2 != nil {
					continue // the names of the columns
				}
				if gold[f[1]] == nil {
					gold[f[1]] = map[Range]bool{}
				}
				gold[f[1]][Range{start, end}] = true
			}
		}
		passages, cuts := 0, 0
		for id, text := range texts {
			doc := Document{Text: text}
			chunks := split(t, opts, doc)
			checkChunks(t, WordTokenizer{}, opts, doc, chunks)
			for g := range gold[id] {
				passages++
				for _, c := range chunks {
					if c.Start > g.Start && c.Start < g.End {
						cuts++
					}
				}
			}
		}
		t.Logf("%s: %d gold passages, %d cuts in them, %.2f each", set, passages, cuts, float64(cuts)/float64(passages))
		if passages == 0 || cuts > passages {
			t.Errorf("%s: %d cuts in %d gold passages, want no more than one each on average", set, cuts, passages)
		}
	}
}

// lines yields the lines of a file.
func lines(t *testing.T, path string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		in := bufio.NewScanner(f)
		in.Buffer(nil, 1<<24)
		for in.Scan() {
			if !yield(in.Text()) {
				return
			}
		}
		if err := in.Err(); err != nil {
			t.Fatal(err)
		}
	}
}
