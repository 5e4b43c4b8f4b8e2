package retriever

import "context"

// Inspector is a Store in which more can be wrong than in its documents, which
// Verify checks.
type Inspector interface {
	// Inspect looks at everything but the documents' content, and changes nothing.
	// The error is for what keeps it from looking.
	Inspect(ctx context.Context) ([]Finding, error)
}

// Finding is one thing that was looked at.
type Finding struct {
	Subject string // in a word, such as "indexes"
	Detail  string // what is there, or what is wrong with it
	Hint    string // what to do about it; empty when nothing is wrong
}
