package server

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

// What a search may ask for at most.
const (
	maxK        = 1000
	maxQuestion = 8 << 10 // bytes; with the default settings an answer has room for it
)

// findRequest is the part of a request that says where and how passages are found.
type findRequest struct {
	Collection  string              `json:"collection"`
	K           int                 `json:"k"`
	Level       retriever.Level     `json:"level"`
	Filter      filter              `json:"filter"`
	Weights     *retriever.Weights  `json:"weights"`
	Lexical     *float64            `json:"lexical"`
	MMR         *float64            `json:"mmr"`
	Neighbours  *int                `json:"neighbours"`
	PerDocument *int                `json:"per_document"`
	MinScore    map[string]*float64 `json:"min_score"`
}

// filter is a retriever.Filter, as text or as JSON.
type filter struct{ retriever.Filter }

// UnmarshalJSON implements json.Unmarshaler.
func (f *filter) UnmarshalJSON(data []byte) error {
	var err error
	switch {
	case bytes.Equal(data, []byte("null")):
		return nil
	case data[0] == '"':
		var text string
		if err = json.Unmarshal(data, &text); err == nil {
			f.Filter, err = retriever.ParseFilter(text)
		}
	default:
		err = decode(data, &f.Filter, true)
	}
	if err == nil {
		err = f.Validate()
	}
	if err != nil {
		return invalid("filter", "filter: %v", err)
	}
	return nil
}

// options makes a search for question of the request and, where it is silent, of the
// server's defaults. k is how many hits there are if it does not say.
func (f findRequest) options(question string, base pipeline.SearchOptions, k int) (pipeline.SearchOptions, error) {
	if strings.TrimSpace(question) == "" {
		return base, invalid("query", "the question is empty")
	}
	if len(question) > maxQuestion {
		return base, invalid("query", "the question has %d bytes: want %d or fewer", len(question), maxQuestion)
	}
	o := base
	o.K = k
	if f.K != 0 {
		o.K = f.K
	}
	if o.K < 0 || o.K > maxK {
		return o, invalid("k", "k %d: want 1 to %d", f.K, maxK)
	}
	if f.Level != "" {
		o.Level = f.Level
	}
	o.Filter = retriever.Filter{All: slices.Concat(base.Filter.All, f.Filter.All)}
	if f.Weights != nil {
		o.Weights = *f.Weights
	}
	if f.Lexical != nil {
		if o.Lexical = *f.Lexical; o.Lexical == 0 {
			o.Lexical = -1 // in the options 0 asks for the default
		}
	}
	if f.MMR != nil {
		o.MMR = *f.MMR
	}
	if f.Neighbours != nil {
		o.Neighbours = min(*f.Neighbours, maxK)
	}
	if f.PerDocument != nil {
		o.PerDocument = *f.PerDocument
	}
	least := map[string]**float64{"value": &o.MinScore.Value, "dense": &o.MinScore.Dense, "landmark": &o.MinScore.Landmark,
		"document": &o.MinScore.Document, "lexical": &o.MinScore.Lexical}
	for kind, min := range f.MinScore {
		if least[kind] == nil {
			return o, invalid("min_score", "min_score %s: want one of %q", quoted(kind), slices.Sorted(maps.Keys(least)))
		}
		*least[kind] = min
	}
	asked := o
	asked.Words, asked.Vector = question, []float32{1} // the real one is made of the question
	if err := asked.Validate(); err != nil {
		return o, invalid("", "%v", err)
	}
	return o, nil
}

// hit is a passage as clients see it.
type hit struct {
	retriever.Hit
	span16
	URL string `json:"url"`
}

// span16 is a range in UTF-16 units, which browsers count in.
type span16 struct {
	Start16 int `json:"start16"`
	End16   int `json:"end16"`
}

// in16 is r of text in UTF-16 units. A range that the text does not have is empty.
func in16(text string, r chunker.Range) span16 {
	if r.Start < 0 || r.End < r.Start || r.End > len(text) {
		return span16{}
	}
	start := units16(text[:r.Start])
	return span16{start, start + units16(r.Of(text))}
}

func units16(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// locator finds where passages stand, for people: it knows the texts of documents.
type locator struct {
	store            retriever.Store
	base, collection string
	texts            map[string]string // by document
}

func (s *Server) newLocator(r *http.Request, store retriever.Store, collection string) *locator {
	return &locator{store, s.base(r), collection, map[string]string{}}
}

// read fetches the texts of the hits' documents that are not known yet.
func (l *locator) read(ctx context.Context, hits []retriever.Hit) error {
	var ids []string
	for _, h := range hits {
		if _, known := l.texts[h.Document]; !known {
			l.texts[h.Document] = ""
			ids = append(ids, h.Document)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	documents, err := l.store.Fetch(ctx, ids, retriever.Want{Text: true})
	if err != nil {
		return err
	}
	for _, d := range documents {
		l.texts[d.ID] = d.Text
	}
	return nil
}

func (l *locator) span(document string, r chunker.Range) span16 { return in16(l.texts[document], r) }

func (l *locator) url(document string, metadata map[string]any, r chunker.Range) string {
	return passageURL(l.base, l.collection, document, metadata, r)
}

// hits returns passages as clients see them.
func (l *locator) hits(ctx context.Context, found []retriever.Hit) ([]hit, error) {
	if err := l.read(ctx, found); err != nil {
		return nil, err
	}
	out := make([]hit, len(found))
	for i, h := range found {
		out[i] = hit{h, l.span(h.Document, h.Range), l.url(h.Document, h.Metadata, h.Range)}
		out[i].Metadata = pipeline.Shown(h.Metadata)
	}
	return out, nil
}

// search is POST /v1/search.
func (s *Server) search(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		Query string `json:"query"`
		findRequest
	}
	if err := s.readJSON(w, r, &req, true); err != nil {
		return err
	}
	opts, err := req.options(req.Query, s.opts.Search, s.opts.Search.K)
	if err != nil {
		return err
	}
	p, err := s.open(r.Context(), req.Collection, false)
	if err != nil {
		return err
	}
	ctx, end := span(r.Context(), "search")
	found, err := p.Search(ctx, req.Query, opts)
	end(err)
	if err != nil {
		return err
	}
	hits, err := s.newLocator(r, p.Store, req.Collection).hits(r.Context(), found)
	if err != nil {
		return err
	}
	s.writeJSON(w, r, http.StatusOK, struct {
		Hits []hit `json:"hits"`
	}{hits})
	return nil
}
