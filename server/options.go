package server

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"time"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/pipeline"
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
	// for a language model not counted; 0 means two for each processor, so that
	// one can wait for its store. More would share the processors without regard
	// to tenants.
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
	l.Concurrent = cmp.Or(l.Concurrent, 2*processors())
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
