package server

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/waymark-rag/waymark/pipeline"
)

const (
	jobsAtOnce = 2
	// keptJobs is how many jobs of a tenant can be asked for after they ended.
	keptJobs = 200
)

// jobs runs uploads in the background, a few at a time, and knows how they went.
type jobs struct {
	log     *slog.Logger
	queue   *queue
	most    int64 // bytes waiting for each tenant
	ctx     context.Context
	cancel  context.CancelFunc
	refused chan struct{} // closed when no more jobs begin
	running sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	byID    map[string]*job
	order   map[string][]string // ids by tenant, oldest first
	pending map[string]int64    // bytes by tenant
}

func newJobs(l Limits, log *slog.Logger) *jobs {
	ctx, cancel := context.WithCancel(context.Background())
	return &jobs{
		log: log, queue: newQueue(jobsAtOnce, l.Waiting), most: l.Pending, ctx: ctx, cancel: cancel, refused: make(chan struct{}),
		byID: map[string]*job{}, order: map[string][]string{}, pending: map[string]int64{},
	}
}

// start has a job run and returns its id.
func (b *jobs) start(ctx context.Context, collection string, into *pipeline.Pipeline, uploads []upload) (string, error) {
	j := &job{tenant: callerOf(ctx).Tenant, request: requestID(ctx), uploads: uploads, into: into, changed: make(chan struct{})}
	for _, u := range uploads {
		j.bytes += int64(len(u.data))
	}
	j.status = jobStatus{ID: newID(), State: queuedState, Collection: collection, Total: len(uploads)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return "", errDraining
	}
	if b.pending[j.tenant]+j.bytes > b.most {
		return "", &apiError{Status: http.StatusTooManyRequests, Code: "queue_full", retry: 5 * time.Second,
			Message: "the uploads that wait to be indexed take all the room there is", Hint: "wait for them to be done"}
	}
	var err error
	if j.ticket, err = b.queue.join(j.tenant); err != nil {
		return "", err
	}
	b.pending[j.tenant] += j.bytes
	b.keep(j)
	b.running.Go(func() { b.run(j) })
	return j.status.ID, nil
}

// keep notes a job and forgets the oldest that ended. The lock is held.
func (b *jobs) keep(j *job) {
	b.byID[j.status.ID] = j
	ids := append(b.order[j.tenant], j.status.ID)
	for len(ids) > keptJobs {
		if oldest, _ := b.byID[ids[0]].look(); !oldest.ended() {
			break
		}
		delete(b.byID, ids[0])
		ids = ids[1:]
	}
	b.order[j.tenant] = ids
}

// find returns a tenant's job, or nil.
func (b *jobs) find(tenant, id string) *job {
	b.mu.Lock()
	defer b.mu.Unlock()
	if j := b.byID[id]; j != nil && j.tenant == tenant {
		return j
	}
	return nil
}

// refuse has no more jobs begin; those that wait fail.
func (b *jobs) refuse() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed = true
		close(b.refused)
	}
}

// close waits for the jobs that run, until ctx ends and they are cut short.
func (b *jobs) close(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		b.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		b.cancel()
		return nil
	case <-ctx.Done():
		b.cancel()
		<-done
		return ctx.Err()
	}
}

// getJob is GET /v1/jobs/ID.
func (s *Server) getJob(w http.ResponseWriter, r *http.Request) error {
	id, err := pathParam(r, "id")
	if err != nil {
		return err
	}
	j := s.jobs.find(callerOf(r.Context()).Tenant, id)
	if j == nil {
		return &apiError{Status: http.StatusNotFound, Code: "job_not_found", Message: "there is no job " + quoted(id), Hint: "jobs are forgotten after a while and when the server starts again"}
	}
	if !wantsEvents(r) {
		status, _ := j.look()
		s.writeJSON(w, r, http.StatusOK, status)
		return nil
	}
	s.setReadDeadline(w, 0)
	e := s.newEvents(w)
	defer e.close()
	for {
		status, changed := j.look()
		if err := e.send("job", status); err != nil || status.ended() {
			return nil // done, or the client is gone
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return nil
		}
	}
}
