package eval

import (
	"fmt"
	"math"
	"slices"
)

// tableData is a table of a report, for Markdown and HTML alike.
type tableData struct {
	Title string
	Note  string // a sentence below the title; may be empty
	Head  []string
	Rows  [][]string
}

// tables are all of a report, in the order in which they are shown.
func (r *Report) tables() []tableData {
	out := r.overview()
	for _, s := range r.Sets {
		out = append(out, s.metrics())
		if t := s.against(r.Against); t != nil {
			out = append(out, *t)
		}
		if s.HasSpans() {
			out = append(out, s.sliced("by the answer's position", s.ByPosition()), s.sliced("by the document's length in tokens", s.ByDocumentLength(lengthRanges)))
		} else if t := s.sliced("by the document's length in tokens", s.ByDocumentLength(lengthRanges)); len(t.Head) > 2 {
			out = append(out, t)
		}
	}
	if r.Tuning != nil {
		out = append(out, r.Tuning.table())
	}
	if len(r.Answers) > 0 {
		out = append(out, answerTable(r.Answers))
	}
	if len(r.Changes) > 0 {
		out = append(out, changeTables(r.Changes)...)
	}
	return out
}

// overview has a table for each chief metric, with the sets below each other.
func (r *Report) overview() []tableData {
	if len(r.Sets) < 2 {
		return nil
	}
	systems := r.systems()
	var out []tableData
	for _, name := range []string{"nDCG@10", "hit@1", "hit@5"} {
		t := tableData{Title: name, Note: "± is half the width of the 95% interval.", Head: append([]string{"set"}, systems...)}
		sums := make([][]float64, len(systems))
		for _, s := range r.Sets {
			if name != "nDCG@10" && !s.HasSpans() {
				continue
			}
			row := []string{fmt.Sprintf("%s (%d)", s.Name, len(s.Queries))}
			for i, system := range systems {
				cell := ""
				if result := s.result(system); result != nil {
					m := MeanOf(result.Column(metricNamed(name)))
					cell = within(m)
					sums[i] = append(sums[i], m.Value)
				}
				row = append(row, cell)
			}
			t.Rows = append(t.Rows, row)
		}
		if len(t.Rows) > 1 {
			row := []string{"mean of sets"}
			for _, values := range sums {
				cell := ""
				if len(values) == len(t.Rows) { // means of other sets cannot be compared
					cell = number(mean(values))
				}
				row = append(row, cell)
			}
			t.Rows = append(t.Rows, row)
		}
		if len(t.Rows) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// metrics is the table of a set: every metric of every system.
func (s SetReport) metrics() tableData {
	t := tableData{Title: s.Name, Head: []string{"system"}, Note: fmt.Sprintf("%d questions", len(s.Queries))}
	if len(s.Documents) > 0 {
		t.Note += fmt.Sprintf(" about %d documents", len(s.Documents))
	}
	if s.Chunks > 0 {
		t.Note += fmt.Sprintf(" in %d chunks", s.Chunks)
	}
	t.Note += "."
	var shown []int
	for k, m := range Metrics {
		if slices.ContainsFunc(s.Results, func(r *Result) bool { return len(numbers(r.Column(k))) > 0 }) {
			shown = append(shown, k)
			t.Head = append(t.Head, m.Name)
		}
	}
	for _, r := range s.Results {
		row := []string{r.System}
		for _, k := range shown {
			row = append(row, within(MeanOf(r.Column(k))))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// against compares each system with one; nil if there is nothing to compare.
func (s SetReport) against(base string) *tableData {
	to := s.result(base)
	if to == nil || len(s.Results) < 2 {
		return nil
	}
	t := &tableData{Title: fmt.Sprintf("%s: difference to %s", s.Name, base), Head: []string{"system"},
		Note: "95% interval of a paired bootstrap, bold if it leaves out 0; p of a randomisation test."}
	names := []string{"nDCG@10", "MRR"}
	if s.HasSpans() {
		names = []string{"nDCG@10", "hit@1", "hit@5"}
	}
	t.Head = append(t.Head, names...)
	for _, r := range s.Results {
		if r == to {
			continue
		}
		row := []string{r.System}
		for _, name := range names {
			k := metricNamed(name)
			row = append(row, between(Compare(r.Column(k), to.Column(k))))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// sliced is the chief metric of each system over slices of the questions.
func (s SetReport) sliced(how string, slices []Slice) tableData {
	t := tableData{Title: fmt.Sprintf("%s: %s %s", s.Name, s.chief(), how), Head: []string{"system"}}
	for _, slice := range slices {
		t.Head = append(t.Head, fmt.Sprintf("%s (%d)", slice.Name, len(slice.Queries)))
	}
	for _, r := range s.Results {
		column := r.Column(metricNamed(s.chief()))
		row := []string{r.System}
		for _, slice := range slices {
			row = append(row, number(mean(numbers(slice.of(column)))))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// table lists the best trials and, for comparison, the last.
func (t *Tuning) table() tableData {
	const shown = 10
	out := tableData{Title: "weights tuned on " + t.Set, Head: []string{"landmark", "document", "words", t.Metric},
		Note: fmt.Sprintf("The best %d of %d, and the worst. The system tuned has the first; on %s it has seen the answers.", min(shown, len(t.Trials)), len(t.Trials), t.Set)}
	for i, trial := range t.Trials {
		if i >= shown && i < len(t.Trials)-1 {
			continue
		}
		words := "none"
		if trial.Lexical > 0 {
			words = fmt.Sprintf("%.4g", trial.Lexical)
		}
		out.Rows = append(out.Rows, []string{fmt.Sprintf("%.2g", trial.Weights.Landmark), fmt.Sprintf("%.2g", trial.Weights.Document), words, number(trial.Value)})
	}
	return out
}

func answerTable(results []*AnswerResult) tableData {
	t := tableData{Title: "answers", Head: append([]string{"set", "by"}, AnswerMetrics...),
		Note: "± is half the width of the 95% interval. Precision is of the answers that cite."}
	for _, r := range results {
		row := []string{fmt.Sprintf("%s (%d)", r.Set.Name, len(r.Set.Queries)), r.Model}
		for k := range AnswerMetrics {
			row = append(row, within(MeanOf(r.Column(k))))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// changedShown is how many changed questions a table of them lists.
const changedShown = 20

func changeTables(changes []Change) []tableData {
	all := tableData{Title: "changes", Head: []string{"set", "system", "metric", "change", "better", "worse", "only in one run"},
		Note: "95% interval of a paired bootstrap, bold if it leaves out 0; p of a randomisation test."}
	one := tableData{Title: "questions that changed most", Head: []string{"set", "system", "metric", "question", "before", "after"}}
	for _, c := range changes {
		all.Rows = append(all.Rows, []string{c.Set, c.System, c.Metric, between(c.Difference), fmt.Sprint(c.Better), fmt.Sprint(c.Worse), fmt.Sprint(c.Missing)})
		for _, q := range c.Queries[:min(changedShown, len(c.Queries))] {
			one.Rows = append(one.Rows, []string{c.Set, c.System, c.Metric, q.Query, number(q.Before), number(q.After)})
		}
	}
	if len(one.Rows) == 0 {
		return []tableData{all}
	}
	return []tableData{all, one}
}

// chiefMean is for plots; not a number if the system was not run.
func (s SetReport) chiefMean(system string) Mean {
	if r := s.result(system); r != nil {
		return MeanOf(r.Column(metricNamed(s.chief())))
	}
	return Mean{Value: math.NaN()}
}
