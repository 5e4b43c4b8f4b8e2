package server

import (
	"net"
	"net/http"
	"slices"
	"strings"
)

// guard keeps web pages of others out, and sets the headers that hold everywhere.
func (s *Server) guard(next http.Handler) http.Handler {
	return s.handle(func(w http.ResponseWriter, r *http.Request) error {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		h.Add("Vary", "Origin")
		if s.opts.Authenticate == nil && !slices.Contains(s.opts.Hosts, hostname(r.Host)) {
			return &apiError{Status: http.StatusForbidden, Code: "forbidden_host",
				Message: "without API keys the server does not go by the name " + quoted(r.Host), Hint: "use localhost, or set up keys"}
		}
		origin := r.Header.Get("Origin")
		if slices.Contains(s.opts.Origins, origin) {
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Expose-Headers", "X-Request-Id, Retry-After")
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
				h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Request-Id, Mcp-Protocol-Version, Mcp-Session-Id")
				h.Set("Access-Control-Max-Age", "600")
				w.WriteHeader(http.StatusNoContent)
				return nil
			}
		}
		if err := s.sameSite.Check(r); err != nil {
			return &apiError{Status: http.StatusForbidden, Code: "cross_origin", Message: "requests by pages of other web sites are refused", Hint: "server.origins lists the sites that may", cause: err}
		}
		next.ServeHTTP(w, r)
		return nil
	})
}

// hostname is a Host header without its port.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.Trim(host, "[]")
}
