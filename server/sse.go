package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// events is a stream of server-sent events. It begins with the first event, so that
// what fails before can still be answered with a status of its own, or with the first
// comment line that keeps the connection open.
type events struct {
	s *Server
	w http.ResponseWriter

	mu     sync.Mutex
	begun  bool
	last   time.Time
	failed error

	stop chan struct{}
	done sync.WaitGroup
}

// newEvents returns a stream to the client. It must be closed.
func (s *Server) newEvents(w http.ResponseWriter) *events {
	e := &events{s: s, w: w, last: time.Now(), stop: make(chan struct{})}
	e.done.Go(e.keepOpen)
	return e
}

// send writes an event; without a name, data alone, as OpenAI does. The error is that
// the client is gone.
func (e *events) send(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("writing an event: %w", err)
	}
	if name != "" {
		name = "event: " + name + "\n"
	}
	return e.write(name + "data: " + string(data) + "\n\n")
}

func (e *events) write(text string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failed != nil {
		return e.failed
	}
	e.begin()
	e.last = time.Now()
	e.s.setWriteDeadline(e.w, e.s.limits.Stalled)
	if _, e.failed = e.w.Write([]byte(text)); e.failed == nil {
		e.failed = http.NewResponseController(e.w).Flush()
	}
	return e.failed
}

func (e *events) begin() {
	if e.begun {
		return
	}
	e.begun = true
	h := e.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("X-Accel-Buffering", "no") // or nginx holds events back
	e.w.WriteHeader(http.StatusOK)
}

// keepOpen writes a comment line when there has been nothing for a while.
func (e *events) keepOpen() {
	tick := time.NewTicker(e.s.limits.Ping)
	defer tick.Stop()
	for {
		select {
		case <-e.stop:
			return
		case <-tick.C:
		}
		e.mu.Lock()
		quiet := time.Since(e.last) >= e.s.limits.Ping
		e.mu.Unlock()
		if quiet && e.write(": ping\n\n") != nil {
			return // the handler's next event fails alike
		}
	}
}

// close ends the stream. Nothing is written after it.
func (e *events) close() {
	close(e.stop)
	e.done.Wait()
}

var errStreamOver = errors.New("the stream is over")

// fail ends the stream with an error: through send if it has begun. Otherwise the
// error is returned, for a response of its own.
func (e *events) fail(r *http.Request, err error, send func(*apiError) error) error {
	e.mu.Lock()
	begun := e.begun
	if !begun {
		e.failed = errStreamOver // and no comment line begins it
	}
	e.mu.Unlock()
	if !begun {
		return err
	}
	if r.Context().Err() == context.Canceled {
		return nil // the client is gone
	}
	described := describe(r.Context(), err)
	e.s.logFailure(r.Context(), described)
	if err := send(described); err != nil {
		e.s.log.Debug("sending an error", "request", requestID(r.Context()), "error", err)
	}
	return nil
}
