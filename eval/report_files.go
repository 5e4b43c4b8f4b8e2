package eval

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Write writes report.md, report.html and the files of every result into a folder.
func (r *Report) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	var errs []error
	for _, s := range r.Sets {
		for _, result := range s.Results {
			errs = append(errs, result.Write(dir))
		}
	}
	for _, a := range r.Answers {
		errs = append(errs, a.Write(dir))
	}
	errs = append(errs,
		create(filepath.Join(dir, "report.md"), func(w io.Writer) error { return r.Markdown(w) }),
		create(filepath.Join(dir, "report.html"), func(w io.Writer) error { return r.HTML(w) }))
	return errors.Join(errs...)
}

// Summary is a report's means for programs.
type Summary struct {
	Settings map[string]string `json:"settings"`
	Sets     []SetSummary      `json:"sets"`
}

// SetSummary is that of a set.
type SetSummary struct {
	Set     string                                `json:"set"`
	Queries int                                   `json:"queries"`
	Systems map[string]map[string]IntervalSummary `json:"systems"` // by system and metric
	Answers map[string]IntervalSummary            `json:"answers,omitempty"`
}

// IntervalSummary is a mean with its 95% interval.
type IntervalSummary struct {
	Queries int     `json:"queries"` // that the metric applies to
	Mean    float64 `json:"mean"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
}

// Summary returns the means of every metric that applies.
func (r *Report) Summary() Summary {
	out := Summary{Settings: map[string]string{}, Sets: []SetSummary{}}
	for _, s := range r.Settings {
		out.Settings[s.Name] = s.Value
	}
	for _, s := range r.Sets {
		sum := SetSummary{Set: s.Name, Queries: len(s.Queries), Systems: map[string]map[string]IntervalSummary{}}
		for _, result := range s.Results {
			names := map[string]IntervalSummary{}
			for k, m := range Metrics {
				summarise(names, m.Name, result.Column(k))
			}
			sum.Systems[result.System] = names
		}
		for _, a := range r.Answers {
			if a.Set == s.Set {
				sum.Answers = map[string]IntervalSummary{}
				for k, name := range AnswerMetrics {
					summarise(sum.Answers, name, a.Column(k))
				}
			}
		}
		out.Sets = append(out.Sets, sum)
	}
	return out
}

func summarise(into map[string]IntervalSummary, name string, column []float64) {
	if m := MeanOf(column); m.N > 0 {
		into[name] = IntervalSummary{m.N, m.Value, m.Low, m.High}
	}
}
