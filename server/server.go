package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
)

// Server is the handler. It is safe for concurrent use.
type Server struct {
	opts     Options
	limits   Limits
	log      *slog.Logger
	routes   chi.Router
	sameSite *http.CrossOriginProtection
	started  time.Time

	work    *queue // searching and encoding
	answers *queue
	quotes  *queue // answers of models that quote, which is work for this machine
	rates   *rates
	jobs    *jobs
	metrics *metrics

	draining atomic.Bool
}

// New returns a Server. Close it to end its background work.
func New(opts Options) (*Server, error) {
	if opts.Collections == nil || opts.Embedder == nil {
		return nil, errors.New("a server needs collections and an embedder")
	}
	if opts.PublicURL != "" {
		u, err := url.Parse(opts.PublicURL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
			return nil, errors.New("public url: want http://HOST or https://HOST, with a path if there is one, without user or password")
		}
		opts.PublicURL = strings.TrimSuffix(opts.PublicURL, "/")
	}
	opts.Passages = cmp.Or(opts.Passages, 8)
	if opts.Passages < 0 || opts.Passages > maxK {
		return nil, errors.New("passages: want 1 to 1000, or 0 for 8")
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if len(opts.Hosts) == 0 {
		opts.Hosts = []string{"localhost", "127.0.0.1", "::1"}
	}
	sameSite := http.NewCrossOriginProtection()
	for _, origin := range opts.Origins {
		if err := sameSite.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("origins: %w", err)
		}
	}
	limits := opts.Limits.withDefaults()
	if err := limits.validate(); err != nil {
		return nil, err
	}
	s := &Server{
		opts: opts, limits: limits, log: opts.Log, sameSite: sameSite, started: time.Now(),
		work:    newQueue(limits.Concurrent, limits.Waiting),
		answers: newQueue(limits.Answers, limits.Waiting),
		quotes:  newQueue(processors(), limits.Answers),
		rates:   newRates(limits.Rate),
	}
	s.jobs = newJobs(limits, opts.Log)
	s.metrics = newMetrics(s)
	s.routes = s.newRouter()
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.routes.ServeHTTP(w, r) }

// HTTPServer returns an http.Server with the time-outs that the handler cannot set,
// ready to be given a listener.
func (s *Server) HTTPServer() *http.Server {
	return &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
}

// Drain says that the server is about to go: /readyz fails from now on, so that no
// new work is sent here, and uploads are refused. What goes on goes on.
func (s *Server) Drain() {
	s.draining.Store(true)
	s.jobs.refuse()
}

// Close drains the server and waits for the documents that are being indexed; jobs
// still waiting fail. When ctx ends before, indexing is cut short: what is stored by
// then stays, and no document is left half.
func (s *Server) Close(ctx context.Context) error {
	s.Drain()
	return s.jobs.close(ctx)
}

// newRouter says what is where, who may go there, and what bounds it.
func (s *Server) newRouter() chi.Router {
	r := chi.NewRouter()
	r.Use(escapedPaths, s.identify, s.observe, s.recovered, s.guard, s.deadlines)
	r.NotFound(s.handle(func(http.ResponseWriter, *http.Request) error {
		return &apiError{Status: http.StatusNotFound, Code: "route_not_found", Message: "there is nothing at this address", Hint: "/openapi.json lists what there is"}
	}))
	r.MethodNotAllowed(s.handle(func(_ http.ResponseWriter, r *http.Request) error {
		return &apiError{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Message: "this address does not take " + r.Method}
	}))
	if s.opts.Page != nil {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			r.Method(method, "/", s.opts.Page)
			r.Method(method, "/assets/*", s.opts.Page)
		}
	}
	r.Get("/healthz", s.handle(s.healthz))
	r.Get("/readyz", s.handle(s.readyz))
	r.Get("/health", s.handle(s.health))
	r.Get("/openapi.json", s.handle(s.openapi))
	r.With(s.need(Admin)).Get("/metrics", s.metrics.handler.ServeHTTP)

	r.Group(func(r chi.Router) { // quick ones, which wait for no one
		r.Use(s.need(Read))
		r.Get("/v1/models", s.handle(s.listModels))
		r.Get("/v1/models/*", s.handle(s.getModel))
		r.Get("/v1/collections", s.handle(s.listCollections))
		r.Get("/v1/documents", s.handle(s.listDocuments))
		r.Get("/v1/documents/{id}", s.handle(s.getDocument))
	})
	r.Group(func(r chi.Router) {
		r.Use(s.need(Write))
		r.Post("/v1/documents", s.handle(s.postDocuments))
		r.Delete("/v1/documents/{id}", s.handle(s.deleteDocument))
		r.Get("/v1/jobs/{id}", s.handle(s.getJob))
	})
	r.Group(func(r chi.Router) {
		r.Use(s.need(Read), s.queued(s.work), s.within(s.limits.Request))
		r.Post("/v1/search", s.handle(s.search))
		r.Post("/v1/embeddings", s.handle(s.embeddings))
		r.Post("/v1/rerank", s.handle(s.rerank))
		r.Post("/v2/rerank", s.handle(s.rerank))
		r.Handle("/mcp", s.mcpHandler())
	})
	r.Group(func(r chi.Router) {
		r.Use(s.need(Read), s.queued(s.answers), s.within(s.limits.Answer))
		r.Post("/v1/ask", s.handle(s.ask))
		r.Post("/v1/chat/completions", s.handle(s.chat))
	})
	r.Group(func(r chi.Router) {
		r.Use(shaped(teiErrors))
		r.With(s.need(Read)).Get("/info", s.handle(s.teiInfo))
		r.Group(func(r chi.Router) {
			r.Use(s.need(Read), s.queued(s.work), s.within(s.limits.Request))
			r.Post("/embed_all", s.handle(s.teiEmbedAll))
			r.Post("/rerank", s.handle(s.teiRerank))
		})
	})
	r.Post("/embed", s.embed())
	r.Group(func(r chi.Router) {
		r.Use(shaped(ragErrors), s.asLibreChat)
		s.libreChatRoutes(r)
	})
	return r
}

// embed is LibreChat's upload or TEI's endpoint, which have the same address, by
// the type of content.
func (s *Server) embed() http.HandlerFunc {
	tei := chi.Chain(shaped(teiErrors), s.need(Read), s.queued(s.work), s.within(s.limits.Request)).HandlerFunc(s.handle(s.teiEmbed))
	upload := chi.Chain(shaped(ragErrors), s.asLibreChat, s.need(Write), s.queued(s.work), s.within(s.limits.Answer)).HandlerFunc(s.handle(s.ragEmbed))
	return func(w http.ResponseWriter, r *http.Request) {
		if mediaType(r) == "multipart/form-data" {
			upload.ServeHTTP(w, r)
			return
		}
		tei.ServeHTTP(w, r)
	}
}
