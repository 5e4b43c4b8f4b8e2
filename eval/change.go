package eval

import (
	"cmp"
	"math"
	"slices"
)

// Change is what became of a system on a set since an earlier run.
type Change struct {
	Set, System, Metric string
	Difference
	// Queries are those with another value, the largest change first.
	Queries []Changed
	// Missing counts the questions that only one of the runs has.
	Missing int
}

// Changed is a question with another value than before.
type Changed struct {
	Query         string
	Before, After float64
}

// Since compares a result with an earlier one, metric by metric; metrics that nothing
// changed in are left out, unless the runs have other questions.
func (r *Result) Since(before Before) []Change {
	var out []Change
	for k, m := range Metrics {
		c := Change{Set: r.Set.Name, System: r.System, Metric: m.Name, Missing: len(before)}
		var now, then []float64
		for i, q := range r.Set.Queries {
			values, known := before[q.ID]
			if !known {
				c.Missing++
				continue
			}
			c.Missing--
			was, known := values[m.Name]
			if is := r.Values[i][k]; known && !math.IsNaN(is) {
				if math.Abs(is-was) < 1e-6 { // the file is rounded
					is = was
				} else {
					c.Queries = append(c.Queries, Changed{q.ID, was, is})
				}
				now, then = append(now, is), append(then, was)
			}
		}
		if len(c.Queries) == 0 && c.Missing == 0 {
			continue
		}
		slices.SortStableFunc(c.Queries, func(a, b Changed) int {
			return cmp.Compare(math.Abs(b.After-b.Before), math.Abs(a.After-a.Before))
		})
		c.Difference = Compare(now, then)
		out = append(out, c)
	}
	return out
}
