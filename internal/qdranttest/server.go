package qdranttest

import (
	"net"
	"testing"
)

// Options says how an engine is started. The zero value is an open one, as a
// fresh Qdrant is.
type Options struct {
	// APIKey is demanded of every call but the health check.
	APIKey string
	// TLS serves with a certificate that Server.RootCAs vouches for.
	TLS bool
}

// Server is an engine of one test, on a folder of its own. It is stopped when
// the test ends; if the test fails, its log is what the engine wrote.
type Server struct {
	Address string // host:port, the same after every Restart
	RootCAs []byte // PEM of the certificate authority, with Options.TLS

	tb      testing.TB
	args    []string
	running *process
}

// Start starts an engine on an empty folder.
func Start(tb testing.TB) *Server {
	tb.Helper()
	return StartWith(tb, Options{})
}

// StartWith is Start with options.
func StartWith(tb testing.TB, opts Options) *Server {
	tb.Helper()
	s := &Server{tb: tb, args: []string{"--path", tb.TempDir()}}
	if opts.APIKey != "" {
		s.args = append(s.args, "--api-key", opts.APIKey)
	}
	if opts.TLS {
		cert, key, ca, err := certificate(tb.TempDir())
		if err != nil {
			tb.Fatal(err)
		}
		s.args, s.RootCAs = append(s.args, "--tls", cert, key), ca
	}
	tb.Cleanup(func() {
		if s.running == nil {
			return
		}
		if err := s.running.Stop(); err != nil {
			tb.Errorf("qdranttest: the engine ended with %v", err)
		}
		s.log()
	})
	s.start()
	_, port, err := net.SplitHostPort(s.Address)
	if err != nil {
		tb.Fatal(err)
	}
	s.args = append(s.args, "--port", port)
	return s
}

func (s *Server) start() {
	s.tb.Helper()
	p, err := start(s.args...)
	if err != nil {
		s.tb.Fatal(err)
	}
	s.running, s.Address = p, p.address
}

// Kill ends the engine with SIGKILL.
func (s *Server) Kill() {
	s.tb.Helper()
	if s.running == nil {
		s.tb.Fatal("qdranttest: Kill of an engine that does not run: Restart it first")
	}
	s.running.Kill()
	s.log()
	s.running = nil
}

// Restart starts a killed engine again, on the same folder and port.
func (s *Server) Restart() {
	s.tb.Helper()
	if s.running != nil {
		s.tb.Fatal("qdranttest: Restart of an engine that runs: Kill it first")
	}
	s.start()
}

func (s *Server) log() {
	if text := s.running.Log(); s.tb.Failed() && text != "" {
		s.tb.Logf("the engine wrote:\n%s", text)
	}
}
