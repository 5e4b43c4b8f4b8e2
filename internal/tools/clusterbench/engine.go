//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// engine is a running one.
type engine struct {
	address string
	cmd     *exec.Cmd
	stdin   io.Closer
}

func (s settings) start(dir string) (*engine, error) {
	cmd := exec.Command(s.python, s.engine, "--until-eof", "--path", dir)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	port, ok := strings.CutPrefix(strings.TrimSpace(line), "READY ")
	if !ok {
		cmd.Process.Kill()
		return nil, fmt.Errorf("the engine did not start: %q, %w", line, errors.Join(err, cmd.Wait()))
	}
	return &engine{"127.0.0.1:" + port, cmd, stdin}, nil
}

// stop lets it write all that it has.
func (e *engine) stop() error {
	e.stdin.Close()
	return e.cmd.Wait()
}

// cpu is what the engine has had of the processors; Linux counts it in hundredths of a second.
func (e *engine) cpu() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", e.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	var sum time.Duration
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n) * 10 * time.Millisecond
	}
	return sum, nil
}

// took is what the engine works for one of some calls.
func (e *engine) took(n int, call func(i int) error) (time.Duration, error) {
	begun, err := e.cpu()
	if err != nil {
		return 0, err
	}
	for i := range n {
		if err := call(i); err != nil {
			return 0, err
		}
	}
	ended, err := e.cpu()
	return (ended - begun) / time.Duration(n), err
}

// memory is what the engine has of its own, and of files that are mapped.
func (e *engine) memory() (own, mapped int64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", e.cmd.Process.Pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "RssAnon":
			own = n * 1024
		case "RssFile":
			mapped = n * 1024
		}
	}
	return own, mapped, nil
}

// diskUse are the bytes that the collections take, by the part of a segment that
// they belong to.
func diskUse(dir string) (map[string]int64, error) {
	out := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rest, _ := filepath.Rel(dir, path)
		part := "other"
		if _, in, ok := strings.Cut(rest, "/segments/"); ok {
			if steps := strings.Split(in, "/"); len(steps) > 1 {
				part, _, _ = strings.Cut(steps[1], ".")
			}
		} else if strings.Contains(rest, "/wal/") {
			part = "wal"
		}
		out[part] += info.Sys().(*syscall.Stat_t).Blocks * 512
		return nil
	})
	return out, err
}
