package langchain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/tmc/langchaingo/embeddings"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

// Parts are what a VectorStore is made of.
type Parts struct {
	// Embedder makes the vectors. A landmark model, or an Embedder of one, gives
	// each document a vector and each of its chunks another. Any other embedder
	// gives a document one vector, which is brought to unit length.
	Embedder embeddings.Embedder
	// Chunker cuts documents. A landmark model needs one, such as a
	// *chunker.Chunker that counts in its tokens; with any other embedder it
	// must be nil, since a document stays whole.
	Chunker pipeline.Chunker
	// Open opens the store of a tenant, which vectorstores.WithNameSpace names;
	// the plain store is tenant "". It is called once for each tenant, when the
	// first call needs it, and again after it failed. See SingleTenant.
	Open func(ctx context.Context, tenant string) (retriever.Store, error)
}

// VectorStoreOptions shape the searches of a VectorStore. The zero value is the
// default.
type VectorStoreOptions struct {
	// Request is the template of every search. Its K, Vector and Words are set
	// by each call, whose filters are added to its own. An empty Level means
	// retriever.ChunkLevel here.
	Request retriever.Request
	// Hybrid matches the query's words by BM25 too. A document's Score is then
	// the fused score, which is no cosine.
	Hybrid bool
	// Passages returns the best passage of each document at the level
	// retriever.DocumentLevel, in place of its whole text.
	Passages bool
}

// VectorStore is a Waymark store as langchaingo's vectorstores.VectorStore. It is
// safe for concurrent use.
type VectorStore struct {
	embedder embeddings.Embedder // as given
	encoder  pipeline.Embedder
	chunker  pipeline.Chunker
	opts     VectorStoreOptions
	open     func(ctx context.Context, tenant string) (retriever.Store, error)

	opening chan struct{} // holds one while a store is opened
	mu      sync.Mutex
	stores  map[string]retriever.Store // by tenant; nil once closed
}

// NewVectorStore returns a VectorStore of the given parts; nil options are the
// default.
func NewVectorStore(parts Parts, opts *VectorStoreOptions) (*VectorStore, error) {
	if parts.Embedder == nil || parts.Open == nil {
		return nil, errors.New("a vector store needs an embedder and a function that opens its stores")
	}
	s := &VectorStore{embedder: parts.Embedder, chunker: parts.Chunker, open: parts.Open, opening: make(chan struct{}, 1), stores: make(map[string]retriever.Store)}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Request.Level == "" {
		s.opts.Request.Level = retriever.ChunkLevel
	}
	if err := checkTemplate(s.opts.Request, s.opts.Hybrid); err != nil {
		return nil, err
	}
	model, landmarks := unwrapped(parts.Embedder).(pipeline.Embedder)
	switch {
	case landmarks && parts.Chunker == nil:
		return nil, errors.New("a landmark model needs a chunker that cuts documents: chunker.New makes one that counts in the model's tokens")
	case landmarks:
		s.encoder = model
	case parts.Chunker != nil:
		return nil, fmt.Errorf("the embedder %T gives a text one vector, so the chunker would not be used: leave it out, and split documents before adding them", parts.Embedder)
	default:
		s.encoder, s.chunker = foreign{parts.Embedder}, whole{}
	}
	return s, nil
}

// SingleTenant is a Parts.Open for one store: it is the plain store, and other
// tenants are refused.
func SingleTenant(store retriever.Store) func(context.Context, string) (retriever.Store, error) {
	return func(_ context.Context, tenant string) (retriever.Store, error) {
		if tenant != "" {
			return nil, errors.New("this store has no tenants: use no name space, or a Parts.Open that keeps tenants apart")
		}
		return store, nil
	}
}

// Close closes the stores that Parts.Open has opened. Calls after it fail with
// retriever.ErrClosed.
func (s *VectorStore) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, tenant := range slices.Sorted(maps.Keys(s.stores)) {
		errs = append(errs, s.stores[tenant].Close())
	}
	s.stores = nil
	return errors.Join(errs...)
}

