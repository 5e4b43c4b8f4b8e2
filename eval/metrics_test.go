package eval

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/chunker"
)

func ranked(ids string) []Scored {
	var out []Scored
	for i, id := range strings.Fields(ids) {
		out = append(out, Scored{id, -float64(i)})
	}
	return out
}

// TestMetricsByHand has values that were worked out on paper.
func TestMetricsByHand(t *testing.T) {
	gains := map[string]int{"a": 3, "b": 2, "c": 1, "x": 0}
	found := ranked("x b a y c")
	// DCG 2/log2(3) + 3/log2(4) + 1/log2(6); ideal 3 + 2/log2(3) + 1/log2(4).
	dcg := 2/math.Log2(3) + 3.0/2 + 1/math.Log2(6)
	ideal := 3 + 2/math.Log2(3) + 1.0/2
	for _, test := range []struct {
		name      string
		got, want float64
	}{
		{"nDCG@10", NDCG(gains, found, 10), dcg / ideal},
		{"nDCG@2", NDCG(gains, found, 2), (2 / math.Log2(3)) / (3 + 2/math.Log2(3))},
		{"nDCG@10 of nothing", NDCG(gains, nil, 10), 0},
		{"nDCG@10 without a relevant document", NDCG(map[string]int{"x": 0}, found, 10), 0},
		{"recall@2", Recall(gains, found, 2), 1.0 / 3},
		{"recall@10", Recall(gains, found, 10), 1},
		{"MRR", ReciprocalRank(gains, found), 1.0 / 2},
		{"MRR of nothing", ReciprocalRank(gains, ranked("x y")), 0},
		{"MAP", AveragePrecision(gains, found), (1.0/2 + 2.0/3 + 3.0/5) / 3},
		{"MAP with one missing", AveragePrecision(gains, ranked("a b")), 2.0 / 3},
	} {
		if math.Abs(test.got-test.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", test.name, test.got, test.want)
		}
	}
}

func TestPassageMetricsByHand(t *testing.T) {
	spans := map[string][]chunker.Range{"a": {{Start: 100, End: 200}}, "b": {{Start: 0, End: 10}, {Start: 50, End: 60}}}
	passages := []Passage{
		{"a", chunker.Range{Start: 0, End: 100}}, // touches and shares no byte
		{"c", chunker.Range{Start: 0, End: 10}},
		{"a", chunker.Range{Start: 150, End: 250}}, // 50 of 150 bytes
		{"b", chunker.Range{Start: 50, End: 55}},   // 5 of 10 bytes
	}
	for _, test := range []struct {
		name      string
		got, want float64
	}{
		{"hit@1", Hit(spans, passages, 1), 0},
		{"hit@3", Hit(spans, passages, 3), 1},
		{"hit@9", Hit(spans, passages, 9), 1},
		{"IoU@1", IoU(spans, passages, 1), 0},
		{"IoU@3", IoU(spans, passages, 3), 1.0 / 3},
		{"IoU@4", IoU(spans, passages, 4), 1.0 / 2},
	} {
		if test.got != test.want {
			t.Errorf("%s: %v, want %v", test.name, test.got, test.want)
		}
	}
	if got := Hit(nil, passages, 1); !math.IsNaN(got) {
		t.Errorf("hit@1 without spans: %v, want no number", got)
	}
}

// TestMetricProperties holds for any ranking: values from 0 to 1; moving a relevant
// document up never lowers one; the best order gives nDCG 1.
func TestMetricProperties(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for range 2000 {
		gains := map[string]int{}
		var found []Scored
		for _, i := range random.Perm(30)[:1+random.IntN(29)] {
			id := string(rune('A' + i))
			found = append(found, Scored{id, -float64(len(found))})
			if random.IntN(3) == 0 {
				gains[id] = random.IntN(4)
			}
		}
		gains["never found"] = random.IntN(2)
		q := &Query{Gains: gains}
		var before []float64
		for _, m := range Metrics[:5] {
			v := m.Of(q, Ranking{Documents: found})
			if !(v >= 0 && v <= 1) {
				t.Fatalf("%s is %v", m.Name, v)
			}
			before = append(before, v)
		}
		if i := random.IntN(len(found)); i > 0 && gains[found[i].ID] > gains[found[i-1].ID] {
			found[i], found[i-1] = found[i-1], found[i]
			for k, m := range Metrics[:5] {
				if v := m.Of(q, Ranking{Documents: found}); v < before[k]-1e-12 {
					t.Fatalf("%s fell from %v to %v when a better document moved up", m.Name, before[k], v)
				}
			}
		}
		delete(gains, "never found")
		var best []Scored
		for g := 3; g >= 0; g-- {
			for _, d := range found {
				if gains[d.ID] == g {
					best = append(best, d)
				}
			}
		}
		if relevant(gains) > 0 && math.Abs(NDCG(gains, best, 10)-1) > 1e-12 {
			t.Fatalf("the best order has nDCG@10 %v", NDCG(gains, best, 10))
		}
	}
}
