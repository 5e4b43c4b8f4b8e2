package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// sample is what the server's process takes.
type sample struct {
	when       string
	memory     float64 // bytes, resident
	goroutines float64
}

// watcher reads the server's metrics.
type watcher struct {
	client  *client
	samples []sample
	failed  error
}

func (w *watcher) look(ctx context.Context, when string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.client.url+"/metrics", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+w.client.key)
	resp, err := w.client.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("/metrics: %s", resp.Status)
	}
	s := sample{when: when}
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		number, _ := strconv.ParseFloat(value, 64) // of a comment, which is not looked at
		switch name {
		case "process_resident_memory_bytes":
			s.memory = number
		case "go_goroutines":
			s.goroutines = number
		}
	}
	w.samples = append(w.samples, s)
	return nil
}

// during looks at the start, the end and each quarter.
func (w *watcher) during(ctx context.Context, d time.Duration) {
	start := time.Now()
	for i := range 5 {
		at := d * time.Duration(i) / 4
		sleep(ctx, time.Until(start.Add(at)))
		if err := w.look(ctx, fmt.Sprintf("after %v", at)); err != nil && w.failed == nil {
			w.failed = err
		}
	}
}

// settle looks until there are no more goroutines than before, for half a minute at
// most, and keeps what it saw last.
func (w *watcher) settle(ctx context.Context) error {
	during := w.samples
	for range 60 {
		sleep(ctx, 500*time.Millisecond)
		w.samples = during
		if err := w.look(ctx, "at rest again"); err != nil {
			return err
		}
		if w.samples[len(during)].goroutines <= w.samples[0].goroutines {
			break
		}
	}
	return nil
}
