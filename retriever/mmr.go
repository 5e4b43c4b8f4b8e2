package retriever

import (
	"context"
	"slices"
)

// mmrPool is how many candidates maximal marginal relevance chooses from for
// every hit wanted.
const mmrPool = 5

// diversify moves the K candidates that maximal marginal relevance picks to the
// front of the pool, in the order picked; the others follow as they were.
// Relevance is the final score scaled to 0..1, likeness the cosine of the
// chunks' landmark vectors.
func diversify(ctx context.Context, store Store, pool []found, req Request) ([]found, error) {
	choice := pool[:min(len(pool), mmrPool*req.K)]
	vectors, err := chunkVectors(ctx, store, choice)
	if err != nil {
		return nil, err
	}
	best, worst := choice[0].Score.Value, choice[len(choice)-1].Score.Value
	relevance := func(i int) float64 {
		if best == worst {
			return 1
		}
		return (choice[i].Score.Value - worst) / (best - worst)
	}
	out := make([]found, 0, len(pool))
	picked := make([]bool, len(choice))
	likeness := make([]float64, len(choice)) // to the most alike of those picked
	for len(out) < min(req.K, len(choice)) {
		next, most := -1, 0.0
		for i := range choice {
			score := req.MMR*relevance(i) - (1-req.MMR)*likeness[i]
			if !picked[i] && (next < 0 || score > most) {
				next, most = i, score
			}
		}
		picked[next] = true
		f := choice[next]
		f.pick = len(out) + 1
		out = append(out, f)
		for i := range choice {
			likeness[i] = max(likeness[i], Dot(vectors[next], vectors[i]))
		}
	}
	for i, f := range choice {
		if !picked[i] {
			out = append(out, f)
		}
	}
	return append(out, pool[len(choice):]...), nil
}

// chunkVectors returns the landmark vector of each candidate, nil for one that
// is no longer there.
func chunkVectors(ctx context.Context, store Store, candidates []found) ([][]float32, error) {
	only := make(map[string][][2]int)
	for _, c := range candidates {
		only[c.Document] = append(only[c.Document], [2]int{c.Chunk, c.Chunk})
	}
	documents, err := fetch(ctx, store, ids(candidates), Want{Chunks: true, Vectors: true, Only: only})
	if err != nil {
		return nil, err
	}
	out := make([][]float32, len(candidates))
	for i, c := range candidates {
		if d, ok := documents[c.Document]; ok && c.Chunk < len(d.Chunks) {
			out[i] = d.Chunks[c.Chunk].Vector
		}
	}
	return out, nil
}

// ids returns the documents of the candidates, each once.
func ids(candidates []found) []string {
	var out []string
	seen := make(map[string]bool)
	for _, c := range candidates {
		if !seen[c.Document] {
			seen[c.Document] = true
			out = append(out, c.Document)
		}
	}
	return slices.Clip(out)
}

// fetch is Store.Fetch by ID.
func fetch(ctx context.Context, store Store, ids []string, want Want) (map[string]Document, error) {
	documents, err := store.Fetch(ctx, ids, want)
	if err != nil {
		return nil, err
	}
	out := make(map[string]Document, len(documents))
	for _, d := range documents {
		out[d.ID] = d
	}
	return out, nil
}

// Dot is the product of two vectors of the same length, the cosine of unit vectors;
// 0 if their lengths differ, as when one is missing.
func Dot(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	var sum float64
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}
