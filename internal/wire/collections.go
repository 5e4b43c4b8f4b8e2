package wire

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/configs"
	"github.com/waymark-rag/waymark/landmark/onnx"
	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

// defaultCollection is the store that the configuration names; others lie beside it.
const defaultCollection = "default"

// Collections opens the collections of every tenant, with one model for all, and
// keeps them open. It is safe for concurrent use.
type Collections struct {
	Model *onnx.Model

	base   location
	listed []string // where the store cannot list its collections
	print  retriever.Fingerprint
	parts  pipeline.Parts
	answer *pipeline.AnswerOptions

	mu   sync.Mutex
	open map[collectionKey]*collection
}

type collectionKey struct{ tenant, name string }

// collection is one that is open, or being opened.
type collection struct {
	users int // that want it opened

	mu       sync.Mutex
	pipeline *pipeline.Pipeline
}

// OpenCollections loads the model that cfg describes and opens the default
// collection, which is made if it is not there. Secrets are read with getenv.
func OpenCollections(ctx context.Context, cfg configs.Config, getenv func(string) string, log *slog.Logger) (_ *Collections, err error) {
	key, err := apiKey("llm.api_key_file", cfg.LLM.APIKeyFile, cfg.LLM.APIKeyEnv, getenv)
	if err != nil {
		return nil, err
	}
	c := &Collections{listed: cfg.Server.Collections, open: map[collectionKey]*collection{}}
	if c.answer, err = answerOptions(cfg); err != nil {
		return nil, err
	}
	if c.base, err = locate(cfg, getenv); err != nil {
		return nil, err
	}
	if c.Model, err = OpenModel(ctx, cfg); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	split, err := chunker.New(c.Model, cfg.ChunkOptions())
	if err != nil {
		return nil, err
	}
	c.print = Fingerprint(cfg, c.Model)
	var writer llm.Model
	if writer, err = openLLM(cfg, key, c.Model); err != nil {
		return nil, err
	}
	c.parts = pipeline.Parts{Chunker: split, Embedder: c.Model, Model: writer, Log: log}
	_, err = c.Open(ctx, "", defaultCollection, true)
	return c, err
}

// Open returns the pipeline of a collection, as server.Collections wants it. The
// tenant "" is the configuration's own.
func (c *Collections) Open(ctx context.Context, tenant, name string, create bool) (*pipeline.Pipeline, error) {
	where := c.base.collection(tenant, name)
	if where.place == c.base.collection(tenant, defaultCollection).place {
		name = defaultCollection // by the name of its file or collection
	}
	key := collectionKey{where.place.Tenant, name}
	c.mu.Lock()
	one := c.open[key]
	if one == nil {
		one = &collection{}
		c.open[key] = one
	}
	one.users++
	c.mu.Unlock()

	one.mu.Lock()
	var err error
	if one.pipeline == nil {
		one.pipeline, err = c.connect(ctx, where, create || name == defaultCollection)
	}
	p := one.pipeline
	one.mu.Unlock()

	c.mu.Lock()
	defer c.mu.Unlock()
	if one.users--; one.users == 0 && p == nil {
		delete(c.open, key) // so that asking for what is not there leaves nothing behind
	}
	return p, err
}

func (c *Collections) connect(ctx context.Context, where location, create bool) (*pipeline.Pipeline, error) {
	store, err := where.open(ctx, opening{print: c.print, create: create})
	if err != nil {
		return nil, err
	}
	parts := c.parts
	parts.Store = store
	p, err := pipeline.New(parts, c.answer)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return p, nil
}

// collection is where a tenant's collection lies.
func (l location) collection(tenant, name string) location {
	l.place.Tenant = cmp.Or(tenant, l.place.Tenant)
	l.qdrant.Tenant = l.place.Tenant
	switch {
	case name == defaultCollection:
	case l.place.Kind == configs.KindQdrant:
		l.place.Collection = name
	default:
		l.place.Path = filepath.Join(filepath.Dir(l.place.Path), name+filepath.Ext(l.place.Path))
	}
	return l
}

// Names lists a tenant's collections, as server.Collections wants it. Of a Qdrant,
// which is shared with others, these are the ones that the configuration lists and
// those in use.
func (c *Collections) Names(_ context.Context, tenant string) ([]string, error) {
	where := c.base.collection(tenant, defaultCollection).place
	names := map[string]bool{}
	if where.Kind == configs.KindQdrant {
		for _, name := range c.listed {
			names[name] = true
		}
	} else if err := localNames(where, names); err != nil {
		return nil, err
	}
	c.mu.Lock()
	for key, one := range c.open {
		if key.tenant == where.Tenant && one.users == 0 {
			names[key.name] = true
		}
	}
	c.mu.Unlock()
	delete(names, defaultCollection)
	out := []string{defaultCollection}
	for name := range names {
		out = append(out, name)
	}
	slices.Sort(out[1:])
	return out, nil
}

// localNames adds the stores of a tenant beside the default one.
func localNames(where configs.Place, names map[string]bool) error {
	dir, own := filepath.Split(where.Path)
	ext := filepath.Ext(own)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("listing collections: %w", err)
	}
	for _, e := range entries {
		base, ok := strings.CutSuffix(e.Name(), ext)
		if !ok || !e.Type().IsRegular() {
			continue
		}
		name, escaped, _ := strings.Cut(base, "@")
		tenant, err := url.PathUnescape(escaped)
		if err != nil || tenant != where.Tenant || name+ext == own || !isStore(filepath.Join(dir, e.Name())) {
			continue
		}
		if configs.CollectionName(name) {
			names[name] = true
		}
	}
	return nil
}

// isStore reports whether a file says of itself that it is a store; docs/store-format.md
// has the number.
func isStore(path string) bool {
	const offset, id = 68, 0x574D4B31
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	var have [4]byte
	_, err = file.ReadAt(have[:], offset)
	return err == nil && binary.BigEndian.Uint32(have[:]) == id
}

// Close closes everything that was opened.
func (c *Collections) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for key, one := range c.open {
		if one.pipeline != nil {
			errs = append(errs, one.pipeline.Store.Close())
		}
		delete(c.open, key)
	}
	return errors.Join(append(errs, c.Model.Close())...)
}
