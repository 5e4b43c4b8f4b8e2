package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// budget is what reading one file of the disk may still cost. Readers and containers
// draw on it, so that a small file cannot fill the memory or stop a run.
type budget struct {
	ctx     context.Context // done when the time is over
	opts    ReadOptions     // with defaults
	bytes   int64           // that may still be unpacked
	members int             // that may still be opened
	left    []*Skip         // parts of the document at hand that give no text

	timer   *time.Timer
	started time.Time     // when the clock was set going
	used    time.Duration // before that
}

// newBudget starts the clock for a file; done stops it.
func newBudget(ctx context.Context, opts ReadOptions) (b *budget, done context.CancelFunc) {
	opts = opts.withDefaults()
	ctx, cancel := context.WithCancelCause(ctx)
	b = &budget{ctx: ctx, opts: opts, bytes: opts.MaxUnpacked, members: opts.MaxMembers, started: time.Now()}
	b.timer = time.AfterFunc(opts.MaxTime, func() { cancel(errTooSlow) })
	return b, func() {
		b.timer.Stop()
		cancel(nil)
	}
}

// pause stops the clock while f runs: what is done with a document takes its own time.
func (b *budget) pause(f func()) {
	b.timer.Stop()
	b.used += time.Since(b.started)
	f()
	b.started = time.Now()
	b.timer.Reset(b.opts.MaxTime - b.used)
}

var errTooSlow = errors.New("it took too long")

// over returns a Skip once the time is over or the caller gave up; loops that go
// over a whole file ask now and then.
func (b *budget) over() *Skip {
	switch {
	case b.ctx.Err() == nil:
		return nil
	case errors.Is(context.Cause(b.ctx), errTooSlow):
		return &Skip{Reason: TooSlow, Detail: fmt.Sprintf("the limit is %s; split it or raise the limit", b.opts.MaxTime)}
	}
	return &Skip{Reason: TooSlow, Err: context.Cause(b.ctx)}
}

// leaveOut notes that a part of the document gives no text; the rest stands.
func (b *budget) leaveOut(s *Skip) { b.left = append(b.left, s) }

// takeLeft hands out what was noted of one document.
func (b *budget) takeLeft() []*Skip {
	left := b.left
	b.left = nil
	return left
}

// unpack reads all that r has, as far as the budget goes. Both what is there already
// and what comes count as memory, so a member that is too large is never held.
func (b *budget) unpack(r io.Reader) ([]byte, *Skip) {
	var buf bytes.Buffer
	limit := min(b.bytes, b.opts.MaxBytes)
	_, err := buf.ReadFrom(io.LimitReader(ctxReader{b.ctx, r}, limit+1))
	if s := b.over(); s != nil {
		return nil, s
	}
	b.bytes -= int64(buf.Len())
	switch {
	case b.bytes < 0:
		b.bytes = 0
		return nil, b.tooMuch(b.opts.MaxUnpacked)
	case int64(buf.Len()) > limit:
		return nil, b.tooMuch(b.opts.MaxBytes)
	case err != nil:
		return nil, &Skip{Reason: Damaged, Err: err}
	}
	return buf.Bytes(), nil
}

// stream gives what r has piece by piece, and fails with a Skip where the budget ends.
func (b *budget) stream(r io.Reader) io.Reader { return drawing{b, r} }

type drawing struct {
	b *budget
	r io.Reader
}

func (d drawing) Read(p []byte) (int, error) {
	if s := d.b.over(); s != nil {
		return 0, s
	}
	n, err := d.r.Read(p)
	if d.b.bytes -= int64(n); d.b.bytes < 0 {
		d.b.bytes = 0
		return 0, d.b.tooMuch(d.b.opts.MaxUnpacked)
	}
	return n, err
}

func (b *budget) tooMuch(limit int64) *Skip {
	return &Skip{Reason: TooLarge, Detail: fmt.Sprintf("it unpacks to more than %d bytes; unpack it or raise the limit", limit)}
}
