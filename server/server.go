package server

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

// Collections is where the server finds documents. It is safe for concurrent use.
type Collections interface {
	// Open returns the pipeline of a tenant's collection, which stays open when
	// the server is done with it. One that is not there is made if create is set,
	// and otherwise an error that wraps retriever.ErrNotFound; the collection
	// [Default] is always there. Names were checked by [CollectionName].
	Open(ctx context.Context, tenant, name string, create bool) (*pipeline.Pipeline, error)
	// Names lists a tenant's collections, Default first.
	Names(ctx context.Context, tenant string) ([]string, error)
}

// Default is the collection of requests that name none.
const Default = "default"

var collectionName = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)

// CollectionName reports whether a collection can have a name.
func CollectionName(name string) bool { return collectionName.MatchString(name) }

// Embedder makes the vectors of the endpoints for embeddings and rerank;
// *landmark.Model is one.
type Embedder interface {
	EmbedLandmarks(ctx context.Context, texts []string) ([]landmark.Embedding, error)
	EmbedQueries(ctx context.Context, texts []string) ([][]float32, error)
	Offsets(text string) ([]chunker.Range, error) // of its tokens
	Config() landmark.Config
}

// Options say what is served and how. Collections and Embedder must be there; the
// zero value of every other field is its default.
type Options struct {
	Collections Collections
	Embedder    Embedder
	// Model and Digest name the embedding model and its weights.
	Model, Digest string
	// Search is what a request that says nothing else searches by.
	Search pipeline.SearchOptions
	// Passages is how many an answer is written from; 0 means 8.
	Passages int

	// Authenticate says who sends a request, or returns an error, which is
	// answered with 401. [Keys] has one. Nil lets everyone do everything, and
	// then only requests for the host names in Hosts are answered.
	Authenticate func(*http.Request) (Caller, error)
	// Hosts are the names that the server goes by where there is no
	// authentication, so that no web site can point a name of its own at it.
	// Empty means those of the loopback interface.
	Hosts []string
	// Origins are the web sites, such as https://app.example, whose pages may
	// use the API; others may not.
	Origins []string
	// PublicURL is where people reach the server, for links in citations. Empty
	// takes it from the request.
	PublicURL string
	// LibreChatSecret is the JWT_SECRET of a LibreChat whose tokens are accepted
	// at the endpoints for it; empty accepts none.
	LibreChatSecret string

	Limits Limits
	// Page is served at / and /assets/; nil serves no page.
	Page http.Handler
	// Log gets what went on; nil discards it.
	Log *slog.Logger
	// Version is that of the program.
	Version string
}

// Limits bound what requests may take. The zero value is the default.
type Limits struct {
	// Body is the most bytes of a JSON request; 0 means 8 MiB.
	Body int64
	// Upload is the most bytes of an upload; 0 means 64 MiB.
	Upload int64
	// Pending is the most bytes that a tenant's waiting uploads take; 0 means
	// four full uploads.
	Pending int64
	// Inputs is the most texts of one request to embed or rerank; 0 means 2048.
	Inputs int
	// Request is how long a request may take, reading it included; 0 means a
	// minute.
	Request time.Duration
	// Answer is how long an answer may take, and an upload to come in; 0 means
	// ten minutes.
	Answer time.Duration
	// Stalled is how long a client may take to read a piece of a stream; 0
	// means 30 seconds.
	Stalled time.Duration
	// Ping is after how long a stream without news gets a comment line; 0 means
	// 15 seconds.
	Ping time.Duration
	// Concurrent is how many requests are worked on at once, those that wait
	// for a language model not counted; 0 means four for each processor.
	Concurrent int
	// Answers is how many answers are written at once; 0 means 128.
	Answers int
	// Waiting is how many requests of each kind a tenant may have in the queue;
	// 0 means 64.
	Waiting int
	// Rate is how many requests a second a tenant may send, in bursts of up to
	// two seconds' worth; 0 means any number.
	Rate float64
	// Collections is how many collections a tenant may have; 0 means 64.
	Collections int
}

func (l Limits) withDefaults() Limits {
	l.Body = cmp.Or(l.Body, 8<<20)
	l.Upload = cmp.Or(l.Upload, 64<<20)
	l.Pending = cmp.Or(l.Pending, 4*l.Upload)
	l.Inputs = cmp.Or(l.Inputs, 2048)
	l.Request = cmp.Or(l.Request, time.Minute)
	l.Answer = cmp.Or(l.Answer, 10*time.Minute)
	l.Stalled = cmp.Or(l.Stalled, 30*time.Second)
	l.Ping = cmp.Or(l.Ping, 15*time.Second)
	l.Concurrent = cmp.Or(l.Concurrent, 4*processors())
	l.Answers = cmp.Or(l.Answers, 128)
	l.Waiting = cmp.Or(l.Waiting, 64)
	l.Collections = cmp.Or(l.Collections, 64)
	return l
}

func (l Limits) validate() error {
	for _, ok := range []bool{l.Body > 0, l.Upload > 0, l.Pending >= l.Upload, l.Inputs > 0, l.Request > 0, l.Answer > 0, l.Stalled > 0,
		l.Ping > 0, l.Concurrent > 0, l.Answers > 0, l.Waiting > 0, l.Rate >= 0, l.Collections > 0} {
		if !ok {
			return errors.New("limits: want each above 0, or 0 for its default, and no fewer pending bytes than those of an upload")
		}
	}
	return nil
}

// Server is the handler. It is safe for concurrent use.
type Server struct {
	opts    Options
	limits  Limits
	log     *slog.Logger
	routes  chi.Router
	started time.Time

	work    *queue // searching and encoding
	answers *queue
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
	limits := opts.Limits.withDefaults()
	if err := limits.validate(); err != nil {
		return nil, err
	}
	s := &Server{
		opts: opts, limits: limits, log: opts.Log, started: time.Now(),
		work:    newQueue(limits.Concurrent, limits.Waiting),
		answers: newQueue(limits.Answers, limits.Waiting),
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
	for _, n := range names {
		if n == name {
			return nil
		}
	}
	if len(names) >= s.limits.Collections {
		return invalid("collection", "there are %d collections, as many as there may be: use one of them", len(names))
	}
	return nil
}
