package qdrant

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"

	"github.com/waymark-rag/waymark/retriever"
)

// Options says how a collection is opened, and what it is like if it is
// created. The zero value of every field is its default.
type Options struct {
	// Fingerprint says what makes the vectors. It is kept when the collection is
	// created; a collection that was created with another is refused with a
	// *retriever.MismatchError. The zero value takes the collection as it is.
	Fingerprint retriever.Fingerprint
	// Create makes the collection if it is not there; it needs Fingerprint.Dim.
	Create bool
	// ReadOnly refuses every write.
	ReadOnly bool
	// Tenant keeps its documents apart from those of every other in the same
	// collection: no call sees another tenant's.
	Tenant string

	// APIKey is sent with every call; without TLS it travels as it is.
	APIKey string
	// TLS encrypts the connection; TLSConfig says how, nil for the default.
	TLS       bool
	TLSConfig *tls.Config
	// Timeout is for one call; 0 means a minute.
	Timeout time.Duration
	// RetryFor is how long a call is repeated while the server is not to be
	// reached, restarts or is too busy; 0 means half a minute, a negative value
	// not at all.
	RetryFor time.Duration
	// Dial is added to the options of the connection.
	Dial []grpc.DialOption

	// Search says how dense candidates are found; see Search.
	Search Search
	// Layout is what the collection is created with.
	Layout Layout
}

// Search says how dense candidates are found.
type Search struct {
	// Exact scores every landmark of the collection (within the filter), and goes
	// on until nothing better can be left. Else candidates come from the
	// collection's indexes.
	Exact bool
	// Candidates is how many parts each index returns at least; 0 means 100.
	// More of them find more, and take longer.
	Candidates int
	// HNSWEf is the size of the beam in a graph search; 0 for the server's default.
	HNSWEf int
	// Oversampling is for quantised vectors: so many times as many are taken
	// before they are scored by the originals; 0 for the server's default.
	Oversampling float64
}

// Layout is what a collection is created with. All of it but PartLandmarks, which
// is kept in the collection, is passed on to the server as it is.
type Layout struct {
	// PartLandmarks is the most landmarks of one point; 0 means DefaultPart. With
	// 1, landmarks are searched by a graph of their own. With more, a point is a
	// part of a document, found by its mean vector, by its document's and by its
	// words, and then scored by MaxSim.
	PartLandmarks int
	// Float32 keeps vectors in full precision; the default is float16.
	Float32 bool
	// Quantization makes the server search smaller copies of the vectors.
	Quantization Quantization
	// OnDisk keeps vectors on disk and not in memory.
	OnDisk bool
	// HNSWM and HNSWEfConstruct shape the graphs; 0 for the server's default.
	HNSWM, HNSWEfConstruct int
	// Shards, Replicas and WriteConsistency are for clusters; 0 for the server's
	// default.
	Shards, Replicas, WriteConsistency int
	// ShardPerTenant gives each tenant a shard of its own, named like it (custom
	// sharding); it needs a cluster and a tenant with a name.
	ShardPerTenant bool
	// Strict turns strict mode on: what has no index cannot be filtered by. All
	// that a Store filters by has one.
	Strict bool
}

// Quantization is a way to make vectors smaller.
type Quantization string

// The ways of quantisation. Results are always scored again by the originals.
const (
	NoQuantization Quantization = ""
	Scalar         Quantization = "scalar" // 8 bits a dimension
	Binary         Quantization = "binary" // 1 bit a dimension
)

// DefaultPart is the number of landmarks of a point unless Layout says another.
const DefaultPart = 1

// The most and fewest that the server takes.
const (
	maxFloats    = 1<<20 - 1 // of one multivector
	maxPart      = 64
	defaultReach = 100
)

const (
	defaultTimeout  = time.Minute
	defaultRetryFor = 30 * time.Second
	defaultPort     = 6334
)

func (o Options) withDefaults() Options {
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.RetryFor = cmp.Or(o.RetryFor, defaultRetryFor)
	o.Search.Candidates = cmp.Or(o.Search.Candidates, defaultReach)
	o.Layout.PartLandmarks = cmp.Or(o.Layout.PartLandmarks, DefaultPart)
	return o
}

func (o Options) validate() error {
	l := o.Layout
	switch {
	case o.Create && o.ReadOnly:
		return errors.New("a collection cannot be created for reading only")
	case l.PartLandmarks < 1 || l.PartLandmarks > maxPart:
		return fmt.Errorf("%d landmarks a part: want 1 to %d", l.PartLandmarks, maxPart)
	case l.PartLandmarks*o.Fingerprint.Dim > maxFloats:
		return fmt.Errorf("%d landmarks of %d dimensions a part: want no more than %d numbers, the most that the server takes", l.PartLandmarks, o.Fingerprint.Dim, maxFloats)
	case l.Quantization != NoQuantization && l.Quantization != Scalar && l.Quantization != Binary:
		return fmt.Errorf("quantisation %q: want %q, %q or none", l.Quantization, Scalar, Binary)
	case l.HNSWM < 0 || l.HNSWEfConstruct < 0 || l.Shards < 0 || l.Replicas < 0 || l.WriteConsistency < 0:
		return errors.New("the numbers of a layout: want 0 or more")
	case l.ShardPerTenant && o.Tenant == "":
		return errors.New("a shard per tenant needs a tenant with a name")
	case o.Search.Candidates < 1 || o.Search.HNSWEf < 0 || o.Search.Oversampling < 0:
		return errors.New("search: want 1 candidate or more, and no negative ef or oversampling")
	case strings.ContainsRune(o.Tenant, 0) || !utf8.ValidString(o.Tenant):
		return fmt.Errorf("tenant %q: want UTF-8 without NUL", o.Tenant)
	}
	return nil
}

// config is how the client reaches the server.
func (o Options) config(address string) (*pb.Config, error) {
	host, port := address, strconv.Itoa(defaultPort)
	if strings.LastIndexByte(address, ':') > strings.LastIndexByte(address, ']') {
		var err error
		if host, port, err = net.SplitHostPort(address); err != nil {
			return nil, fmt.Errorf("address %q: %w", address, err)
		}
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || host == "" || n == 0 {
		return nil, fmt.Errorf("address %q: want host or host:port, such as localhost:%d", address, defaultPort)
	}
	return &pb.Config{
		Host: host, Port: int(n), APIKey: o.APIKey, UseTLS: o.TLS, TLSConfig: o.TLSConfig,
		SkipCompatibilityCheck: true, // which only logs; Open checks the version
		GrpcOptions: append([]grpc.DialOption{
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(receiveLimit)),
			grpc.WithConnectParams(reconnect),
		}, o.Dial...),
	}, nil
}
