package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

// progress shows how far a run has come: a bar on a terminal, a line
// now and then elsewhere.
type progress struct {
	w     io.Writer
	bar   *progressbar.ProgressBar
	start time.Time
	next  time.Time // when the next line is due
}

// lineEvery is how often a line is written where there is no terminal.
const lineEvery = 10 * time.Second

// newProgress shows what is being done, counted in bytes or in documents.
func newProgress(w io.Writer, what string, bytes bool) *progress {
	p := &progress{w: w, start: time.Now()}
	p.next = p.start.Add(lineEvery)
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions64(1,
			progressbar.OptionSetWriter(w),
			progressbar.OptionSetDescription(what),
			progressbar.OptionShowBytes(bytes),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionFullWidth(),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
		)
	}
	return p
}

// update shows how far an indexing run is.
func (p *progress) update(now pipeline.Progress) {
	rate := float64(now.Tokens) / max(time.Since(p.start).Seconds(), 1e-3)
	p.show(now.Bytes, now.DoneBytes, fmt.Sprintf("%d/%d files, %.0f tokens/s", now.DoneFiles, now.Files, rate), func(left time.Duration) string {
		return fmt.Sprintf("%d of %d files, %s of %s, %.0f tokens/s, about %s left", now.DoneFiles, now.Files, size(now.DoneBytes), size(now.Bytes), rate, left)
	})
}

// copied shows how far an export is.
func (p *progress) copied(now retriever.CopyReport) {
	p.show(int64(now.Documents), int64(now.Done()), fmt.Sprintf("%d copied, %d unchanged", now.Copied, now.Unchanged), func(left time.Duration) string {
		return fmt.Sprintf("%d of %d documents, %d of them unchanged, about %s left", now.Done(), now.Documents, now.Unchanged, left)
	})
}

// show moves the bar, or writes the line that fits if one is due.
func (p *progress) show(all, done int64, beside string, line func(left time.Duration) string) {
	if p.bar != nil {
		p.bar.ChangeMax64(max(all, 1))
		p.bar.Describe(beside)
		p.bar.Set64(done)
		return
	}
	if time.Now().After(p.next) {
		p.next = time.Now().Add(lineEvery)
		left := time.Duration(float64(time.Since(p.start)) * float64(all-done) / max(float64(done), 1))
		fmt.Fprintln(p.w, line(left.Round(time.Second)))
	}
}

func (p *progress) finish() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
