package eval

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestTrecEval compares with what pytrec_eval gave for three runs of our own making:
// graded judgements, ties, also of scores that differ in double precision alone, and
// a deep run with a BEIR table. scripts/evalcheck/score.py QRELS RUN wrote the files.
func TestTrecEval(t *testing.T) {
	for _, name := range []string{"graded", "ties", "binary"} {
		path := filepath.Join("testdata", "trec", name)
		qrels, err := ReadQrels(open(t, path+".qrels"))
		if err != nil {
			t.Fatal(err)
		}
		run, err := ReadRun(open(t, path+".run"))
		if err != nil {
			t.Fatal(err)
		}
		truth, err := parseBefore(open(t, path+".golden.tsv"))
		if err != nil {
			t.Fatal(err)
		}
		r := EvaluateRun(name, qrels, run)
		if len(truth) != len(r.Set.Queries) {
			t.Fatalf("%s: %d queries, trec_eval has %d", name, len(r.Set.Queries), len(truth))
		}
		compared := 0
		for i, q := range r.Set.Queries {
			for k, m := range Metrics {
				if want, known := truth[q.ID][m.Name]; known != (m.Trec != "") {
					t.Fatalf("%s: trec_eval knows %s: %t", name, m.Name, known)
				} else if known {
					compared++
					if got := r.Values[i][k]; math.Abs(got-want) > 1e-6 {
						t.Errorf("%s, query %s: %s %.9f, want %.9f", name, q.ID, m.Name, got, want)
					}
				}
			}
		}
		if compared != 5*len(truth) {
			t.Errorf("%s: compared %d values", name, compared)
		}
	}
}

func TestMissingQueryCountsNothing(t *testing.T) {
	r := EvaluateRun("run", Qrels{"a": {"d": 1}, "b": {"d": 1}}, Run{"a": {{"d", 1}}})
	if got := MeanOf(r.Column(0)).Value; got != 0.5 {
		t.Errorf("mean %v, want 0.5: query b was judged and not ranked", got)
	}
}

// TestWriteRunKeepsOrder reads back what was written: ties would be put into the
// order of their IDs.
func TestWriteRunKeepsOrder(t *testing.T) {
	want := Run{
		"q1": {{"a", 0.5}, {"b", 0.5}, {"c", 0.5 - 1e-12}, {"d", 0.25}},
		"q2": {{"z", 0}, {"y", 0}, {"x", -1}},
	}
	var b bytes.Buffer
	if err := WriteRun(&b, "tag", []string{"q2", "q1"}, want); err != nil {
		t.Fatal(err)
	}
	if first := strings.SplitN(b.String(), "\n", 2)[0]; first != "q2 Q0 z 1 0 tag" {
		t.Errorf("first line %q", first)
	}
	got, err := ReadRun(&b)
	if err != nil {
		t.Fatal(err)
	}
	ids := func(r Run) map[string]string {
		out := map[string]string{}
		for q, ranked := range r {
			for _, d := range ranked {
				out[q] += d.ID
			}
		}
		return out
	}
	if d := cmp.Diff(ids(want), ids(got)); d != "" {
		t.Errorf("want -, got +:\n%s", d)
	}
}

func TestReadErrors(t *testing.T) {
	run := func(s string) error { _, err := ReadRun(strings.NewReader(s)); return err }
	qrels := func(s string) error { _, err := ReadQrels(strings.NewReader(s)); return err }
	for _, test := range []struct {
		read func(string) error
		text string
		want string
	}{
		{run, "q Q0 d 1 2.5 tag\nq Q0 d 1 2.5", "line 2: 5 fields: want six, query Q0 document rank score tag"},
		{run, "q Q0 d 1 high tag", `line 1: score "high": want a number`},
		{run, "q Q0 d 1 NaN tag", `line 1: score "NaN": want a number`},
		{run, "q Q0 d 1 1 tag\n\nq Q0 d 2 0.5 tag", `line 3: document "d" was there before for query "q"`},
		{qrels, "q 0 d", "line 1: 3 fields: want four, query 0 document gain, or a table headed query-id, corpus-id, score"},
		{qrels, "q 0 d 0.5", `judgement "0.5": want a whole number, 0 for what is not relevant`},
		{qrels, "q 0 d 1\nq 0 d 0", `line 2: document "d" was judged before for query "q"`},
		{qrels, "query-id\tcorpus-id\nq\td", `the header has no column "score": want query-id, corpus-id, score`},
		{qrels, "query-id\tcorpus-id\tscore\nq\td", "line 2: 2 fields below a header of 3: want a tab between two"},
	} {
		if err := test.read(test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want %q in it", test.text, err, test.want)
		}
	}
}

func FuzzReadRun(f *testing.F) {
	f.Add("q Q0 d 1 2.5 tag\nq Q0 e 2 2.5 tag\n")
	f.Add("q Q0 d 1 1e999 tag")
	f.Fuzz(func(t *testing.T, text string) {
		run, err := ReadRun(strings.NewReader(text))
		if err != nil {
			return
		}
		qrels := Qrels{}
		for q, ranked := range run {
			qrels[q] = map[string]int{ranked[0].ID: 1}
		}
		for i, row := range EvaluateRun("run", qrels, run).Values {
			if row[0] != 1 {
				t.Fatalf("query %d: nDCG@10 %v although the first document is the right one", i, row[0])
			}
		}
	})
}

func FuzzReadQrels(f *testing.F) {
	f.Add("q 0 d 1\n")
	f.Add("query-id\tcorpus-id\tscore\r\nq\td\t2\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		qrels, err := ReadQrels(strings.NewReader(text))
		if err != nil {
			return
		}
		for q, gains := range qrels {
			if len(gains) == 0 {
				t.Fatalf("query %q without a judgement", q)
			}
		}
	})
}
