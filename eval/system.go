package eval

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/retriever"
)

// System ranks the documents of a set, and perhaps passages of them, for a query.
// Rank is called from several goroutines at once.
type System interface {
	Name() string
	Rank(ctx context.Context, q *Query) (Ranking, error)
}

// How deep rankings go. Passages are ranked as a search for ten does it.
const (
	documentDepth = 100
	passageDepth  = 10
)

// Spec says in a name how a set is encoded and ranked:
//
//	bm25                            by words alone
//	chunk, document, both           by landmarks, by document vectors, by both
//	both+bm25                       that, fused with words
//	late-chunk, naive-both+bm25     read by another pooling of the same model
//	chunk-x4                        with the landmarks of 4 neighbours averaged
type Spec struct {
	Words   bool             // by words
	Level   retriever.Level  // by vectors; empty for words alone
	Pooling landmark.Pooling // empty is the model's own
	Join    int              // neighbours that make a chunk, at least 1
}

// DefaultSystems are worth a look on any set; AllSystems are every baseline.
var (
	DefaultSystems = []string{"bm25", "chunk", "document", "both", "both+bm25"}
	AllSystems     = []string{
		"bm25", "chunk", "document", "both", "chunk+bm25", "document+bm25", "both+bm25",
		"naive-chunk", "naive-both", "naive-both+bm25", "late-chunk", "late-both", "late-both+bm25",
		"multicls-chunk", "multicls-both", "multicls-both+bm25", "cls-document", "cls-document+bm25", "mean-document", "mean-document+bm25",
	}
)

// ParseSpec reads a name, and String writes it.
func ParseSpec(name string) (Spec, error) {
	s := Spec{Join: 1}
	vectors, words, fused := strings.Cut(name, "+")
	parts := strings.Split(vectors, "-")
	bad := func(what string) (Spec, error) {
		return Spec{}, fmt.Errorf("system %q: %s: want bm25, or [POOLING-]LEVEL[-xN][+bm25] such as chunk, both+bm25, late-chunk or chunk-x4", name, what)
	}
	if fused && words != "bm25" {
		return bad(fmt.Sprintf("%q behind the +", words))
	}
	s.Words = fused
	if poolings := []landmark.Pooling{landmark.Landmark, landmark.CLS, landmark.Mean, landmark.Late, landmark.MultiCLS, landmark.Naive}; slices.Contains(poolings, landmark.Pooling(parts[0])) {
		s.Pooling = landmark.Pooling(parts[0])
		parts = parts[1:]
	}
	if n := len(parts); n > 0 && strings.HasPrefix(parts[n-1], "x") {
		join, err := strconv.Atoi(parts[n-1][1:])
		if err != nil || join < 2 {
			return bad(fmt.Sprintf("%q is no number of chunks to join, 2 or more", parts[n-1]))
		}
		s.Join = join
		parts = parts[:n-1]
	}
	levels := []retriever.Level{retriever.ChunkLevel, retriever.DocumentLevel, retriever.Both}
	switch {
	case len(parts) == 1 && parts[0] == "bm25" && !fused && s.Pooling == "":
		s.Words = true
	case len(parts) == 1 && slices.Contains(levels, retriever.Level(parts[0])):
		s.Level = retriever.Level(parts[0])
	default:
		return bad(fmt.Sprintf("no level in %q", vectors))
	}
	return s, nil
}

func (s Spec) String() string {
	var parts []string
	if s.Pooling != "" {
		parts = append(parts, string(s.Pooling))
	}
	if s.Level == "" {
		parts = append(parts, "bm25")
	} else {
		parts = append(parts, string(s.Level))
	}
	if s.Join > 1 {
		parts = append(parts, fmt.Sprintf("x%d", s.Join))
	}
	name := strings.Join(parts, "-")
	if s.Words && s.Level != "" {
		name += "+bm25"
	}
	return name
}

// System ranks what x holds as the spec says. The index must be of its pooling and
// its chunks; weights are for the level both, lexical for the words in a fusion, and
// zeros stand for retriever's defaults.
func (x *Index) System(s Spec, weights retriever.Weights, lexical float64) System {
	return x.named(s.String(), s, weights, lexical)
}

func (x *Index) named(name string, s Spec, weights retriever.Weights, lexical float64) System {
	req := retriever.Request{Level: s.Level, Weights: weights, Lexical: lexical}
	if !s.Words {
		req.Lexical = -1
	}
	return &search{x, name, req, s.Level == ""}
}

// search is a System that asks a store.
type search struct {
	*Index
	name      string
	req       retriever.Request
	wordsOnly bool
}

func (s *search) Name() string { return s.name }

// Rank implements System: a document is as good as its best chunk.
func (s *search) Rank(ctx context.Context, q *Query) (Ranking, error) {
	var out Ranking
	req := s.req
	req.Words = q.Text
	if !s.wordsOnly {
		var err error
		if req.Vector, err = s.vector(ctx, q); err != nil {
			return out, err
		}
	}
	req.K = passageDepth
	chunks, err := retriever.Rank(ctx, s.store, req)
	if err != nil {
		return out, fmt.Errorf("question %q: %w", q.ID, err)
	}
	for _, c := range chunks[:min(passageDepth, len(chunks))] {
		if ranges := s.chunks[c.Document]; c.Chunk < len(ranges) { // an empty document has none
			out.Passages = append(out.Passages, Passage{c.Document, ranges[c.Chunk]})
		}
	}
	req.K, req.PerDocument = min(documentDepth, len(s.chunks)), 1
	if chunks, err = retriever.Rank(ctx, s.store, req); err != nil {
		return out, fmt.Errorf("question %q: %w", q.ID, err)
	}
	seen := map[string]bool{}
	for _, c := range chunks {
		if !seen[c.Document] && len(out.Documents) < documentDepth {
			seen[c.Document] = true
			out.Documents = append(out.Documents, Scored{c.Document, c.Score.Value})
		}
	}
	return out, nil
}
