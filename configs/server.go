package configs

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"time"
)

// Server says how waymark serve answers. A 0 leaves the choice to package server.
type Server struct {
	Listen string `yaml:"listen"`
	// KeysEnv names the variable that holds the API keys, KeysFile a file with
	// them; server.ParseKeys has the form.
	KeysEnv   string   `yaml:"keys_env"`
	KeysFile  string   `yaml:"keys_file"`
	PublicURL string   `yaml:"public_url"`
	Origins   []string `yaml:"origins"` // of web sites whose pages may use the API
	// LibreChatSecretEnv names the variable that holds LibreChat's JWT_SECRET.
	LibreChatSecretEnv string `yaml:"librechat_secret_env"`
	TracesURL          string `yaml:"traces_url"` // of an OpenTelemetry collector
	// Collections are the names to list beside default where the store is a
	// Qdrant; a folder lists its own.
	Collections []string `yaml:"collections"`

	MaxCollections int           `yaml:"max_collections"`
	BodyBytes      int64         `yaml:"body_bytes"`
	UploadBytes    int64         `yaml:"upload_bytes"`
	RequestTimeout time.Duration `yaml:"request_timeout"`
	AnswerTimeout  time.Duration `yaml:"answer_timeout"`
	// ShutdownTimeout is how long what goes on may take to finish.
	ShutdownTimeout time.Duration `yaml:"shutdown_timeout"`
	Concurrent      int           `yaml:"concurrent"`
	Answers         int           `yaml:"answers"`
	Waiting         int           `yaml:"waiting"`
	Rate            float64       `yaml:"rate"`
}

func defaultServer() Server {
	return Server{Listen: "127.0.0.1:8080", KeysEnv: "WAYMARK_SERVER_KEYS", LibreChatSecretEnv: "WAYMARK_LIBRECHAT_JWT_SECRET", ShutdownTimeout: 30 * time.Second}
}

var collectionName = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)

// CollectionName reports whether a collection beside the default one can have a name.
func CollectionName(name string) bool { return collectionName.MatchString(name) }

// validate calls bad for every setting that cannot be used.
func (s Server) validate(bad func(name string, value any, want string)) {
	if _, _, err := net.SplitHostPort(s.Listen); err != nil {
		bad("server.listen", s.Listen, "HOST:PORT, such as 127.0.0.1:8080, or :8080 for every address of this machine")
	}
	for name, address := range map[string]string{"public_url": s.PublicURL, "traces_url": s.TracesURL} {
		if u, err := url.Parse(address); address != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil) {
			bad("server."+name, withoutSecrets(address), "http://HOST or https://HOST, without user or password")
		}
	}
	for _, origin := range s.Origins {
		if u, err := url.Parse(origin); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path != "" || u.User != nil {
			bad("server.origins", withoutSecrets(origin), "web sites such as https://app.example, without a path")
		}
	}
	for _, name := range s.Collections {
		if !CollectionName(name) {
			bad("server.collections", fmt.Sprintf("%q", name), "names of up to 64 of a-z, 0-9, _ and -")
		}
	}
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"max_collections", int64(s.MaxCollections)}, {"body_bytes", s.BodyBytes}, {"upload_bytes", s.UploadBytes},
		{"concurrent", int64(s.Concurrent)}, {"answers", int64(s.Answers)}, {"waiting", int64(s.Waiting)},
		{"request_timeout", int64(s.RequestTimeout)}, {"answer_timeout", int64(s.AnswerTimeout)}, {"shutdown_timeout", int64(s.ShutdownTimeout)},
	} {
		if n.value < 0 {
			bad("server."+n.name, n.value, "0 for the default, or more")
		}
	}
	if !(s.Rate >= 0 && s.Rate <= 1e6) {
		bad("server.rate", s.Rate, "requests a second of each tenant, 0 for any number")
	}
}
