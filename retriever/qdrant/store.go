package qdrant

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/waymark-rag/waymark/retriever"
)

// Store is a retriever.Store in a collection of a Qdrant server. Several
// processes may have the same collection open, and write to it, at once.
type Store struct {
	address     string
	collection  string
	opts        Options
	client      *pb.Client
	shard       *pb.ShardKeySelector // of the tenant, nil without custom sharding
	part        int                  // most landmarks of a point
	fingerprint retriever.Fingerprint
	now         func() time.Time

	life   sync.RWMutex // held for reading by every call, for writing by Close
	closed bool

	mu      sync.Mutex
	indexes map[string]bool // fields of the payload that have one
}

var _ retriever.Store = (*Store)(nil)

// Open opens a collection of the server at an address, host or host:port. A
// collection that is not there, unless it is to be created, is a
// retriever.ErrNotFound; a server that cannot be reached is a
// retriever.ErrUnreachable, and one that refuses the key a retriever.ErrDenied.
// The context is not kept.
func Open(ctx context.Context, address, collection string, opts *Options) (*Store, error) {
	s, err := connect(address, collection, opts)
	if err != nil {
		return nil, err
	}
	if err := s.prepare(ctx); err != nil {
		s.client.Close()
		return nil, err
	}
	return s, nil
}

// connect makes a Store that has not looked at its collection yet.
func connect(address, collection string, opts *Options) (*Store, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := checkName(collection); err != nil {
		return nil, err
	}
	config, err := o.config(address)
	if err != nil {
		return nil, err
	}
	client, err := pb.NewClient(config)
	if err != nil {
		return nil, fmt.Errorf("qdrant at %s: %w", address, err)
	}
	return &Store{address: address, collection: collection, opts: o, client: client, now: time.Now, indexes: make(map[string]bool)}, nil
}

// checkName refuses names that the server does not take.
func checkName(collection string) error {
	const bad = "<>:\"/\\|?*\x00\x1f"
	if collection == "" || len(collection) > 255 || strings.ContainsAny(collection, bad) {
		return fmt.Errorf("collection name %q: want 1 to 255 bytes and none of %q", collection, bad)
	}
	return nil
}

// prepare makes sure that the server can do what is needed, and that the
// collection is one of ours, made by what the options name.
func (s *Store) prepare(ctx context.Context) error {
	if err := s.checkServer(ctx); err != nil {
		return err
	}
	if err := s.ensureCollection(ctx); err != nil {
		return err
	}
	have, err := s.describe(ctx)
	if err != nil {
		return err
	}
	switch {
	case have.Format > formatVersion:
		return fmt.Errorf("collection %q has format %d and this program reads up to %d: use a newer waymark", s.collection, have.Format, formatVersion)
	case !s.opts.Fingerprint.IsZero() && s.opts.Fingerprint != have.Fingerprint:
		return &retriever.MismatchError{Have: have.Fingerprint, Want: s.opts.Fingerprint}
	}
	s.part, s.fingerprint = have.PartLandmarks, have.Fingerprint
	if err := s.loadIndexes(ctx); err != nil {
		return err
	}
	if s.opts.ReadOnly {
		return nil
	}
	return s.sweep(ctx)
}

// Fingerprint returns what the collection was created with.
func (s *Store) Fingerprint() retriever.Fingerprint { return s.fingerprint }

// Close waits for calls in progress and ends the connection.
func (s *Store) Close() error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.client.Close()
}

// enter begins a call; leave ends it.
func (s *Store) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.life.RLock()
	if s.closed {
		s.life.RUnlock()
		return retriever.ErrClosed
	}
	return nil
}

func (s *Store) leave() { s.life.RUnlock() }
