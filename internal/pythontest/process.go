package pythontest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	startTimeout = 2 * time.Minute // for a machine that is busy with other things
	stopTimeout  = 20 * time.Second
)

// Process is a program that serves. It ends when its standard input does, and so
// also when the test binary dies.
type Process struct {
	// Ready is what the program printed behind "READY ": where it is reached.
	Ready string

	cmd    *exec.Cmd
	stdin  io.Closer
	stderr output
}

// Start runs a program and waits until it prints the line "READY ...".
func (e Environment) Start(program string, args ...string) (*Process, error) {
	cmd, err := e.Command(program, args...)
	if err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd}
	cmd.Stderr = &p.stderr
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	timeout := time.AfterFunc(startTimeout, func() { cmd.Process.Kill() })
	defer timeout.Stop()
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	ready, ok := strings.CutPrefix(strings.TrimSpace(line), "READY ")
	if !ok {
		p.Kill()
		return nil, fmt.Errorf("pythontest: %s did not start: it said %q and %s", program, line, p.Log())
	}
	p.Ready = ready
	return p, nil
}

// Kill ends the process as a power failure would.
func (p *Process) Kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// Stop lets the process end by itself.
func (p *Process) Stop() error {
	p.stdin.Close()
	timeout := time.AfterFunc(stopTimeout, func() { p.cmd.Process.Kill() })
	defer timeout.Stop()
	return p.cmd.Wait()
}

// Log is what the process has written to its standard error so far.
func (p *Process) Log() string { return p.stderr.String() }

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
