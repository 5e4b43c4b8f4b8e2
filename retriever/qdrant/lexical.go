package qdrant

import (
	"slices"

	pb "github.com/qdrant/go-client/qdrant"
)

// wordQuery finds parts by their words. Where a part has several chunks, they are
// told apart by their text.
func (r *search) wordQuery(reach int) *pb.QueryPoints {
	fields := slices.Clone(partFields)
	if r.part > 1 {
		fields = append(fields, keyText, keyStart, keyChunks)
	}
	req := r.base(vectorText, reach, fields...)
	req.Query = r.sparseQuery(r.terms...)
	return req
}

func (r *search) sparseQuery(terms ...string) *pb.Query {
	indices := make([]uint32, 0, len(terms))
	for _, t := range terms {
		indices = append(indices, termID(t))
	}
	slices.Sort(indices)
	indices = slices.Compact(indices)
	values := make([]float32, len(indices))
	for i := range values {
		values[i] = 1
	}
	return pb.NewQuerySparse(indices, values)
}

// askFrequencies plans the searches for one word each, which tell its inverse
// document frequency: the best part's score divided by the weight that it was stored with.
func (r *search) askFrequencies(b *batch) map[string]*answer {
	if r.part == 1 {
		return nil // the server's score of a part is that of its chunk
	}
	out := make(map[string]*answer, len(r.terms))
	for _, t := range r.terms {
		req := r.base(vectorText, 1)
		req.Query, req.WithVectors = r.sparseQuery(t), withVectors([]string{vectorText})
		out[t] = b.add(req)
	}
	return out
}

// scoreWords scores the chunks of the parts that words found.
func (r *search) scoreWords(byWords *answer, frequency map[string]*answer) {
	idf := make(map[string]float64, len(frequency))
	for t, a := range frequency {
		a.each(func(p *pb.ScoredPoint) {
			v := vectorsOf(p)[vectorText].GetSparseVector()
			if i, found := slices.BinarySearch(v.GetIndices(), termID(t)); found {
				idf[t] = float64(p.GetScore()) / float64(v.GetValues()[i])
			}
		})
	}
	byWords.each(func(p *pb.ScoredPoint) {
		f := r.partOf(p)
		if r.part == 1 {
			f.lexical = []float64{float64(p.GetScore())}
			return
		}
		f.lexical = chunkScores(p, r.terms, idf)
	})
}

// chunkScores is BM25 of each chunk of a part. A payload that cannot be read
// gives no scores.
func chunkScores(p *pb.ScoredPoint, terms []string, idf map[string]float64) []float64 {
	chunks, err := readChunks(p.GetPayload()[keyChunks])
	if err != nil {
		return nil
	}
	start, all := number(p, keyStart), text(p, keyText)
	out := make([]float64, len(chunks))
	for i := range chunks {
		c := &chunks[i]
		c.Text.Start, c.Text.End = c.Text.Start-start, c.Text.End-start
		if c.Text.Start < 0 || c.Text.End < c.Text.Start || c.Text.End > len(all) {
			return nil
		}
		counts, length := frequencies(chunkText(c.Text.Of(all), c))
		for _, t := range terms {
			if n := counts[t]; n > 0 {
				out[i] += idf[t] * weight(n, length)
			}
		}
	}
	return out
}
