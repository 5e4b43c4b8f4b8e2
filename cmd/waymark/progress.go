package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/waymark-rag/waymark/pipeline"
)

// progress shows how far an indexing run has come: a bar on a terminal, a line
// now and then elsewhere.
type progress struct {
	w     io.Writer
	bar   *progressbar.ProgressBar
	start time.Time
	next  time.Time // when the next line is due
}

// lineEvery is how often a line is written where there is no terminal.
const lineEvery = 10 * time.Second

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, start: time.Now()}
	p.next = p.start.Add(lineEvery)
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions64(1,
			progressbar.OptionSetWriter(w),
			progressbar.OptionSetDescription("indexing"),
			progressbar.OptionShowBytes(true),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionFullWidth(),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
		)
	}
	return p
}

func (p *progress) update(now pipeline.Progress) {
	rate := float64(now.Tokens) / max(time.Since(p.start).Seconds(), 1e-3)
	if p.bar != nil {
		p.bar.ChangeMax64(max(now.Bytes, 1))
		p.bar.Describe(fmt.Sprintf("%d/%d files, %.0f tokens/s", now.DoneFiles, now.Files, rate))
		p.bar.Set64(now.DoneBytes)
		return
	}
	if time.Now().After(p.next) {
		p.next = time.Now().Add(lineEvery)
		left := time.Duration(float64(time.Since(p.start)) * float64(now.Bytes-now.DoneBytes) / max(float64(now.DoneBytes), 1))
		fmt.Fprintf(p.w, "%d of %d files, %s of %s, %.0f tokens/s, about %s left\n",
			now.DoneFiles, now.Files, size(now.DoneBytes), size(now.Bytes), rate, left.Round(time.Second))
	}
}

func (p *progress) finish() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
