package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

// apiError is an error as a client sees it.
type apiError struct {
	Status  int    `json:"-"`
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    string `json:"code"`
	Param   string `json:"param,omitempty"`
	Hint    string `json:"hint,omitempty"`

	retry time.Duration // when to try again
	cause error         // for the log
}

func (e *apiError) Error() string { return e.Message }
func (e *apiError) Unwrap() error { return e.cause }

// invalid is a request that cannot be used because of one of its parts.
func invalid(param, format string, args ...any) *apiError {
	return &apiError{Status: http.StatusBadRequest, Code: "invalid_value", Param: param, Message: fmt.Sprintf(format, args...)}
}

// describe makes an apiError of any error. What the server's own parts report may
// hold addresses and file names: of errors that callers can do nothing about, the
// client sees the request's id alone.
func describe(ctx context.Context, err error) *apiError {
	e := &apiError{cause: err}
	var known *apiError
	var unknownKey *retriever.UnknownKeyError
	var mismatch *retriever.MismatchError
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &known):
		copied := *known
		e = &copied
	case errors.As(err, &unknownKey):
		e.Status, e.Code, e.Param, e.Message = http.StatusBadRequest, "unknown_filter_key", "filter", unknownKey.Error()
	case errors.As(err, &mismatch):
		e.Status, e.Code, e.Message = http.StatusConflict, "model_mismatch", mismatch.Error()
		e.Hint = "index it again into another collection, or serve it with what made it"
	case errors.As(err, &tooLarge):
		e.Status, e.Code = http.StatusRequestEntityTooLarge, "body_too_large"
		e.Message = fmt.Sprintf("the request is larger than %d bytes", tooLarge.Limit)
		e.Hint = "send less at once"
	case errors.Is(err, context.DeadlineExceeded):
		e.Status, e.Code, e.Message = http.StatusGatewayTimeout, "timeout", "there was no time to finish the request"
		e.Hint = "ask for less, or allow more time in the server's settings"
	case errors.Is(err, retriever.ErrBusy):
		e.Status, e.Code, e.Message, e.retry = http.StatusServiceUnavailable, "store_busy", "another process is writing to the store", 5*time.Second
	case errors.Is(err, retriever.ErrUnreachable), errors.Is(err, retriever.ErrClosed):
		e.Status, e.Code, e.Message, e.retry = http.StatusServiceUnavailable, "store_unavailable", "the store cannot be reached", 5*time.Second
	case errors.Is(err, retriever.ErrDenied):
		e.Status, e.Code, e.Message = http.StatusBadGateway, "store_denied", "the store refuses this server's key"
	case errors.Is(err, pipeline.ErrBudget):
		e.Status, e.Code, e.Message = http.StatusBadRequest, "context_too_small", err.Error()
	case errors.Is(err, llm.ErrUnavailable):
		e.Status, e.Code, e.Message, e.retry = http.StatusServiceUnavailable, "model_unavailable", "the language model cannot be reached or is overloaded", 5*time.Second
	case errors.Is(err, llm.ErrDenied):
		e.Status, e.Code, e.Message = http.StatusBadGateway, "model_denied", "the language model refuses this server's key"
	case errors.Is(err, llm.ErrCut):
		e.Status, e.Code, e.Message = http.StatusBadGateway, "model_failed", "the language model's reply was cut off"
	case errors.Is(err, pipeline.ErrNoText):
		e.Status, e.Code, e.Message = http.StatusBadGateway, "model_failed", "the language model replied without a word of an answer"
		e.Hint = "allow more tokens, or stop at less"
	case errors.Is(err, llm.ErrTooLong):
		e.Status, e.Code, e.Message = http.StatusBadGateway, "model_failed", "the language model's context is smaller than this server takes it to be"
		e.Hint = "set answer.context_tokens to what the model has; the log has its words under request " + requestID(ctx)
	case errors.Is(err, llm.ErrFailed):
		e.Status, e.Code, e.Message = http.StatusBadGateway, "model_failed", "the language model failed or refused the request"
		e.Hint = "the log has the cause under request " + requestID(ctx)
	default:
		e.Status, e.Code, e.Message = http.StatusInternalServerError, "internal", "something went wrong in the server"
		e.Hint = "its log has the cause under request " + requestID(ctx)
	}
	e.Type = errorType(e.Status)
	return e
}

// errorType is OpenAI's word for a status.
func errorType(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	}
	if status >= http.StatusInternalServerError {
		return "server_error"
	}
	return "invalid_request_error"
}

// errorShape says how an error is written for the clients of an endpoint.
type errorShape func(e *apiError) any

func waymarkErrors(e *apiError) any {
	return struct {
		Error *apiError `json:"error"`
	}{e}
}

// teiErrors writes errors as Text Embeddings Inference does.
func teiErrors(e *apiError) any {
	kind := "backend"
	switch e.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		kind = "validation"
	case http.StatusUnauthorized, http.StatusForbidden:
		kind = "unauthorized"
	case http.StatusTooManyRequests:
		kind = "overloaded"
	case http.StatusServiceUnavailable:
		kind = "unhealthy"
	}
	return map[string]string{"error": e.Message, "error_type": kind}
}

// ragErrors writes errors as LibreChat's rag_api does.
func ragErrors(e *apiError) any { return map[string]string{"detail": e.Message} }

// shaped has errors written in another shape.
func shaped(shape errorShape) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), shapeKey, shape)))
		})
	}
}

// handle makes an http.HandlerFunc of a handler that returns its errors.
func (s *Server) handle(f func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := f(w, r); err != nil {
			s.fail(w, r, err)
		}
	}
}

// fail answers with an error. Nothing was written before.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	e := describe(r.Context(), err)
	if r.Context().Err() == context.Canceled && e.Status != http.StatusRequestTimeout {
		w.WriteHeader(statusClientGone) // for the log
		return
	}
	s.logFailure(r.Context(), e)
	if e.retry > 0 {
		w.Header().Set("Retry-After", retryAfter(e.retry))
	}
	if e.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="waymark"`)
	}
	if e.Status == http.StatusRequestEntityTooLarge || e.Status == http.StatusRequestTimeout {
		w.Header().Set("Connection", "close") // what is left of the body is not read
	}
	shape, ok := r.Context().Value(shapeKey).(errorShape)
	if !ok {
		shape = waymarkErrors
	}
	s.writeJSON(w, r, e.Status, shape(e))
}

// logFailure logs what the client is not told.
func (s *Server) logFailure(ctx context.Context, e *apiError) {
	if e.Status >= http.StatusInternalServerError && e.cause != nil {
		s.log.Error("request failed", "request", requestID(ctx), "code", e.Code, "error", e.cause)
	}
}

// retryAfter is a duration in whole seconds, rounded up.
func retryAfter(d time.Duration) string {
	return strconv.Itoa(int((d + time.Second - 1) / time.Second))
}

// writeJSON answers with a value. That it cannot be sent shows in the log alone:
// there is no one left to tell.
func (s *Server) writeJSON(w http.ResponseWriter, r *http.Request, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		s.log.Error("writing JSON", "request", requestID(r.Context()), "error", err)
		http.Error(w, `{"error":{"message":"the answer cannot be written","type":"server_error","code":"internal"}}`, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	if _, err := w.Write(append(data, '\n')); err != nil {
		s.log.Debug("writing the answer", "request", requestID(r.Context()), "error", err)
	}
}

// clipped bounds what an error repeats of a request.
func clipped(s string) string {
	const limit = 100
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "..."
	}
	return s
}

func quoted(s string) string { return strconv.Quote(clipped(s)) }
