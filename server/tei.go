package server

import (
	"errors"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"
)

// What follows answers clients of Hugging Face's Text Embeddings Inference.

// teiRequest is what /embed and /embed_all take. Texts of any length are encoded
// whole, so that truncate has no effect.
type teiRequest struct {
	Inputs     texts  `json:"inputs"`
	Normalize  *bool  `json:"normalize"`
	PromptName string `json:"prompt_name"`
	Dimensions *int   `json:"dimensions"`
}

// teiStatus gives requests that cannot be used the status that TEI gives them.
func teiStatus(err error) error {
	var known *apiError
	if errors.As(err, &known) && known.Status == http.StatusBadRequest && known.Code == "invalid_value" {
		copied := *known
		copied.Status = http.StatusUnprocessableEntity
		return &copied
	}
	return err
}

// teiTexts reads and encodes the texts of a request.
func (s *Server) teiTexts(w http.ResponseWriter, r *http.Request, landmarks bool) ([]embedded, error) {
	start := time.Now()
	var req teiRequest
	if err := s.readJSON(w, r, &req, false); err != nil {
		return nil, teiStatus(err)
	}
	query, err := isQuery(req.PromptName)
	if err == nil {
		err = s.checkDimensions(req.Dimensions)
	}
	if err == nil && req.Normalize != nil && !*req.Normalize {
		err = invalid("normalize", "normalize false: the vectors are always of length 1")
	}
	if err == nil && query && landmarks {
		err = invalid("prompt_name", "prompt_name %s: only documents have landmarks", quoted(req.PromptName))
	}
	if err == nil {
		err = s.checkInputs("inputs", req.Inputs)
	}
	if err != nil {
		return nil, teiStatus(err)
	}
	vectors, err := s.embedTexts(r.Context(), req.Inputs, query)
	if err != nil {
		return nil, err
	}
	characters, tokens := 0, 0
	for i, v := range vectors {
		characters += utf8.RuneCountInString(req.Inputs[i])
		tokens += v.tokens
	}
	h := w.Header()
	h.Set("X-Compute-Type", "cpu")
	h.Set("X-Compute-Time", strconv.FormatInt(time.Since(start).Milliseconds(), 10))
	h.Set("X-Compute-Characters", strconv.Itoa(characters))
	h.Set("X-Compute-Tokens", strconv.Itoa(tokens))
	return vectors, nil
}

// teiEmbed is POST /embed: a vector for each text.
func (s *Server) teiEmbed(w http.ResponseWriter, r *http.Request) error {
	vectors, err := s.teiTexts(w, r, false)
	if err != nil {
		return err
	}
	out := make([][]float32, len(vectors))
	for i, v := range vectors {
		out[i] = v.vector
	}
	s.writeJSON(w, r, http.StatusOK, out)
	return nil
}

// teiEmbedAll is POST /embed_all. Where TEI has a vector for each token, this has the
// landmarks of each text.
func (s *Server) teiEmbedAll(w http.ResponseWriter, r *http.Request) error {
	vectors, err := s.teiTexts(w, r, true)
	if err != nil {
		return err
	}
	out := make([][][]float32, len(vectors))
	for i, v := range vectors {
		out[i] = v.landmarks.Landmarks
	}
	s.writeJSON(w, r, http.StatusOK, out)
	return nil
}

// teiRerank is POST /rerank.
func (s *Server) teiRerank(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		Query      string   `json:"query"`
		Texts      []string `json:"texts"`
		RawScores  bool     `json:"raw_scores"`
		ReturnText bool     `json:"return_text"`
	}
	if err := s.readJSON(w, r, &req, false); err != nil {
		return teiStatus(err)
	}
	err := checkQuery(req.Query)
	if err == nil {
		err = s.checkInputs("texts", req.Texts)
	}
	if err != nil {
		return teiStatus(err)
	}
	all, _, err := s.maxSim(r.Context(), req.Query, req.Texts)
	if err != nil {
		return err
	}
	type result struct {
		Index int     `json:"index"`
		Score float64 `json:"score"`
		Text  *string `json:"text,omitempty"`
	}
	out := make([]result, len(all))
	for i, d := range all {
		out[i] = result{Index: d.index, Score: d.relevance()}
		if req.RawScores {
			out[i].Score = d.score
		}
		if req.ReturnText {
			out[i].Text = &req.Texts[d.index]
		}
	}
	s.writeJSON(w, r, http.StatusOK, out)
	return nil
}

// teiInfo is GET /info.
func (s *Server) teiInfo(w http.ResponseWriter, r *http.Request) error {
	c := s.opts.Embedder.Config()
	s.writeJSON(w, r, http.StatusOK, map[string]any{
		"model_id":                s.opts.Model,
		"model_sha":               s.opts.Digest,
		"model_dtype":             "float32",
		"model_type":              map[string]any{"embedding": map[string]string{"pooling": string(c.Pooling)}},
		"max_concurrent_requests": s.limits.Concurrent,
		"max_input_length":        c.MaxLength, // of one window; longer texts take several
		"max_batch_tokens":        c.MaxLength,
		"max_client_batch_size":   s.limits.Inputs,
		"auto_truncate":           false,
		"tokenization_workers":    s.limits.Concurrent,
		"version":                 s.opts.Version,
		"dimension":               c.Dim,
	})
	return nil
}
