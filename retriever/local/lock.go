package local

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-rag/waymark/retriever"
)

// lockSuffix ends the name of the file for a store's write lock.
const lockSuffix = ".lock"

// lockPoll is how often a waiting writer tries again.
const lockPoll = 10 * time.Millisecond

// writeLock lets one writer at a time through, in this process and on this
// machine. The operating system holds it, so it goes when its holder dies.
type writeLock struct {
	path string
	wait time.Duration
	mine chan struct{} // one place: within the process
}

func newWriteLock(path string, wait time.Duration) *writeLock {
	return &writeLock{path: path, wait: wait, mine: make(chan struct{}, 1)}
}

// acquire waits for the lock and returns what gives it back.
func (l *writeLock) acquire(ctx context.Context) (release func(), err error) {
	timeout := time.NewTimer(l.wait)
	defer timeout.Stop()
	select {
	case l.mine <- struct{}{}:
	default:
		select {
		case l.mine <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timeout.C:
			return nil, l.busy(strconv.Itoa(os.Getpid()))
		}
	}
	file, err := l.acquireFile(ctx, timeout.C)
	if err != nil {
		<-l.mine
		return nil, err
	}
	return func() {
		file.Close()
		<-l.mine
	}, nil
}

func (l *writeLock) acquireFile(ctx context.Context, timeout <-chan time.Time) (*os.File, error) {
	poll := time.NewTicker(lockPoll)
	defer poll.Stop()
	for {
		file, err := tryLock(l.path)
		if err != nil {
			return nil, fmt.Errorf("write lock: %w", err)
		}
		if file != nil {
			err := file.Truncate(0)
			if err == nil {
				_, err = fmt.Fprintln(file, os.Getpid())
			}
			if err != nil {
				file.Close()
				return nil, fmt.Errorf("write lock: %w", err)
			}
			return file, nil
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timeout:
			holder, _ := os.ReadFile(l.path) // empty if it is just being taken
			return nil, l.busy(strings.TrimSpace(string(holder)))
		}
	}
}

func (l *writeLock) busy(pid string) error {
	if pid == "" {
		pid = "unknown"
	}
	return fmt.Errorf("%w: process %s has been writing for more than %v; wait for it to end or stop it", retriever.ErrBusy, pid, l.wait)
}
