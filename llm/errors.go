package llm

import (
	"cmp"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"
)

// The errors that callers act on.
var (
	// ErrUnavailable says that the model could not be reached, or was
	// overloaded, and that a later call may succeed.
	ErrUnavailable = errors.New("the model is unavailable")
	// ErrDenied says that the provider did not accept the API key.
	ErrDenied = errors.New("the provider denied access: check the API key")
	// ErrCut says that a reply ended before the model had finished it.
	ErrCut = errors.New("the reply was cut off")
	// ErrTooLong says that the messages are longer than the model's context.
	ErrTooLong = errors.New("the prompt is longer than the model's context")
	// ErrFailed says that the provider refused the request for another reason,
	// such as a model it does not have, or that its reply cannot be used.
	ErrFailed = errors.New("the model failed")
)

// providerError is an error of a provider in words that are safe to show: the
// API key is taken out, and the original error, whose text may hold it, is not
// kept.
type providerError struct {
	text string
	kind error         // one of the errors above; nil stands for ErrFailed
	wait time.Duration // before the provider wants to be asked again
}

// cutOff is what is said with ErrCut.
const cutOff = "the reply ended before the model had finished it"

func (e *providerError) Error() string { return e.text }
func (e *providerError) Unwrap() error { return cmp.Or(e.kind, ErrFailed) }

// describe turns whatever a provider returned into a providerError.
func describe(err error, secret string) *providerError {
	text := err.Error()
	if secret != "" {
		text = strings.ReplaceAll(text, secret, "[api key]")
	}
	var wait time.Duration
	var known *providerError
	if errors.As(err, &known) {
		text, wait = known.text, known.wait // without what langchaingo wraps around it
	}
	return &providerError{text, kindOf(err), wait}
}

// kindOf classifies an error by its type, or for the many providers that return
// plain text, by langchaingo's reading of that text.
func kindOf(err error) error {
	for _, kind := range []error{ErrUnavailable, ErrDenied, ErrCut, ErrTooLong} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	var known *providerError
	if errors.As(err, &known) {
		return nil
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrCut
	}
	if network := net.Error(nil); errors.As(err, &network) {
		return ErrUnavailable
	}
	err = llms.NewErrorMapper("").Map(err)
	switch {
	case llms.IsRateLimitError(err), llms.IsProviderUnavailableError(err), llms.IsTimeoutError(err):
		return ErrUnavailable
	case llms.IsAuthenticationError(err):
		return ErrDenied
	case llms.IsTokenLimitError(err):
		return ErrTooLong
	}
	return nil
}
