//go:build ignore

// Command bm25 scores four one-line documents against a query and prints each
// term's share, so that the numbers of a worked example can be checked.
//
// Run it with:
//
//	go run bm25.go fog bell
//
// It is written to be read, not to be fast: an inverted index would visit only
// the documents that contain a term, this program visits them all.
package main

import (
	"fmt"
	"math"
	"os"
	"sort"
	"strings"
)

// The two constants. k1 bounds what repetition can add, b says how much of the
// length is corrected.
const (
	k1 = 1.2
	b  = 0.75
)

// corpus is the example. Order matters only for ties.
var corpus = []struct{ name, text string }{
	{"d1", "the lamp was lit at dusk and the fog bell rang"},
	{"d2", "fog all night the bell rang until dawn"},
	{"d3", "the keeper wrote in the log at dawn"},
	{"d4", "fog fog and more fog but no ship was seen"},
}

// doc is a document after counting.
type doc struct {
	name   string
	length int
	counts map[string]int
}

// index holds what the formula needs to know about the whole collection.
type index struct {
	docs    []doc
	df      map[string]int // in how many documents a term occurs
	average float64        // mean length
}

// newIndex counts terms. Splitting at white space is enough here; a real index
// lowers letters and splits at punctuation as well.
func newIndex() index {
	ix := index{df: map[string]int{}}
	total := 0
	for _, c := range corpus {
		d := doc{name: c.name, counts: map[string]int{}}
		for _, w := range strings.Fields(c.text) {
			if d.counts[w] == 0 {
				ix.df[w]++
			}
			d.counts[w]++
			d.length++
		}
		total += d.length
		ix.docs = append(ix.docs, d)
	}
	ix.average = float64(total) / float64(len(ix.docs))
	return ix
}

// idf is the weight of a term. The 1 under the logarithm keeps it positive even
// for a term that occurs in every document.
func (ix index) idf(term string) float64 {
	n := float64(ix.df[term])
	return math.Log(1 + (float64(len(ix.docs))-n+0.5)/(n+0.5))
}

// score returns the share of each query term for one document.
func (ix index) score(d doc, terms []string) []float64 {
	norm := k1 * (1 - b + b*float64(d.length)/ix.average)
	shares := make([]float64, len(terms))
	for i, t := range terms {
		f := float64(d.counts[t])
		shares[i] = ix.idf(t) * f * (k1 + 1) / (f + norm)
	}
	return shares
}

func main() {
	terms := os.Args[1:]
	if len(terms) == 0 {
		terms = []string{"fog", "bell"}
	}
	ix := newIndex()

	type row struct {
		name   string
		shares []float64
		sum    float64
	}
	var rows []row
	for _, d := range ix.docs {
		r := row{name: d.name, shares: ix.score(d, terms)}
		for _, s := range r.shares {
			r.sum += s
		}
		rows = append(rows, r)
	}
	// A stable sort keeps equal scores in corpus order, run after run.
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].sum > rows[j].sum })

	for _, t := range terms {
		fmt.Printf("idf %-8s %.3f\n", t, ix.idf(t))
	}
	for _, r := range rows {
		fmt.Printf("%s  %.3f  =", r.name, r.sum)
		for i, t := range terms {
			fmt.Printf("  %s %.3f", t, r.shares[i])
		}
		fmt.Println()
	}
}
