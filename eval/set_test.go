package eval

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/chunker"
)

const harbour = "testdata/sets/harbour"

func read(t *testing.T, dir string, opts ReadOptions) *Set {
	t.Helper()
	s, err := Read(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRead(t *testing.T) {
	s := read(t, harbour, ReadOptions{})
	if s.Name != "harbour" || len(s.Documents) != 3 || !s.HasSpans() || !strings.HasPrefix(s.Documents[0].Text, "High water") {
		t.Errorf("read %+v", s)
	}
	want := []Query{
		{ID: "q1", Text: "when do spring tides follow the full moon", Gains: map[string]int{"tides": 2, "ferry": 0}, Answers: []string{"by two days"},
			Spans: map[string][]chunker.Range{"tides": {{Start: 87, End: 133}}}},
		{ID: "q2", Text: "how many tonnes lifts the old crane", Gains: map[string]int{"crane": 1}, Answers: []string{"nine", "nine tonnes"},
			Spans: map[string][]chunker.Range{"crane": {{Start: 0, End: 32}}}},
		{ID: "q3", Text: "what costs a ticket", Gains: map[string]int{"ferry": 1}, Answers: []string{"four crowns"},
			Spans: map[string][]chunker.Range{"ferry": {{Start: 42, End: 69}}}},
	}
	if d := cmp.Diff(want, s.Queries); d != "" {
		t.Errorf("questions: want -, got +:\n%s", d)
	}
}

// write makes a set of files; those not given are small and right.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{
		"corpus.jsonl":   `{"_id": "d", "title": "Head", "text": "Body."}`,
		"queries.jsonl":  `{"_id": "q", "text": "what?"}`,
		"qrels/test.tsv": "query-id\tcorpus-id\tscore\nq\td\t1\n",
	}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReadPutsTitlesInFront(t *testing.T) {
	s := read(t, write(t, nil), ReadOptions{})
	if d := s.Documents[0]; d.Text != "Head\nBody." || d.Title != "" {
		t.Errorf("without spans: %+v", d)
	}
	s = read(t, write(t, map[string]string{"qrels/spans.tsv": "query-id\tcorpus-id\tstart_byte\tend_byte\nq\td\t0\t5\n"}), ReadOptions{})
	if d := s.Documents[0]; d.Text != "Body." || d.Title != "Head" {
		t.Errorf("with spans: %+v", d)
	}
}

func TestReadSetErrors(t *testing.T) {
	header := "query-id\tcorpus-id\tstart_byte\tend_byte\n"
	for _, test := range []struct{ file, text, want string }{
		{"corpus.jsonl", `{"_id": 7}`, `want {"_id": "...", "title": "...", "text": "..."}`},
		{"corpus.jsonl", "{}", `line 1: no "_id": want one for every line`},
		{"corpus.jsonl", `{"_id": "a b"}`, "want one without white space, which TREC's files cannot hold"},
		{"corpus.jsonl", "{\"_id\": \"d\"}\n\n{\"_id\": \"d\"}", `line 3: _id "d" was there before`},
		{"queries.jsonl", `{"_id": "q", "text": " "}`, `question "q" has no text`},
		{"queries.jsonl", `{"_id": "q", "text": "x", "metadata": {"answer": 4}}`, "metadata.answer 4: want a string or a list of strings"},
		{"qrels/test.tsv", "query-id\tcorpus-id\tscore\nother\td\t1\n", "none of 1 questions has a judgement in qrels/test.tsv"},
		{"qrels/test.tsv", "query-id\tcorpus-id\tscore\nq\td\tyes\n", `judgement "yes": want a whole number`},
		{"qrels/spans.tsv", header + "q\td\t0\t6\n", `bytes "0" to "6" of document "d", whose text has 5: want a range inside of it`},
		{"qrels/spans.tsv", header + "q\td\t3\t3\n", "want a range inside of it"},
		{"qrels/spans.tsv", "query-id\tcorpus-id\tstart\tend\n", `the header has no column "start_byte"`},
	} {
		_, err := Read(write(t, map[string]string{test.file: test.text}), ReadOptions{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %q: error %v, want %q in it", test.file, test.text, err, test.want)
		}
	}
	if _, err := Read(t.TempDir(), ReadOptions{}); err == nil || !strings.Contains(err.Error(), "want a BEIR folder with corpus.jsonl, queries.jsonl and qrels/test.tsv") {
		t.Errorf("empty folder: %v", err)
	}
}

// TestSample holds the order that training/waymark_training/sample.py draws too.
func TestSample(t *testing.T) {
	var queries, qrels strings.Builder
	qrels.WriteString("query-id\tcorpus-id\tscore\n")
	for _, id := range strings.Split("abcdefghij", "") {
		queries.WriteString(`{"_id": "` + id + `", "text": "x"}` + "\n")
		qrels.WriteString(id + "\td\t1\n")
	}
	s := read(t, write(t, map[string]string{"queries.jsonl": queries.String(), "qrels/test.tsv": qrels.String()}), ReadOptions{Queries: 4})
	got := ""
	for _, q := range s.Queries {
		got += q.ID
	}
	if want := "efib"; got != want {
		t.Errorf("sample %q, want %q", got, want)
	}
}

func TestByLength(t *testing.T) {
	dir := write(t, map[string]string{
		"corpus.jsonl":   `{"_id": "a", "text": "1"}` + "\n" + `{"_id": "b", "text": "2"}` + "\n" + `{"_id": "c", "text": "3"}` + "\n" + `{"_id": "unasked", "text": "4"}`,
		"queries.jsonl":  `{"_id": "1", "text": "x", "metadata": {"tokens": 512}}` + "\n" + `{"_id": "2", "text": "x", "metadata": {"tokens": 256}}` + "\n" + `{"_id": "3", "text": "x", "metadata": {"tokens": 1024}}`,
		"qrels/test.tsv": "query-id\tcorpus-id\tscore\n1\ta\t1\n2\tb\t1\n3\tc\t1\n",
	})
	var got []string
	for _, part := range read(t, dir, ReadOptions{Longest: 512}).ByLength() {
		var ids []string
		for _, d := range part.Documents {
			ids = append(ids, d.ID)
		}
		got = append(got, strings.TrimPrefix(part.Name, filepath.Base(dir))+" "+strings.Join(ids, ",")+" "+part.Queries[0].ID)
	}
	if want := []string{"-256 b 2", "-512 a 1"}; !slices.Equal(got, want) {
		t.Errorf("parts %q, want %q", got, want)
	}
	if parts := read(t, harbour, ReadOptions{}).ByLength(); len(parts) != 1 || parts[0].Name != "harbour" {
		t.Errorf("a set that is not made by length has parts %v", parts)
	}
}

func TestSlices(t *testing.T) {
	s := read(t, harbour, ReadOptions{})
	// The gold spans begin at bytes 87 of 174, 0 of 156 and 42 of 152.
	want := []Slice{{"0–10%", []int{1}}, {"20–30%", []int{2}}, {"50–60%", []int{0}}}
	if d := cmp.Diff(want, s.ByPosition()); d != "" {
		t.Errorf("positions: want -, got +:\n%s", d)
	}
	sizes := s.sizes()
	want = []Slice{{"38–39", []int{2}}, {"39–44", []int{0, 1}}}
	if d := cmp.Diff(want, s.ByDocumentLength(2)); d != "" {
		t.Errorf("lengths of documents of %v bytes: want -, got +:\n%s", sizes, d)
	}
}

func FuzzParseSet(f *testing.F) {
	f.Add(`{"_id": "d", "text": "x"}`, `{"_id": "q", "text": "x", "metadata": {"answer": ["a"], "tokens": 256}}`, "query-id\tcorpus-id\tstart_byte\tend_byte\nq\td\t0\t1")
	f.Fuzz(func(t *testing.T, corpus, queries, spans string) {
		documents, err := parseCorpus(strings.NewReader(corpus))
		if err != nil {
			return
		}
		qs, err := parseQueries(strings.NewReader(queries))
		if err != nil {
			return
		}
		s := &Set{Documents: documents, Queries: qs}
		byID := map[string]*Query{}
		for i := range qs {
			byID[qs[i].ID] = &qs[i]
		}
		if s.span(strings.NewReader(spans), byID) == nil {
			for _, slices := range [][]Slice{s.ByPosition(), s.ByDocumentLength(6)} {
				for _, slice := range slices {
					for _, i := range slice.Queries {
						_ = qs[i]
					}
				}
			}
			s.ByLength()
		}
	})
}
