package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/waymark-rag/waymark/ingest"
	"github.com/waymark-rag/waymark/pipeline"
)

// The states of a job.
const (
	queuedState  = "queued"
	runningState = "running"
	doneState    = "done"
	failedState  = "failed"
)

const (
	jobsAtOnce = 2
	// keptJobs is how many jobs of a tenant can be asked for after they ended.
	keptJobs = 200
)

// jobStatus is a job as clients see it.
type jobStatus struct {
	ID         string           `json:"id"`
	State      string           `json:"state"`
	Collection string           `json:"collection"`
	Done       int              `json:"done"`
	Total      int              `json:"total"`
	Current    string           `json:"current"`
	Report     *pipeline.Report `json:"report,omitempty"`
	Error      *apiError        `json:"error,omitempty"`
}

func (j jobStatus) ended() bool { return j.State == doneState || j.State == failedState }

// job is an upload on its way into a collection.
type job struct {
	tenant  string
	request string // its id, for the log
	uploads []upload
	bytes   int64
	into    *pipeline.Pipeline
	ticket  *ticket

	mu      sync.Mutex
	status  jobStatus
	changed chan struct{} // closed at the next change
}

// look returns how a job stands, and what closes when that changes.
func (j *job) look() (jobStatus, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.status, j.changed
}

func (j *job) change(f func(*jobStatus)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	f(&j.status)
	close(j.changed)
	j.changed = make(chan struct{})
}

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

// run is the life of a job.
func (b *jobs) run(j *job) {
	defer func() {
		b.mu.Lock()
		if b.pending[j.tenant] -= j.bytes; b.pending[j.tenant] == 0 {
			delete(b.pending, j.tenant)
		}
		b.mu.Unlock()
	}()
	waiting, stop := context.WithCancel(b.ctx)
	defer stop()
	go func() {
		select {
		case <-b.refused:
			stop()
		case <-waiting.Done():
		}
	}()
	if err := j.ticket.wait(waiting); err != nil {
		j.fail(waiting, errDraining)
		return
	}
	defer j.ticket.leave()
	select {
	case <-b.refused: // at the same time
		j.fail(waiting, errDraining)
		return
	default:
	}
	j.change(func(s *jobStatus) { s.State = runningState })
	if err := j.index(b.ctx); err != nil {
		b.log.Error("indexing an upload", "request", j.request, "job", j.status.ID, "error", err)
		j.fail(context.WithValue(b.ctx, requestKey, j.request), err)
		return
	}
	j.change(func(s *jobStatus) { s.State, s.Current = doneState, "" })
}

func (j *job) fail(ctx context.Context, err error) {
	if errors.Is(err, context.Canceled) {
		err = errDraining
	}
	e := describe(ctx, err)
	j.change(func(s *jobStatus) { s.State, s.Current, s.Error = failedState, "", e })
	j.uploads = nil
}

// index adds the uploads one by one, so that progress shows and one that cannot be
// read stands alone.
func (j *job) index(ctx context.Context) error {
	report := pipeline.Report{Skipped: []pipeline.Skipped{}}
	for i := range j.uploads {
		u := j.uploads[i]
		j.change(func(s *jobStatus) { s.Current = u.name })
		added, err := u.add(ctx, j.into)
		if err != nil {
			return err
		}
		report = merged(report, added)
		so := report
		j.change(func(s *jobStatus) { s.Done, s.Report = i+1, &so })
		j.uploads[i].data = nil
	}
	return nil
}

// add stores the document; one that cannot be read is reported as skipped.
func (u upload) add(ctx context.Context, into *pipeline.Pipeline) (pipeline.Report, error) {
	doc, err := u.document()
	var skip *ingest.Skip
	switch {
	case errors.As(err, &skip):
		reason := string(skip.Reason)
		if skip.Detail != "" {
			reason += ": " + skip.Detail
		}
		return pipeline.Report{Skipped: []pipeline.Skipped{{Path: u.name, Reason: reason}}}, nil
	case err != nil:
		return pipeline.Report{}, err
	}
	return into.Add(ctx, doc)
}

// merged adds up two reports.
func merged(a, b pipeline.Report) pipeline.Report {
	a.Added += b.Added
	a.Changed += b.Changed
	a.Unchanged += b.Unchanged
	a.Removed += b.Removed
	a.Skipped = append(a.Skipped[:len(a.Skipped):len(a.Skipped)], b.Skipped...)
	a.Chunks += b.Chunks
	a.Tokens += b.Tokens
	a.Encoded += b.Encoded
	a.Bytes += b.Bytes
	a.Elapsed += b.Elapsed
	a.Encoding += b.Encoding
	return a
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
