package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/waymark-rag/waymark/retriever"
)

// healthz is GET /healthz: the process is alive.
func (s *Server) healthz(w http.ResponseWriter, r *http.Request) error {
	s.writeJSON(w, r, http.StatusOK, map[string]string{"status": "ok"})
	return nil
}

var errDraining = &apiError{Status: http.StatusServiceUnavailable, Code: "shutting_down", Message: "the server is shutting down", retry: 5 * time.Second}

// readyz is GET /readyz: the store can be reached, and the server is to stay.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) error {
	if err := s.ready(r.Context()); err != nil {
		return err
	}
	s.writeJSON(w, r, http.StatusOK, map[string]string{"status": "ok"})
	return nil
}

// health is GET /health, what TEI and LibreChat's rag_api call it.
func (s *Server) health(w http.ResponseWriter, r *http.Request) error {
	if err := s.ready(r.Context()); err != nil {
		return err
	}
	s.writeJSON(w, r, http.StatusOK, map[string]string{"status": "UP"})
	return nil
}

// readyTimeout is how long the store has to answer.
const readyTimeout = 5 * time.Second

func (s *Server) ready(ctx context.Context) error {
	if s.draining.Load() {
		return errDraining
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	p, err := s.opts.Collections.Open(ctx, "", Default, false)
	if errors.Is(err, retriever.ErrNotFound) {
		return nil
	}
	if err == nil {
		_, err = p.Store.Stats(ctx) // which may find that the store is gone
	}
	if err != nil {
		return &apiError{Status: http.StatusServiceUnavailable, Code: "store_unavailable", Message: "the store cannot be reached", retry: 5 * time.Second, cause: err}
	}
	return nil
}
