package eval

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden report anew")

// small is a report of two systems on the harbour set and on a set without spans,
// with values that were made up.
func small(t *testing.T) *Report {
	t.Helper()
	one := read(t, harbour, ReadOptions{})
	two := &Set{Name: "short", Documents: one.Documents, Queries: []Query{{ID: "a", Gains: map[string]int{"tides": 1}}, {ID: "b", Gains: map[string]int{"ferry": 1}}}}
	rank := func(first ...string) (out []Ranking) {
		for _, id := range first {
			out = append(out, Ranking{Documents: []Scored{{id, 1}, {"quay", 0.5}}, Passages: []Passage{{id, one.Queries[0].Spans["tides"][0]}}})
		}
		return out
	}
	r := &Report{Settings: []Setting{{"model", "made up | by hand"}}, Against: "both+bm25"}
	r.Sets = []SetReport{
		{Set: one, Chunks: 12, Results: []*Result{score(one, "chunk", rank("tides", "crane", "crane")), score(one, "both+bm25", rank("tides", "crane", "ferry")), score(one, "chunk-x2", rank("ferry", "crane", "ferry"))}},
		{Set: two, Results: []*Result{score(two, "chunk", rank("crane", "ferry")), score(two, "both+bm25", rank("crane", "crane"))}},
	}
	r.Answers = []*AnswerResult{{Set: one, Model: "extractive", Values: [][]float64{{1, 1, 0.5, 0, 0.25, 1}, {1, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}}}}
	r.Tuning = &Tuning{Set: "harbour", Metric: "hit@1", Trials: []Trial{{Weights: Trial{}.Weights, Lexical: 0.5, Value: 0.75}, {Lexical: -1, Value: 0.5}}}
	return r
}

func TestMarkdownGolden(t *testing.T) {
	var b bytes.Buffer
	if err := small(t).Markdown(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "report.md")
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("go test -update writes it anew; want -, got +:\n%s", d)
	}
}

// TestHTML reads the page as XML would: nothing left open, plots inside, and no
// address of anything outside.
func TestHTML(t *testing.T) {
	r := small(t)
	r.Settings = append(r.Settings, Setting{"hostile", `<script>alert("x")</script>`})
	r.Sets[1].Name = "<b>short & sweet"
	var b bytes.Buffer
	if err := r.HTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, part := range []string{"<td>.667 ±", "&lt;script&gt;", "<svg", "where the answer begins in its document", "neighbouring chunks that make one", "tuned on harbour"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %q", part)
		}
	}
	for _, part := range []string{"<script", "src=", "href=\"http", "<b>short", "@import"} {
		if strings.Contains(page, part) {
			t.Errorf("the page has a %q", part)
		}
	}
	for _, c := range r.charts() {
		svg, err := c.svg()
		if err != nil {
			t.Fatal(err)
		}
		dec := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("plot %s: %v", c.title, err)
			}
		}
	}
}

// TestFilesAndChanges writes a report, changes a ranking and compares.
func TestFilesAndChanges(t *testing.T) {
	dir := t.TempDir()
	r := small(t)
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	values, err := os.ReadFile(filepath.Join(dir, "harbour", "chunk.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	want := "query\tnDCG@10\trecall@10\trecall@100\tMRR\tMAP\thit@1\thit@5\tIoU@1\tIoU@5\n" +
		"q1\t1.0000000\t1.0000000\t1.0000000\t1.0000000\t1.0000000\t1.0000000\t1.0000000\t1.0000000\t1.0000000\n" +
		"q2\t1.0000000\t1.0000000\t1.0000000\t1.0000000\t1.0000000\t0.0000000\t0.0000000\t0.0000000\t0.0000000\n" +
		"q3\t0.0000000\t0.0000000\t0.0000000\t0.0000000\t0.0000000\t0.0000000\t0.0000000\t0.0000000\t0.0000000\n"
	if d := cmp.Diff(want, string(values)); d != "" {
		t.Errorf("values: want -, got +:\n%s", d)
	}
	for _, name := range []string{"report.md", "report.html", "harbour/chunk.trec", "harbour/answers.tsv", "short/both+bm25.tsv"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}

	before, err := ReadBefore(dir, "harbour", "chunk")
	if err != nil {
		t.Fatal(err)
	}
	now := r.Sets[0].Results[0]
	if changes := now.Since(before); len(changes) != 0 {
		t.Errorf("nothing changed, and yet %+v", changes)
	}
	now.Values[2][0] = 0.5
	now.Values[1][0] = 0.75
	delete(before, "q1")
	before["gone"] = map[string]float64{}
	c := now.Since(before)
	if len(c) != len(Metrics) || c[0].Metric != "nDCG@10" || c[0].Missing != 2 || c[0].Better != 1 || c[0].Worse != 1 || c[0].Value != 0.125 {
		t.Fatalf("changes %+v", c)
	}
	if d := cmp.Diff([]Changed{{"q3", 0, 0.5}, {"q2", 1, 0.75}}, c[0].Queries); d != "" {
		t.Errorf("questions: want -, got +:\n%s", d)
	}
	if _, err := ReadBefore(dir, "harbour", "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a system that was not run: %v", err)
	}
	r.Changes = c
	var b bytes.Buffer
	if err := r.Markdown(&b); err != nil || !strings.Contains(b.String(), "| harbour | chunk | nDCG@10 | q3 | .000 | .500 |") {
		t.Errorf("error %v, no line for q3 in\n%s", err, b.String())
	}
}

func FuzzParseBefore(f *testing.F) {
	f.Add("query\tnDCG@10\nq1\t0.5\nq2\t\n")
	f.Fuzz(func(t *testing.T, text string) {
		before, err := parseBefore(strings.NewReader(text))
		if err != nil {
			return
		}
		s := &Set{Queries: []Query{{ID: "q1"}}}
		score(s, "x", make([]Ranking, 1)).Since(before)
	})
}
