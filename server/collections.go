package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

// open returns the pipeline of the caller's collection; no name means Default.
func (s *Server) open(ctx context.Context, name string, create bool) (*pipeline.Pipeline, error) {
	name = cmp.Or(name, Default)
	if !CollectionName(name) {
		return nil, invalid("collection", "collection %q: want up to 64 of a-z, 0-9, _ and -", clipped(name))
	}
	tenant := callerOf(ctx).Tenant
	if create {
		if err := s.mayMake(ctx, tenant, name); err != nil {
			return nil, err
		}
	}
	p, err := s.opts.Collections.Open(ctx, tenant, name, create)
	if errors.Is(err, retriever.ErrNotFound) {
		return nil, &apiError{Status: http.StatusNotFound, Code: "collection_not_found", Param: "collection", cause: err,
			Message: "there is no collection " + quoted(name), Hint: "GET /v1/collections lists those there are; an upload makes one"}
	}
	return p, err
}

// mayMake refuses one collection too many.
func (s *Server) mayMake(ctx context.Context, tenant, name string) error {
	names, err := s.opts.Collections.Names(ctx, tenant)
	if err != nil {
		return err
	}
	if slices.Contains(names, name) {
		return nil
	}
	if len(names) >= s.limits.Collections {
		return invalid("collection", "there are %d collections, as many as there may be: use one of them", len(names))
	}
	return nil
}

// listCollections is GET /v1/collections.
func (s *Server) listCollections(w http.ResponseWriter, r *http.Request) error {
	type collection struct {
		Name      string `json:"name"`
		Documents int    `json:"documents"`
		Chunks    int    `json:"chunks"`
	}
	ctx := r.Context()
	names, err := s.opts.Collections.Names(ctx, callerOf(ctx).Tenant)
	if err != nil {
		return err
	}
	out := []collection{}
	for _, name := range names {
		stats, err := s.stats(ctx, name)
		switch {
		case err == nil:
			out = append(out, collection{name, stats.Documents, stats.Chunks})
		case name == Default || ctx.Err() != nil:
			return err
		default: // one that cannot be used, such as another model's, does not hide the others
			s.log.Warn("collection left out", "collection", name, "error", err)
		}
	}
	s.writeJSON(w, r, http.StatusOK, map[string]any{"collections": out})
	return nil
}

func (s *Server) stats(ctx context.Context, name string) (retriever.Stats, error) {
	p, err := s.open(ctx, name, false)
	if err != nil {
		return retriever.Stats{}, err
	}
	return p.Store.Stats(ctx)
}
