package qdranttest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	startTimeout = 2 * time.Minute // for a machine that is busy with other things
	stopTimeout  = 20 * time.Second
)

// process is a running engine.
type process struct {
	cmd     *exec.Cmd
	stdin   io.Closer // the engine ends when this does, also because this process died
	stderr  *output
	address string
}

// start runs an engine and waits until it answers.
func start(args ...string) (*process, error) {
	if errRoot != nil {
		return nil, errRoot
	}
	python, adapter, err := installed(root)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(python, append([]string{adapter, "--until-eof"}, args...)...), stderr: new(output)}
	p.cmd.Stderr = p.stderr
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	timeout := time.AfterFunc(startTimeout, func() { p.cmd.Process.Kill() })
	defer timeout.Stop()
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	port, ok := strings.CutPrefix(strings.TrimSpace(line), "READY ")
	if !ok {
		p.kill()
		return nil, fmt.Errorf("qdranttest: the engine did not start: it said %q and %s", line, p.stderr)
	}
	p.address = net.JoinHostPort("127.0.0.1", port)
	return p, nil
}

// kill ends the engine as a power failure would.
func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// stop lets the engine end by itself.
func (p *process) stop() error {
	p.stdin.Close()
	timeout := time.AfterFunc(stopTimeout, func() { p.cmd.Process.Kill() })
	defer timeout.Stop()
	return p.cmd.Wait()
}

// root is the folder of the module, looked for while the working directory is
// still that of the package under test.
var root, errRoot = moduleRoot()

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("qdranttest: no go.mod above the working directory")
		}
		dir = parent
	}
}

// installed returns the interpreter and the program of the engine in a module.
func installed(root string) (python, adapter string, err error) {
	engine := filepath.Join(root, "internal", "qdranttest", "engine")
	venv := filepath.Join(root, ".deps", "qdrant")
	want, err := os.ReadFile(filepath.Join(engine, "requirements.txt"))
	if err != nil {
		return "", "", err
	}
	have, err := os.ReadFile(filepath.Join(venv, "requirements.txt")) // written once all is installed
	if err != nil || !bytes.Equal(have, want) {
		return "", "", errors.New("qdranttest: Qdrant's engine for tests is not installed, or not in this version: run `make qdrant`")
	}
	// The go command runs tests again when a file has changed that they looked
	// at, and the engine's are looked at by another process.
	if _, err := os.ReadDir(engine); err != nil {
		return "", "", err
	}
	return filepath.Join(venv, "bin", "python"), filepath.Join(engine, "adapter.py"), nil
}

// output keeps what a process writes; it can be read meanwhile.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
