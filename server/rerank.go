package server

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/waymark-rag/waymark/retriever"
)

// ranked is a text with its score.
type ranked struct {
	index int
	score float64 // cosine of the query and the nearest landmark
}

// relevance brings a cosine into the range from 0 to 1, in the same order.
func (r ranked) relevance() float64 { return (1 + r.score) / 2 }

// maxSim ranks texts for a query, best first.
func (s *Server) maxSim(ctx context.Context, query string, texts []string) ([]ranked, int, error) {
	q, err := s.embedTexts(ctx, []string{query}, true)
	if err != nil {
		return nil, 0, err
	}
	documents, err := s.embedTexts(ctx, texts, false)
	if err != nil {
		return nil, 0, err
	}
	tokens := q[0].tokens
	out := make([]ranked, len(documents))
	for i, d := range documents {
		tokens += d.tokens
		best := -1.0
		for _, l := range d.landmarks.Landmarks {
			best = max(best, min(retriever.Dot(q[0].vector, l), 1)) // rounding may pass 1
		}
		out[i] = ranked{i, best}
	}
	slices.SortStableFunc(out, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	return out, tokens, nil
}

// checkQuery refuses an empty query.
func checkQuery(query string) error {
	if strings.TrimSpace(query) == "" {
		return invalid("query", "the query is empty")
	}
	return nil
}

// rerankText is a text, or an object with one.
type rerankText string

// UnmarshalJSON implements json.Unmarshaler.
func (t *rerankText) UnmarshalJSON(data []byte) error {
	var object struct {
		Text *string `json:"text"`
	}
	var text string
	switch {
	case data[0] == '"' && json.Unmarshal(data, &text) == nil:
		*t = rerankText(text)
	case json.Unmarshal(data, &object) == nil && object.Text != nil:
		*t = rerankText(*object.Text)
	default:
		return invalid("documents", `a document: want a text or {"text": "..."}`)
	}
	return nil
}

// rerank is POST /v1/rerank and /v2/rerank, as Cohere and Jina have them.
func (s *Server) rerank(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		Model           string       `json:"model"`
		Query           string       `json:"query"`
		Documents       []rerankText `json:"documents"`
		TopN            *int         `json:"top_n"`
		ReturnDocuments bool         `json:"return_documents"`
	}
	if err := s.readJSON(w, r, &req, false); err != nil {
		return err
	}
	if req.Model != "" && req.Model != s.opts.Model {
		return noModel(req.Model)
	}
	if err := checkQuery(req.Query); err != nil {
		return err
	}
	if req.TopN != nil && *req.TopN < 1 {
		return invalid("top_n", "top_n %d: want 1 or more", *req.TopN)
	}
	texts := make([]string, len(req.Documents))
	for i, d := range req.Documents {
		texts[i] = string(d)
	}
	if err := s.checkInputs("documents", texts); err != nil {
		return err
	}
	all, tokens, err := s.maxSim(r.Context(), req.Query, texts)
	if err != nil {
		return err
	}
	if req.TopN != nil && *req.TopN < len(all) {
		all = all[:*req.TopN]
	}
	out := rerankResponse{ID: newID(), Model: s.opts.Model, Results: make([]rerankResult, len(all))}
	out.Usage.Total = tokens
	for i, d := range all {
		out.Results[i] = rerankResult{Index: d.index, Score: d.relevance()}
		if req.ReturnDocuments {
			out.Results[i].Document = map[string]string{"text": texts[d.index]}
		}
	}
	s.writeJSON(w, r, http.StatusOK, out)
	return nil
}

type rerankResponse struct {
	ID      string         `json:"id"`
	Model   string         `json:"model"`
	Results []rerankResult `json:"results"`
	Usage   struct {
		Total int `json:"total_tokens"`
	} `json:"usage"`
}

type rerankResult struct {
	Index    int               `json:"index"`
	Score    float64           `json:"relevance_score"`
	Document map[string]string `json:"document,omitempty"`
}
