package server

import (
	"context"
	"net/http"
	"runtime"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

func processors() int { return runtime.GOMAXPROCS(0) }

// queue bounds how many requests are worked on at once and how many wait. Each
// tenant has a queue of its own, so that none can fill another's, and what becomes
// free goes to the tenant that has least in work, in turns where several have.
type queue struct {
	slots, most int // at once, and waiting for each tenant

	mu      sync.Mutex
	running int
	granted int // so far
	tenants map[string]*share
}

// share is what a tenant has of a queue.
type share struct {
	running int
	last    int       // what queue.granted was at its last turn
	waiting []*ticket // first come first
}

// ticket is one request in a queue.
type ticket struct {
	queue  *queue
	tenant string
	turn   chan struct{} // closed when it is granted
}

func newQueue(slots, most int) *queue {
	return &queue{slots: slots, most: most, tenants: map[string]*share{}}
}

// join takes a place in the queue, which may be granted at once. Whoever has a ticket
// must wait for it or leave.
func (q *queue) join(tenant string) (*ticket, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.tenants[tenant]
	if s == nil {
		s = &share{}
		q.tenants[tenant] = s
	}
	if q.running >= q.slots && len(s.waiting) >= q.most {
		return nil, queueFull("too many requests are waiting")
	}
	t := &ticket{queue: q, tenant: tenant, turn: make(chan struct{})}
	s.waiting = append(s.waiting, t)
	q.grant()
	return t, nil
}

// grant hands out free slots. The lock is held.
func (q *queue) grant() {
	for q.running < q.slots {
		var next *share
		for _, s := range q.tenants {
			if len(s.waiting) > 0 && (next == nil || s.before(next)) {
				next = s
			}
		}
		if next == nil {
			return
		}
		t := next.waiting[0]
		next.waiting = next.waiting[1:]
		next.running++
		q.running++
		q.granted++
		next.last = q.granted
		close(t.turn)
	}
}

// before reports whether a tenant's turn comes before another's.
func (s *share) before(o *share) bool {
	return s.running < o.running || s.running == o.running && s.last < o.last
}

func queueFull(message string) *apiError {
	return &apiError{Status: http.StatusTooManyRequests, Code: "queue_full", retry: time.Second, Message: message,
		Hint: "send fewer at once, and try again after the time that Retry-After gives"}
}

// wait returns when it is the ticket's turn, or with ctx's error, and then the
// ticket is given back.
func (t *ticket) wait(ctx context.Context) error {
	select {
	case <-t.turn:
		return nil
	case <-ctx.Done():
		t.leave()
		return ctx.Err()
	}
}

// leave gives the ticket back, waited for or not.
func (t *ticket) leave() {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.tenants[t.tenant]
	select {
	case <-t.turn:
		s.running--
		q.running--
	default:
		for i, w := range s.waiting {
			if w == t {
				s.waiting = append(s.waiting[:i:i], s.waiting[i+1:]...)
				break
			}
		}
	}
	if s.running == 0 && len(s.waiting) == 0 {
		delete(q.tenants, t.tenant)
	}
	q.grant()
}

// counts returns how many requests are worked on and how many wait.
func (q *queue) counts() (running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, s := range q.tenants {
		waiting += len(s.waiting)
	}
	return q.running, waiting
}

// queued has requests wait for their turn in q.
func (s *Server) queued(q *queue) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return s.handle(func(w http.ResponseWriter, r *http.Request) error {
			t, err := q.join(callerOf(r.Context()).Tenant)
			if err != nil {
				s.metrics.refused("queue")
				return err
			}
			ctx, cancel := context.WithTimeout(r.Context(), s.limits.Request)
			err = t.wait(ctx)
			cancel()
			if err != nil && r.Context().Err() == nil {
				err = queueFull("the requests before this one take too long")
				s.metrics.refused("queue")
			}
			if err != nil {
				return err
			}
			defer t.leave()
			next.ServeHTTP(w, r)
			return nil
		})
	}
}

// rates bounds how many requests a tenant sends in a second.
type rates struct {
	limit rate.Limit
	burst int

	mu      sync.Mutex
	tenants map[string]*rate.Limiter
}

func newRates(perSecond float64) *rates {
	if perSecond == 0 {
		return &rates{limit: rate.Inf}
	}
	return &rates{limit: rate.Limit(perSecond), burst: max(int(2*perSecond), 1), tenants: map[string]*rate.Limiter{}}
}

// take counts a request, or says when there will be room for it.
func (r *rates) take(tenant string) error {
	if r.limit == rate.Inf {
		return nil
	}
	r.mu.Lock()
	l := r.tenants[tenant]
	if l == nil {
		l = rate.NewLimiter(r.limit, r.burst)
		r.tenants[tenant] = l
	}
	r.mu.Unlock()
	res := l.Reserve()
	if d := res.Delay(); d > 0 {
		res.Cancel()
		return &apiError{Status: http.StatusTooManyRequests, Code: "rate_limited", retry: d,
			Message: "too many requests in too short a time", Hint: "try again after the time that Retry-After gives"}
	}
	return nil
}
