package server

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/waymark-rag/waymark/chunker"
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

// run is the life of a job. Its end shows only once what it held is free again: who
// waited for it finds room.
func (b *jobs) run(j *job) {
	err := b.work(j)
	b.mu.Lock()
	if b.pending[j.tenant] -= j.bytes; b.pending[j.tenant] == 0 {
		delete(b.pending, j.tenant)
	}
	b.mu.Unlock()
	j.uploads = nil
	j.change(func(s *jobStatus) {
		s.State, s.Current = doneState, ""
		if err != nil {
			s.State, s.Error = failedState, describe(context.WithValue(b.ctx, requestKey, j.request), err)
		}
	})
}

// work waits for the job's turn and does it.
func (b *jobs) work(j *job) error {
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
		return errDraining
	}
	defer j.ticket.leave()
	select {
	case <-b.refused: // at the same time
		return errDraining
	default:
	}
	j.change(func(s *jobStatus) { s.State = runningState })
	err := j.index(b.ctx)
	if err != nil {
		b.log.Error("indexing an upload", "request", j.request, "job", j.status.ID, "error", err)
	}
	if errors.Is(err, context.Canceled) {
		return errDraining
	}
	return err
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
		report = report.Plus(added)
		so := report
		j.change(func(s *jobStatus) { s.Done, s.Report = i+1, &so })
		j.uploads[i].data = nil
	}
	return nil
}

// atOnce is how many documents of an archive are stored together.
const atOnce = 64

// add stores the documents of an upload and removes those that an older version had
// besides; what cannot be read is reported as skipped.
func (u upload) add(ctx context.Context, into *pipeline.Pipeline) (pipeline.Report, error) {
	report := pipeline.Report{Skipped: []pipeline.Skipped{}}
	var batch []chunker.Document
	store := func() error {
		added, err := into.Add(ctx, batch...)
		report, batch = report.Plus(added), nil
		return err
	}
	var kept []string
	for doc, err := range u.documents(ctx) {
		var skip *ingest.Skip
		switch {
		case errors.As(err, &skip):
			report.Skipped = append(report.Skipped, pipeline.Skipped{Path: skip.Path, Reason: skip.Why()})
			continue
		case err != nil:
			return report, err
		}
		kept = append(kept, doc.ID)
		if batch = append(batch, doc); len(batch) == atOnce {
			if err := store(); err != nil {
				return report, err
			}
		}
	}
	if err := store(); err != nil || len(kept) == 0 {
		return report, err // of an upload that holds nothing the older version stays
	}
	if u.id == "" && ingest.SingleByName(u.name) {
		return report, nil // no version of it has held more; to look for that goes through the whole store
	}
	removed, err := into.Remove(ctx, cmp.Or(u.id, ingest.ID(u.name)), kept...)
	report.Removed += removed
	return report, err
}
