package server

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"
)

// The names of chat models: waymark answers from the default collection, waymark/NAME
// from another. With the suffix the sources are printed below the answer.
const (
	chatName      = "waymark"
	sourcesSuffix = "+sources"
)

type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

// chatModel says what a chat model answers from.
func chatModel(name string) (collection string, sources bool, err error) {
	rest, sources := strings.CutSuffix(name, sourcesSuffix)
	collection, named := strings.CutPrefix(rest, chatName+"/")
	switch {
	case rest == chatName:
		return Default, sources, nil
	case named && CollectionName(collection):
		return collection, sources, nil
	}
	return "", false, noModel(name)
}

func noModel(name string) error {
	return &apiError{Status: http.StatusNotFound, Code: "model_not_found", Param: "model",
		Message: "there is no model " + quoted(name), Hint: "GET /v1/models lists those there are"}
}

// models are the names that the caller may use: one for each collection, and the
// embedding model.
func (s *Server) models(r *http.Request) ([]model, error) {
	names, err := s.opts.Collections.Names(r.Context(), callerOf(r.Context()).Tenant)
	if err != nil {
		return nil, err
	}
	var out []model
	for _, name := range names {
		id := chatName
		if name != Default {
			id += "/" + name
		}
		out = append(out, s.model(id))
	}
	return append(out, s.model(s.opts.Model)), nil
}

func (s *Server) model(id string) model { return model{id, "model", s.started.Unix(), "waymark"} }

// listModels is GET /v1/models.
func (s *Server) listModels(w http.ResponseWriter, r *http.Request) error {
	all, err := s.models(r)
	if err != nil {
		return err
	}
	s.writeJSON(w, r, http.StatusOK, struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{"list", all})
	return nil
}

// getModel is GET /v1/models/ID. The slash in an id may be escaped or not.
func (s *Server) getModel(w http.ResponseWriter, r *http.Request) error {
	id, err := url.PathUnescape(chi.URLParam(r, "*"))
	if err != nil {
		return noModel(chi.URLParam(r, "*"))
	}
	all, err := s.models(r)
	if err != nil {
		return err
	}
	for _, m := range all {
		if m.ID == id {
			s.writeJSON(w, r, http.StatusOK, m)
			return nil
		}
	}
	return noModel(id)
}
