package server

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/waymark-rag/waymark/chunker"
)

// contextKey is the type of what the middleware puts into a request's context.
type contextKey int

const (
	requestKey contextKey = iota // string: the request's id
	callerKey                    // Caller
	shapeKey                     // errorShape
)

// wellFormedID is a request id that may be taken over from a client: short, and
// nothing that could forge a line of the log.
var wellFormedID = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// identify gives every request an id, which the response and the log carry.
func (s *Server) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-Id")
		if !wellFormedID.MatchString(id) {
			id = newID()
		}
		w.Header().Set("X-Request-Id", id)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey, id)))
	})
}

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestKey).(string)
	return id
}

func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// escapedPaths has routes matched on the path as it was sent, so that an escaped
// slash stays inside its segment; parameters are then always escaped.
func escapedPaths(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u := *r.URL
		u.RawPath = u.EscapedPath()
		r2 := *r
		r2.URL = &u
		next.ServeHTTP(w, &r2)
	})
}

// pathParam returns a part of the path, unescaped.
func pathParam(r *http.Request, name string) (string, error) {
	value, err := url.PathUnescape(chi.URLParam(r, name))
	if err != nil {
		return "", invalid(name, "%s in the path: %v", name, err)
	}
	return value, nil
}

// deadlines bounds how long a request may come in and its response may take to go
// out; streams and uploads extend them.
func (s *Server) deadlines(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.setReadDeadline(w, s.limits.Request)
		s.setWriteDeadline(w, s.limits.Answer+s.limits.Stalled)
		next.ServeHTTP(w, r)
	})
}

// setReadDeadline bounds the reading of the request; 0 ends the bound. Where the
// body has been read the bound must end: it would cancel the request's context.
// Servers that know no deadlines, such as httptest's recorder, do without.
func (s *Server) setReadDeadline(w http.ResponseWriter, d time.Duration) {
	t := time.Time{}
	if d > 0 {
		t = time.Now().Add(d)
	}
	if err := http.NewResponseController(w).SetReadDeadline(t); err != nil && !errors.Is(err, http.ErrNotSupported) {
		s.log.Debug("setting a deadline", "error", err)
	}
}

func (s *Server) setWriteDeadline(w http.ResponseWriter, d time.Duration) {
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(d)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		s.log.Debug("setting a deadline", "error", err)
	}
}

// within bounds how long a request is worked on.
func (s *Server) within(d time.Duration) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), d)
			defer cancel()
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

func mediaType(r *http.Request) string {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // "" if it cannot be read
	return kind
}

// readBody reads a JSON body, in the time and up to the size that the limits allow.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if kind := mediaType(r); kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return nil, &apiError{Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type",
			Message: "content type " + quoted(r.Header.Get("Content-Type")) + ": want application/json", Hint: "send the header Content-Type: application/json"}
	}
	if r.ContentLength > limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err == nil {
		s.setReadDeadline(w, 0)
	}
	return data, readError(err)
}

// readError says why a body could not be read.
func readError(err error) error {
	var tooLarge *http.MaxBytesError
	if err == nil || errors.As(err, &tooLarge) {
		return err
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &apiError{Status: http.StatusRequestTimeout, Code: "request_timeout", Message: "the body of the request came in too slowly", cause: err}
	}
	return &apiError{Status: http.StatusBadRequest, Code: "invalid_json", Message: "the body of the request did not come in whole", cause: err}
}

// readJSON reads a body into v. With strict, fields that v does not have are
// refused: a misspelt one would be without effect.
func (s *Server) readJSON(w http.ResponseWriter, r *http.Request, v any, strict bool) error {
	data, err := s.readBody(w, r, s.limits.Body)
	if err != nil {
		return err
	}
	return decode(data, v, strict)
}

func decode(data []byte, v any, strict bool) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if strict {
		dec.DisallowUnknownFields()
	}
	err := dec.Decode(v)
	if err == nil {
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			return invalidJSON("something follows the JSON value")
		}
		return nil
	}
	var known *apiError
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &wrongType):
		field := strings.TrimPrefix(wrongType.Field, "findRequest.") // which is embedded
		return invalid(field, "%s: a JSON %s does not fit", cmp.Or(field, "the request"), wrongType.Value)
	case errors.Is(err, io.EOF):
		return invalidJSON("the body is empty")
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		name, _ := strconv.Unquote(field)
		return invalid(clipped(name), "unknown field %s", clipped(field))
	}
	return invalidJSON(strings.TrimPrefix(err.Error(), "json: "))
}

func invalidJSON(message string) error {
	return &apiError{Status: http.StatusBadRequest, Code: "invalid_json", Message: "the body is not the JSON that is wanted: " + message}
}

// base is the address that the caller reaches the server by.
func (s *Server) base(r *http.Request) string {
	if s.opts.PublicURL != "" {
		return s.opts.PublicURL
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}

// passageURL is where a person sees a passage: the document's own address if its
// metadata names one, else the page with the passage highlighted.
func passageURL(base, collection, document string, metadata map[string]any, at chunker.Range) string {
	if own, _ := metadata["url"].(string); isLink(own) {
		return own
	}
	return fmt.Sprintf("%s/#/d/%s/%s/%d-%d", base, cmp.Or(collection, Default), url.PathEscape(document), at.Start, at.End)
}

// isLink reports whether a text is the address of a web page, and can stand in a link
// of Markdown or HTML without ending it.
func isLink(s string) bool {
	ends := func(r rune) bool { return r <= ' ' || strings.ContainsRune("<>\"`\\", r) }
	return (strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")) && !strings.ContainsFunc(s, ends)
}
