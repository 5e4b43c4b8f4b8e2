package qdranttest

import (
	"net"

	"github.com/waymark-rag/waymark/internal/pythontest"
)

var environment = pythontest.Environment{Name: "qdrant", Folder: "internal/qdranttest/engine"}

// process is a running engine.
type process struct {
	*pythontest.Process
	address string
}

// start runs an engine and waits until it answers.
func start(args ...string) (*process, error) {
	p, err := environment.Start("adapter.py", append([]string{"--until-eof"}, args...)...)
	if err != nil {
		return nil, err
	}
	return &process{p, net.JoinHostPort("127.0.0.1", p.Ready)}, nil
}
