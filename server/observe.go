package server

import (
	"context"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

// noted is what the log says of a request beside what all have.
type noted struct{ caller Caller }

type notedKey struct{}

// note tells the log who sent a request.
func note(ctx context.Context, c Caller) {
	if n, ok := ctx.Value(notedKey{}).(*noted); ok {
		n.caller = c
	}
}

// observe logs, counts and traces requests. It knows them by their route: neither
// paths, which hold document ids, nor anything else that was sent is repeated.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		n := &noted{}
		ctx, end := requestSpan(context.WithValue(r.Context(), notedKey{}, n), r)
		out := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		defer func() {
			status, route, method := out.Status(), chi.RouteContext(ctx).RoutePattern(), knownMethod(r.Method)
			if status == 0 {
				status = statusClientGone
			}
			if route == "" || route == "/*" {
				route = "none"
			}
			took := time.Since(start)
			end(route, status)
			s.metrics.served(route, method, status, took)
			s.log.InfoContext(ctx, "request", "request", requestID(ctx), "method", method, "route", route, "status", status,
				"bytes", out.BytesWritten(), "took", took.Round(time.Microsecond), "caller", n.caller.Name, "tenant", n.caller.Tenant)
		}()
		next.ServeHTTP(out, r.WithContext(ctx))
	})
}

// statusClientGone is what nginx calls a request whose client did not wait.
const statusClientGone = 499

// knownMethod keeps made-up methods out of the metrics.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// recovered answers with an error where a handler panics.
func (s *Server) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p == http.ErrAbortHandler {
				panic(p)
			}
			s.log.Error("panic", "request", requestID(r.Context()), "panic", p, "stack", string(debug.Stack()))
			if out, ok := w.(middleware.WrapResponseWriter); ok && out.Status() == 0 {
				s.fail(w, r, &apiError{Status: http.StatusInternalServerError, Code: "internal", Message: "something went wrong in the server",
					Hint: "its log has the cause under request " + requestID(r.Context())})
				return
			}
			panic(http.ErrAbortHandler) // in the middle of a response: cut the connection
		}()
		next.ServeHTTP(w, r)
	})
}
