// Package worker serves a driver that lets peers take turns: one line of JSON in, one
// out, and with each how long the work took. worker.py does the same in Python.
package worker

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"syscall"
	"time"
)

// Serve says hello with a version, then answers until the input ends. Work is measured
// from the time that the request is decoded to the time that work returns.
func Serve[Request, Reply any](version string, work func(Request) (Reply, error)) error {
	in, out := json.NewDecoder(bufio.NewReaderSize(os.Stdin, 1<<20)), json.NewEncoder(os.Stdout)
	if err := out.Encode(map[string]string{"version": version}); err != nil {
		return err
	}
	for {
		var request Request
		if err := in.Decode(&request); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		begun, cpu := time.Now(), cpuTime()
		reply, err := work(request)
		took, used := time.Since(begun), cpuTime()-cpu
		if err != nil {
			return err
		}
		if err := out.Encode(map[string]any{"wall": took.Seconds(), "cpu": used.Seconds(), "reply": reply}); err != nil {
			return err
		}
	}
}

// Main ends the program with what run returns.
func Main(run func() error) {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Version is that of a module in this program.
func Version(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == module {
				return m.Version
			}
		}
	}
	return "unknown"
}

// cpuTime is what this process has had of the processors.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
