package retriever

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
)

// Store keeps documents with all their parts and finds candidates for a query.
// retriever/storetest holds the suite that every implementation passes.
//
// A Store is safe for concurrent use. It neither keeps nor changes what it is
// given, and what it returns belongs to the caller. Every call honours its
// context.
type Store interface {
	// Upsert stores documents in order, each replacing all parts of an older
	// version with the same ID. Each document is replaced atomically: whatever
	// happens, a reader, now or after a crash, sees the old version or the new,
	// never a mixture and never both. If Check refuses one of the documents,
	// none is stored. An int in the metadata comes back as int64, every other
	// value as what it was.
	Upsert(ctx context.Context, docs []Document) error

	// Delete removes documents by ID and returns how many there were; IDs that
	// are not there are ignored.
	Delete(ctx context.Context, ids []string) (int, error)

	// DeleteWhere removes the documents that a filter matches and returns how
	// many there were. An empty filter is refused, so is one with a key that
	// no document has (see Filter.CheckKeys).
	DeleteWhere(ctx context.Context, filter Filter) (int, error)

	// Candidates returns what a query matches, best first, from each source
	// the query has (see Candidates). The filter and PerDocument are applied
	// before the cut: there are Limit candidates if that many chunks qualify.
	// Equal dense scores are ordered by landmark score, then, like equal
	// lexical scores, by document ID and chunk index, so that the order is
	// always the same. A filter key that no document has is refused with an
	// *UnknownKeyError; a store without documents just finds nothing.
	Candidates(ctx context.Context, q Query) (Candidates, error)

	// Fetch returns documents by ID, in the order asked, with the parts that
	// want names. An ID that is not there is left out.
	Fetch(ctx context.Context, ids []string, want Want) ([]Document, error)

	// Scroll goes through all documents that the filter matches (the zero
	// filter matches all) in order of ID. Documents changed meanwhile may or
	// may not be seen; the others are seen exactly once. An error comes last,
	// with the zero Document. Unknown filter keys are refused as in Candidates.
	// The store may be used, and written, between two documents.
	Scroll(ctx context.Context, filter Filter, want Want) iter.Seq2[Document, error]

	// Stats counts what is there.
	Stats(ctx context.Context) (Stats, error)

	// Close releases everything; a second call does nothing. Calls after it
	// fail with ErrClosed.
	Close() error
}

// Want says which parts of a document are wanted beyond its ID, title, hash and
// metadata.
type Want struct {
	Text    bool // Document.Text
	Chunks  bool // Document.Chunks without vectors
	Vectors bool // Document.Vector, and with Chunks theirs
	// Only, unless it is nil, names for each document the chunks that Text and
	// Chunks are wanted of, as first and last indexes, which may lie beyond the
	// last chunk. A Store may leave out the others: Document.Chunks then has zero
	// values in their places, and Document.Text spaces or, at its end, nothing.
	// What the Header of a chunk wanted names is there with it.
	Only map[string][][2]int
}

// Stats counts what a store holds.
type Stats struct {
	Documents int   `json:"documents"`
	Chunks    int   `json:"chunks"`
	Bytes     int64 `json:"bytes"` // on disk, 0 when unknown
}

// The errors that callers act on.
var (
	// ErrNotFound says that the store is not there.
	ErrNotFound = errors.New("store not found")
	// ErrClosed says that the store was closed.
	ErrClosed = errors.New("store is closed")
	// ErrBusy says that another writer holds the store.
	ErrBusy = errors.New("store is held by another writer")
	// ErrUnreachable says that the store's server did not answer in time.
	ErrUnreachable = errors.New("store cannot be reached")
	// ErrDenied says that the store's server refuses the key.
	ErrDenied = errors.New("store refuses access")
)

// Fingerprint identifies what made the vectors of a collection. It is kept with
// the collection when it is created; opening it with another is refused with a
// *MismatchError, since vectors of two makers cannot be compared.
type Fingerprint struct {
	Model    string `json:"model"`    // name and digest of the weights
	Pooling  string `json:"pooling"`  // pooling and style
	Dim      int    `json:"dim"`      // length of a vector
	Prefixes string `json:"prefixes"` // what goes in front of queries and documents
	Windows  string `json:"windows"`  // window length and overlap
	Chunker  string `json:"chunker"`  // mode, limits and version
	Reader   string `json:"reader"`   // version of the file readers
}

// IsZero reports whether f is the zero Fingerprint, with which a store is
// opened as it is.
func (f Fingerprint) IsZero() bool { return f == Fingerprint{} }

// MismatchError says that a collection was made by something else.
type MismatchError struct {
	Have Fingerprint // kept with the collection
	Want Fingerprint // of whoever opened it
}

func (e *MismatchError) Error() string {
	var diff []string
	add := func(name string, have, want any) {
		if have != want {
			diff = append(diff, fmt.Sprintf("%s %v, not %v", name, have, want))
		}
	}
	add("model", e.Have.Model, e.Want.Model)
	add("pooling", e.Have.Pooling, e.Want.Pooling)
	add("dimension", e.Have.Dim, e.Want.Dim)
	add("prefixes", e.Have.Prefixes, e.Want.Prefixes)
	add("windows", e.Have.Windows, e.Want.Windows)
	add("chunker", e.Have.Chunker, e.Want.Chunker)
	add("reader", e.Have.Reader, e.Want.Reader)
	return "the store was indexed with " + strings.Join(diff, "; ") + ": open it with what made it, or index again into a new one"
}
