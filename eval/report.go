package eval

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Report is results to be read together.
type Report struct {
	// Settings are what the numbers depend on: the model, how chunks are cut, the
	// weights. They stand above the tables.
	Settings []Setting
	// Sets are in the order in which they are shown, each with the same systems.
	Sets []SetReport
	// Against is the system that the others are compared with; empty compares none.
	Against string
	Tuning  *Tuning
	Answers []*AnswerResult
	Changes []Change
}

// Setting is a line above the tables.
type Setting struct{ Name, Value string }

// SetReport is what systems did on one set.
type SetReport struct {
	*Set
	Chunks  int // of the finest index; 0 if unknown
	Results []*Result
}

// lengthRanges is how many ranges of document lengths there are.
const lengthRanges = 6

// sortMetric is what a set is chiefly about: finding passages, or documents.
func (s SetReport) chief() string {
	if s.HasSpans() {
		return "hit@1"
	}
	return "nDCG@10"
}

// result is that of a system; nil if it was not run.
func (s SetReport) result(system string) *Result {
	for _, r := range s.Results {
		if r.System == system {
			return r
		}
	}
	return nil
}

// systems are all names, in the order of the first set that has them.
func (r *Report) systems() []string {
	var out []string
	for _, s := range r.Sets {
		for _, result := range s.Results {
			if !slices.Contains(out, result.System) {
				out = append(out, result.System)
			}
		}
	}
	return out
}

// number writes a value as tables have it, without the 0 in front.
func number(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strings.Replace(fmt.Sprintf("%.3f", v), "0.", ".", 1)
}

func signed(v float64) string {
	return strings.Replace(fmt.Sprintf("%+.3f", v), "0.", ".", 1)
}

// within writes a mean and half the width of its interval.
func within(m Mean) string {
	if m.N == 0 {
		return ""
	}
	return fmt.Sprintf("%s ±%s", number(m.Value), number((m.High-m.Low)/2))
}

// between writes a difference with its interval, bold if that leaves out 0, and P.
func between(d Difference) string {
	if d.N == 0 {
		return ""
	}
	cell := signed(d.Value)
	if d.Low > 0 || d.High < 0 {
		cell = "**" + cell + "**"
	}
	p := fmt.Sprintf("p %.3f", d.P)
	if d.P < 0.001 {
		p = "p <.001"
	}
	return fmt.Sprintf("%s (%s to %s, %s)", cell, signed(d.Low), signed(d.High), strings.Replace(p, " 0.", " .", 1))
}
