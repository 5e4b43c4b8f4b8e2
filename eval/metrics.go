package eval

import (
	"math"
	"slices"

	"github.com/waymark-rag/waymark/chunker"
)

// Ranking is what a system found for a query, best first and each document once.
type Ranking struct {
	Documents []Scored
	Passages  []Passage
}

// Passage is a part of a document's text.
type Passage struct {
	Document string
	chunker.Range
}

// Metric gives a ranking a value from 0 to 1, higher being better.
type Metric struct {
	Name string
	// Trec is what trec_eval calls it; empty if it has no such measure.
	Trec string
	// Of is not a number where the query lacks what the metric compares with.
	Of func(q *Query, r Ranking) float64
}

// Metrics are all there are, in the order in which files and tables have them.
// Those of documents are trec_eval's, those of passages need gold spans.
var Metrics = []Metric{
	{"nDCG@10", "ndcg_cut_10", func(q *Query, r Ranking) float64 { return NDCG(q.Gains, r.Documents, 10) }},
	{"recall@10", "recall_10", func(q *Query, r Ranking) float64 { return Recall(q.Gains, r.Documents, 10) }},
	{"recall@100", "recall_100", func(q *Query, r Ranking) float64 { return Recall(q.Gains, r.Documents, 100) }},
	{"MRR", "recip_rank", func(q *Query, r Ranking) float64 { return ReciprocalRank(q.Gains, r.Documents) }},
	{"MAP", "map", func(q *Query, r Ranking) float64 { return AveragePrecision(q.Gains, r.Documents) }},
	{"hit@1", "", func(q *Query, r Ranking) float64 { return Hit(q.Spans, r.Passages, 1) }},
	{"hit@5", "", func(q *Query, r Ranking) float64 { return Hit(q.Spans, r.Passages, 5) }},
	{"IoU@1", "", func(q *Query, r Ranking) float64 { return IoU(q.Spans, r.Passages, 1) }},
	{"IoU@5", "", func(q *Query, r Ranking) float64 { return IoU(q.Spans, r.Passages, 5) }},
}

// metricNamed is the index of a metric.
func metricNamed(name string) int {
	return slices.IndexFunc(Metrics, func(m Metric) bool { return m.Name == name })
}

// NDCG is the discounted gain of the first k documents as a share of the best
// possible: linear gains, discounted by the binary logarithm of rank plus one.
func NDCG(gains map[string]int, ranked []Scored, k int) float64 {
	var best []int
	for _, g := range gains {
		best = append(best, max(g, 0))
	}
	slices.SortFunc(best, func(a, b int) int { return b - a })
	var dcg, ideal float64
	for i, d := range ranked[:min(k, len(ranked))] {
		dcg += float64(max(gains[d.ID], 0)) / math.Log2(float64(i)+2)
	}
	for i, g := range best[:min(k, len(best))] {
		ideal += float64(g) / math.Log2(float64(i)+2)
	}
	return share(dcg, ideal)
}

// Recall is the share of the relevant documents among the first k.
func Recall(gains map[string]int, ranked []Scored, k int) float64 {
	found := 0
	for _, d := range ranked[:min(k, len(ranked))] {
		if gains[d.ID] > 0 {
			found++
		}
	}
	return share(float64(found), relevant(gains))
}

// ReciprocalRank is one by the rank of the first relevant document.
func ReciprocalRank(gains map[string]int, ranked []Scored) float64 {
	for i, d := range ranked {
		if gains[d.ID] > 0 {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// AveragePrecision is the mean, over all relevant documents, of the precision at
// the rank of each, 0 for one that was not found.
func AveragePrecision(gains map[string]int, ranked []Scored) float64 {
	var found, sum float64
	for i, d := range ranked {
		if gains[d.ID] > 0 {
			found++
			sum += found / float64(i+1)
		}
	}
	return share(sum, relevant(gains))
}

// Hit is 1 if one of the first k passages overlaps a gold span, else 0.
func Hit(spans map[string][]chunker.Range, passages []Passage, k int) float64 {
	if len(spans) == 0 {
		return math.NaN()
	}
	for _, p := range passages[:min(k, len(passages))] {
		if slices.ContainsFunc(spans[p.Document], p.Overlaps) {
			return 1
		}
	}
	return 0
}

// IoU is the largest intersection over union, in bytes, of one of the first k
// passages with a gold span.
func IoU(spans map[string][]chunker.Range, passages []Passage, k int) float64 {
	if len(spans) == 0 {
		return math.NaN()
	}
	var best float64
	for _, p := range passages[:min(k, len(passages))] {
		for _, gold := range spans[p.Document] {
			common := max(min(p.End, gold.End)-max(p.Start, gold.Start), 0)
			best = max(best, share(float64(common), float64(p.Len()+gold.Len()-common)))
		}
	}
	return best
}

func relevant(gains map[string]int) (n float64) {
	for _, g := range gains {
		if g > 0 {
			n++
		}
	}
	return n
}

// share is a part of a whole, 0 of nothing.
func share(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}
