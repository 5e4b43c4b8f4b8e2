//go:build unix

// Package cputime tells how long processors worked, which other work on the machine
// changes far less than how long it took.
package cputime

import (
	"syscall"
	"time"
)

// Own is what this process has had of the processors so far.
func Own() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