// tenant returns the store of a tenant. Stores are opened one at a time; meanwhile
// those that are open can be used, and whoever waits may give up.
func (s *VectorStore) tenant(ctx context.Context, name string) (retriever.Store, error) {
	if store, err := s.opened(name); store != nil || err != nil {
		return store, err
	}
	select {
	case s.opening <- struct{}{}:
		defer func() { <-s.opening }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if store, err := s.opened(name); store != nil || err != nil {
		return store, err
	}
	store, err := s.open(ctx, name)
	if err == nil && store == nil {
		err = errors.New("the function that opens stores returned none")
	}
	if err != nil {
		return nil, fmt.Errorf("name space %q: %w", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stores == nil { // closed meanwhile
		return nil, errors.Join(retriever.ErrClosed, store.Close())
	}
	s.stores[name] = store
	return store, nil
}

// opened returns the store of a tenant if it is open.
func (s *VectorStore) opened(name string) (retriever.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stores == nil {
		return nil, retriever.ErrClosed
	}
	return s.stores[name], nil
}

// options applies the options of a call.
func (s *VectorStore) options(options []vectorstores.Option) (vectorstores.Options, error) {
	var o vectorstores.Options
	for _, option := range options {
		if option != nil {
			option(&o)
		}
	}
	if o.Embedder != nil && !sameEmbedder(o.Embedder, s.embedder) {
		return o, fmt.Errorf("the embedder %T given with the call is not the one that made the vectors of this store, and vectors of two embedders cannot be compared: open a vector store for it", o.Embedder)
	}
	return o, nil
}

// SimilaritySearch returns the passages most like a query, best first, at most
// numDocuments of them. A document's Score is the cosine that passages are ranked
// by: of query and chunk, unless VectorStoreOptions say otherwise. Its metadata is
// that of the document it was found in, with the keys that start with "waymark."
// added.
//
// WithNameSpace names the tenant; WithFilters takes what Filter reads;
// WithScoreThreshold, if it is not 0, drops passages whose cosine (in terms of
// retriever.Score, Dense) is less; WithEmbedder is refused unless it names the
// store's own; WithDeduplicater means nothing here and is refused.
func (s *VectorStore) SimilaritySearch(ctx context.Context, query string, numDocuments int, options ...vectorstores.Option) ([]schema.Document, error) {
	o, err := s.options(options)
	if err != nil {
		return nil, err
	}
	if o.Deduplicater != nil {
		return nil, errors.New("a deduplicater says what to add, which a search does not do: leave WithDeduplicater out")
	}
	if numDocuments < 1 {
		return nil, fmt.Errorf("search for %d documents: want 1 or more", numDocuments)
	}
	req := s.opts.Request
	req.K = numDocuments
	if err := narrow(&req, o); err != nil {
		return nil, err
	}
	store, err := s.tenant(ctx, o.NameSpace)
	if err != nil {
		return nil, err
	}
	hits, err := search(ctx, store, s.embedder, query, req, s.opts.Hybrid)
	if err != nil {
		return nil, err
	}
	return documents(ctx, store, hits, req.Level == retriever.DocumentLevel && !s.opts.Passages)
}

// narrow adds the filters and the threshold of a call to a request.
func narrow(req *retriever.Request, o vectorstores.Options) error {
	filter, err := Filter(o.Filters)
	if err != nil {
		return err
	}
	req.Filter.All = append(slices.Clone(req.Filter.All), filter.All...)
	switch t := float64(o.ScoreThreshold); {
	case t == 0:
		return nil
	case !(t >= -1 && t <= 1):
		return fmt.Errorf("score threshold %v: want -1 to 1, as cosines are, or 0 for none", o.ScoreThreshold)
	}
	// A Score is rounded to 32 bits, and one that equals the threshold is enough.
	below := math.Nextafter32(o.ScoreThreshold, -2)
	least := (float64(o.ScoreThreshold) + float64(below)) / 2
	if req.MinScore.Dense == nil || *req.MinScore.Dense < least {
		req.MinScore.Dense = &least
	}
	return nil
}
