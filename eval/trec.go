package eval

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Scored is a document of a ranking.
type Scored struct {
	ID    string
	Score float64
}

// Run is a ranking for each query, best first.
type Run map[string][]Scored

// Qrels are the judgements for each query, by document.
type Qrels map[string]map[string]int

// ReadRun reads lines of "query Q0 document rank score tag". As trec_eval does it
// goes by the score, which it takes in single precision, and not by the rank; equal
// scores are ordered by document, the last in the alphabet first.
func ReadRun(r io.Reader) (Run, error) {
	run := Run{}
	seen := map[[2]string]bool{}
	err := lines(r, func(line []byte) error {
		f := strings.Fields(string(line))
		if len(f) != 6 {
			return fmt.Errorf("%d fields: want six, query Q0 document rank score tag", len(f))
		}
		score, err := strconv.ParseFloat(f[4], 32)
		if err != nil && !math.IsInf(score, 0) || math.IsNaN(score) {
			return fmt.Errorf("score %q: want a number", f[4])
		}
		if key := [2]string{f[0], f[2]}; seen[key] {
			return fmt.Errorf("document %q was there before for query %q", f[2], f[0])
		} else {
			seen[key] = true
		}
		run[f[0]] = append(run[f[0]], Scored{f[2], score})
		return nil
	})
	for _, ranked := range run {
		slices.SortFunc(ranked, func(a, b Scored) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.ID, a.ID))
		})
	}
	return run, err
}

// WriteRun writes rankings in the order of the queries given, for trec_eval and its
// like. Equal scores are set apart by the least step, so that every reader sees the
// order that the system gave.
func WriteRun(w io.Writer, tag string, queries []string, run Run) error {
	b := bufio.NewWriter(w)
	for _, q := range queries {
		last := float32(math.Inf(1))
		for i, d := range run[q] {
			score := float32(d.Score)
			if score >= last {
				score = math.Nextafter32(last, float32(math.Inf(-1)))
			}
			last = score
			fmt.Fprintf(b, "%s Q0 %s %d %s %s\n", q, d.ID, i+1, strconv.FormatFloat(float64(score), 'g', -1, 32), tag)
		}
	}
	return b.Flush()
}

// ReadQrels reads judgements: TREC's lines of "query 0 document gain", or BEIR's
// table with the columns query-id, corpus-id and score.
func ReadQrels(r io.Reader) (Qrels, error) {
	out := Qrels{}
	add := func(query, document, gain string) error {
		n, err := strconv.Atoi(gain)
		if err != nil {
			return fmt.Errorf("judgement %q: want a whole number, 0 for what is not relevant", gain)
		}
		if out[query] == nil {
			out[query] = map[string]int{}
		}
		if _, twice := out[query][document]; twice {
			return fmt.Errorf("document %q was judged before for query %q", document, query)
		}
		out[query][document] = n
		return nil
	}
	in := bufio.NewReaderSize(r, 1<<12)
	start, _ := in.Peek(len("query-id"))
	if string(start) == "query-id" {
		return out, table(in, []string{"query-id", "corpus-id", "score"}, func(f []string) error { return add(f[0], f[1], f[2]) })
	}
	return out, lines(in, func(line []byte) error {
		f := strings.Fields(string(line))
		if len(f) != 4 {
			return fmt.Errorf("%d fields: want four, query 0 document gain, or a table headed query-id, corpus-id, score", len(f))
		}
		return add(f[0], f[2], f[3])
	})
}
