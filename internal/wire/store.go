package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/waymark-rag/waymark/configs"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
	"github.com/waymark-rag/waymark/retriever/qdrant"
)

// OpenStore opens the store of cfg for reading, whatever made its vectors. It needs
// no model.
func OpenStore(ctx context.Context, cfg configs.Config, getenv func(string) string) (retriever.FingerprintedStore, error) {
	l, err := locate(cfg, getenv)
	if err != nil {
		return nil, err
	}
	return l.open(ctx, opening{readOnly: true})
}

// CreateStore opens the store of cfg for vectors that print describes, and makes it
// if it is not there.
func CreateStore(ctx context.Context, cfg configs.Config, print retriever.Fingerprint, getenv func(string) string) (retriever.FingerprintedStore, error) {
	l, err := locate(cfg, getenv)
	if err != nil {
		return nil, err
	}
	return l.open(ctx, opening{print: print, create: true})
}

// location is a store that is not open yet; whatever can be checked without it was.
type location struct {
	place  configs.Place
	qdrant qdrant.Options // of a store in Qdrant
}

func locate(cfg configs.Config, getenv func(string) string) (location, error) {
	place, err := cfg.Place()
	if err != nil || place.Kind != configs.KindQdrant {
		return location{place: place}, err
	}
	opts, err := qdrantOptions(cfg.Qdrant, place, getenv)
	return location{place, opts}, err
}

// opening says how a store is opened.
type opening struct {
	print            retriever.Fingerprint
	create, readOnly bool
}

func (l location) open(ctx context.Context, o opening) (retriever.FingerprintedStore, error) {
	if l.place.Kind == configs.KindQdrant {
		opts := l.qdrant
		opts.Fingerprint, opts.Create, opts.ReadOnly = o.print, o.create, o.readOnly
		s, err := qdrant.Open(ctx, l.place.Address, l.place.Collection, &opts)
		if err != nil {
			return nil, err // and no nil *qdrant.Store in an interface
		}
		return s, nil
	}
	s, err := local.Open(ctx, l.place.Path, &local.Options{Fingerprint: o.print, Create: o.create, ReadOnly: o.readOnly, Tenant: l.place.Tenant})
	switch {
	case errors.Is(err, retriever.ErrNotFound) && l.place.Tenant != "":
		return nil, fmt.Errorf("%w: %s has no tenant %q", retriever.ErrNotFound, l.place, l.place.Tenant)
	case errors.Is(err, retriever.ErrNotFound):
		return nil, fmt.Errorf("%w: %s", retriever.ErrNotFound, l.place)
	case err != nil:
		return nil, err
	}
	return s, nil
}

// newStore makes the store unless it is there by now; for Plan it makes an empty one
// in its place.
func (b *Built) newStore(ctx context.Context, where location, access Access, print retriever.Fingerprint) (retriever.FingerprintedStore, error) {
	if access == Plan {
		dir, err := os.MkdirTemp("", "waymark")
		if err != nil {
			return nil, err
		}
		b.closers = append(b.closers, func() error { return os.RemoveAll(dir) })
		where = location{place: configs.Place{Kind: configs.KindLocal, Path: filepath.Join(dir, "empty.db")}}
	}
	store, err := where.open(ctx, opening{print: print, create: true})
	if err != nil {
		return nil, err
	}
	b.closers = append(b.closers, store.Close)
	return store, nil
}

// qdrantOptions are the settings of a Qdrant store, as it takes them.
func qdrantOptions(c configs.Qdrant, place configs.Place, getenv func(string) string) (qdrant.Options, error) {
	key, err := apiKey("qdrant.api_key_file", c.APIKeyFile, c.APIKeyEnv, getenv)
	if err != nil {
		return qdrant.Options{}, err
	}
	out := qdrant.Options{
		Tenant:   place.Tenant,
		APIKey:   key,
		TLS:      place.TLS,
		Timeout:  c.Timeout,
		RetryFor: c.RetryFor,
		Search: qdrant.Search{
			Exact:        c.Exact,
			Candidates:   c.Candidates,
			HNSWEf:       c.HNSWEf,
			Oversampling: c.Oversampling,
		},
		Layout: qdrant.Layout{
			PartLandmarks:    c.PartLandmarks,
			Float32:          c.Float32,
			Quantization:     qdrant.Quantization(c.Quantization),
			OnDisk:           c.OnDisk,
			HNSWM:            c.HNSWM,
			HNSWEfConstruct:  c.HNSWEfConstruct,
			Shards:           c.Shards,
			Replicas:         c.Replicas,
			WriteConsistency: c.WriteConsistency,
			ShardPerTenant:   c.ShardPerTenant,
			Strict:           c.Strict,
		},
	}
	if c.RetryFor == 0 {
		out.RetryFor = -1 // in the options 0 asks for the default
	}
	if c.CAFile != "" {
		if out.TLSConfig, err = trust(c.CAFile); err != nil {
			return qdrant.Options{}, fmt.Errorf("qdrant.ca_file: %w", err)
		}
	}
	return out, nil
}

// trust takes servers that the certificates in a file vouch for.
func trust(file string) (*tls.Config, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%q holds no certificate: want PEM blocks of the type CERTIFICATE", file)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

// apiKey reads a key from the file, or else the variable, that the configuration
// names, if it names one; setting is the file's.
func apiKey(setting, file, variable string, getenv func(string) string) (string, error) {
	if file == "" && variable == "" {
		return "", nil
	}
	if file == "" {
		return getenv(variable), nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", setting, err)
	}
	key := strings.TrimSpace(string(data))
	if key == "" {
		return "", fmt.Errorf("%s: %q is empty: want the key in it", setting, file)
	}
	return key, nil
}
