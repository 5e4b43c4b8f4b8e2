package server

import (
	_ "embed"
	"net/http"
)

//go:embed openapi.json
var openapiJSON []byte

// openapi is GET /openapi.json.
func (s *Server) openapi(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, err := w.Write(openapiJSON)
	if err != nil {
		s.log.Debug("writing the answer", "request", requestID(r.Context()), "error", err)
	}
	return nil
}
