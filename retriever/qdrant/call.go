package qdrant

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waymark-rag/waymark/retriever"
)

// receiveLimit replaces gRPC's limit of 4 MiB, which a page of vectors passes.
const receiveLimit = 256 << 20

// reconnect waits less between attempts than gRPC would, so that a server is
// found soon after it restarts.
var reconnect = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
	MinConnectTimeout: 5 * time.Second,
}

// The pauses between attempts of a call.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 3 * time.Second
)

// call runs one call to the server. Every call that the package makes may be
// made twice with the same result, so what fails for a passing reason is
// repeated until it succeeds, the caller gives up, or RetryFor is over.
func call[T any](ctx context.Context, s *Store, what string, f func(context.Context, *pb.Client) (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	begun := time.Now()
	pause := firstPause
	for attempt := 1; ; attempt++ {
		one, cancel := context.WithTimeout(ctx, s.opts.Timeout)
		out, err := f(one, s.client)
		cancel()
		if err == nil {
			return out, nil
		}
		if ctx.Err() != nil {
			return none, ctx.Err()
		}
		wait := pause/2 + rand.N(pause)
		var busy *pb.QdrantResourceExhaustedError
		if errors.As(err, &busy) {
			wait = max(wait, time.Duration(busy.RetryAfterS)*time.Second)
		}
		if !transient(err) || time.Since(begun)+wait > s.opts.RetryFor {
			return none, s.translate(what, err, attempt, time.Since(begun))
		}
		select {
		case <-ctx.Done():
			return none, ctx.Err()
		case <-time.After(wait):
		}
		pause = min(2*pause, lastPause)
	}
}

// code is the gRPC code of an error, wherever the client wrapped it.
func code(err error) codes.Code {
	var busy *pb.QdrantResourceExhaustedError
	if errors.As(err, &busy) {
		return codes.ResourceExhausted
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return codes.DeadlineExceeded
	}
	var s interface{ GRPCStatus() *status.Status }
	if errors.As(err, &s) {
		return s.GRPCStatus().Code()
	}
	return codes.Unknown
}

// transient reports whether the same call may succeed a little later. A server
// that restarts answers Unavailable.
func transient(err error) bool {
	switch code(err) {
	case codes.Unavailable, codes.ResourceExhausted, codes.Aborted, codes.DeadlineExceeded:
		return !tooLarge(err)
	}
	return false
}

// tooLarge reports whether gRPC refuses a message by its size. Its code is also that
// of rate limits.
func tooLarge(err error) bool {
	return code(err) == codes.ResourceExhausted && strings.Contains(err.Error(), "larger than max")
}

// translate turns what the client reports into what a Store reports.
func (s *Store) translate(what string, err error, attempts int, took time.Duration) error {
	where := fmt.Sprintf("qdrant at %s, %s", s.address, what)
	switch code(err) {
	case codes.Unavailable, codes.ResourceExhausted, codes.Aborted, codes.DeadlineExceeded:
		if tooLarge(err) {
			return fmt.Errorf("%s: ask for fewer at a time, or make a collection with fewer landmarks a part: %w", where, err)
		}
		return fmt.Errorf("%w: %s: gave up after %d attempts in %s: %w", retriever.ErrUnreachable, where, attempts, took.Round(time.Millisecond), err)
	case codes.Unauthenticated, codes.PermissionDenied:
		return fmt.Errorf("%w: %s: %w", retriever.ErrDenied, where, err)
	case codes.NotFound: // nothing that is asked for can be missing but the collection
		return fmt.Errorf("%w: %s: %w", retriever.ErrNotFound, where, err)
	}
	return fmt.Errorf("%s: %w", where, err)
}
