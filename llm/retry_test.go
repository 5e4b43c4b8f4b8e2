package llm

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

// A server that asks for patience gets it, within reason.
func TestProvidersWait(t *testing.T) {
	tests := []struct {
		name, after string
		calls       int32
	}{
		{"a second", "1", 2},
		{"until then", time.Now().Add(2 * time.Second).UTC().Format(http.TimeFormat), 2},
		{"an hour", "3600", 1},
		{"no number", "soon", 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			var first time.Time
			m := serve(t, "openai", func(w http.ResponseWriter, _ map[string]any) {
				if calls.Add(1) == 1 {
					first = time.Now()
					w.Header().Set("Retry-After", test.after)
					http.Error(w, "slow down", http.StatusTooManyRequests)
					return
				}
				if wait := time.Since(first); test.after == "1" && wait < time.Second {
					t.Errorf("asked again after %v", wait)
				}
				protocols["openai"].stream(w, "Yes")
				protocols["openai"].end(w)
			})
			_, _, err := generate(context.Background(), m)
			if calls.Load() != test.calls || (err == nil) != (test.calls == 2) || err != nil && !errors.Is(err, ErrUnavailable) {
				t.Errorf("got %v after %d calls: want %d", err, calls.Load(), test.calls)
			}
		})
	}
}
