package server

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
	"strings"

	"github.com/waymark-rag/waymark/landmark"
)

// texts is one text or several. Token ids, which OpenAI takes too, are those of
// another model's tokenizer and refused.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(data []byte) error {
	var one string
	if data[0] == '"' && json.Unmarshal(data, &one) == nil {
		*t = texts{one}
		return nil
	}
	var many []json.RawMessage
	if err := json.Unmarshal(data, &many); err != nil {
		return invalid("input", "the input: want a text or a list of texts")
	}
	for i, raw := range many {
		var text string
		switch {
		case raw[0] == '[' || raw[0] >= '0' && raw[0] <= '9':
			e := invalid("input", "the input is token ids, which only the model they were made for can read: want texts")
			e.Hint = "LangChain's OpenAIEmbeddings sends texts with check_embedding_ctx_length=False"
			return e
		case json.Unmarshal(raw, &text) != nil || raw[0] != '"':
			return invalid("input", "input %d is no text", i)
		}
		*t = append(*t, text)
	}
	return nil
}

// checkInputs refuses what cannot be embedded.
func (s *Server) checkInputs(param string, texts []string) error {
	if len(texts) == 0 {
		return invalid(param, "%s is empty: want at least one text", param)
	}
	if len(texts) > s.limits.Inputs {
		return invalid(param, "%d texts in %s: want %d or fewer at once", len(texts), param, s.limits.Inputs)
	}
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			return invalid(param, "text %d of %s is empty", i, param)
		}
	}
	return nil
}

// embedded is the vector of a text.
type embedded struct {
	vector    []float32
	landmarks *landmark.Embedding // of a document
	tokens    int
}

// embedTexts encodes texts as queries or documents.
func (s *Server) embedTexts(ctx context.Context, texts []string, query bool) (out []embedded, err error) {
	ctx, end := span(ctx, "embed")
	defer func() { end(err) }()
	out = make([]embedded, len(texts))
	if !query {
		all, err := s.opts.Embedder.EmbedLandmarks(ctx, texts)
		if err != nil {
			return nil, err
		}
		for i := range all {
			out[i] = embedded{all[i].Document, &all[i], all[i].Tokens}
		}
		s.metrics.embedded(out)
		return out, nil
	}
	vectors, err := s.opts.Embedder.EmbedQueries(ctx, texts)
	if err != nil {
		return nil, err
	}
	for i, v := range vectors {
		tokens, err := s.opts.Embedder.Offsets(texts[i])
		if err != nil {
			return nil, err
		}
		out[i] = embedded{vector: v, tokens: len(tokens)}
	}
	s.metrics.embedded(out)
	return out, nil
}

// checkDimensions refuses vectors shorter than the model's: they would be of another
// space.
func (s *Server) checkDimensions(dimensions *int) error {
	if have := s.opts.Embedder.Config().Dim; dimensions != nil && *dimensions != have {
		return invalid("dimensions", "dimensions %d: the model's vectors have %d and cannot be shortened", *dimensions, have)
	}
	return nil
}

// isQuery reads input_type, in the words of Cohere and Voyage too.
func isQuery(kind string) (bool, error) {
	switch kind {
	case "", "document", "passage", "search_document":
		return false, nil
	case "query", "search_query":
		return true, nil
	}
	return false, invalid("input_type", "input_type %s: want query or document", quoted(kind))
}

// embeddings is POST /v1/embeddings.
func (s *Server) embeddings(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		Input          texts  `json:"input"`
		Model          string `json:"model"`
		EncodingFormat string `json:"encoding_format"` // or null
		Dimensions     *int   `json:"dimensions"`
		InputType      string `json:"input_type"`
		Landmarks      bool   `json:"landmarks"`
	}
	if err := s.readJSON(w, r, &req, false); err != nil {
		return err
	}
	if req.Model != "" && req.Model != s.opts.Model {
		return noModel(req.Model)
	}
	if f := req.EncodingFormat; f != "" && f != "float" && f != "base64" {
		return invalid("encoding_format", "encoding_format %s: want float or base64", quoted(f))
	}
	if err := s.checkDimensions(req.Dimensions); err != nil {
		return err
	}
	query, err := isQuery(req.InputType)
	if err != nil {
		return err
	}
	if query && req.Landmarks {
		return invalid("landmarks", "a query has no landmarks: want input_type document, or landmarks false")
	}
	if err := s.checkInputs("input", req.Input); err != nil {
		return err
	}
	vectors, err := s.embedTexts(r.Context(), req.Input, query)
	if err != nil {
		return err
	}
	write := func(v []float32) any { return v }
	if req.EncodingFormat == "base64" {
		write = func(v []float32) any { return inBase64(v) }
	}
	out := embeddingList{Object: "list", Model: s.opts.Model, Data: make([]embeddingItem, len(vectors))}
	for i, v := range vectors {
		item := embeddingItem{Object: "embedding", Index: i, Embedding: write(v.vector)}
		if req.Landmarks {
			for k, l := range v.landmarks.Landmarks {
				item.Landmarks = append(item.Landmarks, landmarkItem{v.landmarks.Chunks[k].Start, v.landmarks.Chunks[k].End, write(l)})
			}
		}
		out.Data[i] = item
		out.Usage.Prompt += v.tokens
	}
	out.Usage.Total = out.Usage.Prompt
	s.writeJSON(w, r, http.StatusOK, out)
	return nil
}

type embeddingList struct {
	Object string          `json:"object"`
	Data   []embeddingItem `json:"data"`
	Model  string          `json:"model"`
	Usage  struct {
		Prompt int `json:"prompt_tokens"`
		Total  int `json:"total_tokens"`
	} `json:"usage"`
}

type embeddingItem struct {
	Object    string         `json:"object"`
	Index     int            `json:"index"`
	Embedding any            `json:"embedding"`
	Landmarks []landmarkItem `json:"landmarks,omitempty"`
}

// landmarkItem is the vector of a chunk, which is bytes start to end of the input.
type landmarkItem struct {
	Start     int `json:"start"`
	End       int `json:"end"`
	Embedding any `json:"embedding"`
}

// inBase64 writes a vector as OpenAI does: float32, little-endian.
func inBase64(v []float32) string {
	data := make([]byte, 0, 4*len(v))
	for _, x := range v {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(data)
}
