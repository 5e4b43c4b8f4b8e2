//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/pipeline"
)

// step is the folder at one size, and what was measured there.
type step struct {
	index              string
	documents, chunks  int
	added, tokens      int  // chunks and tokens that this step encoded
	run, again, search cost // of indexing what is new, of doing so again, of a first search
	db, vec, logPeak   int64
	asked
}

// cost is what a process took.
type cost struct {
	wall, cpu time.Duration
	peak      int64 // bytes of memory
}

// growing is the folder and its index.
type growing struct {
	settings
	docs              []chunker.Document // yet to be written
	documents, chunks int
	estimate          int
}

// perChunk is about how many bytes of English text a chunk has, to know how many
// documents are wanted. The table has the true numbers of chunks.
const perChunk = 500

// grow writes documents until there are about so many chunks, and indexes.
func (g *growing) grow(ctx context.Context, chunks int) (step, error) {
	for len(g.docs) > 0 && g.estimate < chunks {
		d := g.docs[0]
		g.docs = g.docs[1:]
		path := filepath.Join(g.dir, "docs", d.ID)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return step{}, err
		}
		if err := os.WriteFile(path, []byte(strings.TrimLeft(d.Title+"\n\n"+d.Text, "\n")), 0o644); err != nil {
			return step{}, err
		}
		g.documents++
		g.estimate += (len(d.Text) + perChunk - 1) / perChunk
	}
	index := filepath.Join(g.dir, "index.db")
	s := step{index: filepath.Join(g.dir, fmt.Sprintf("index-%d.db", chunks)), documents: g.documents}
	var report pipeline.Report
	var err error
	if s.run, s.logPeak, report, err = g.indexOnce(ctx, index); err != nil {
		return s, err
	}
	g.chunks += report.Chunks
	s.chunks, s.added, s.tokens = g.chunks, report.Chunks, report.Tokens
	if s.again, _, report, err = g.indexOnce(ctx, index); err != nil {
		return s, err
	}
	if report.Chunks != 0 {
		return s, fmt.Errorf("indexing again encoded %d chunks, want none", report.Chunks)
	}
	for _, suffix := range []string{"", ".vec"} {
		if err := copyFile(s.index+suffix, index+suffix); err != nil && !(suffix != "" && errors.Is(err, fs.ErrNotExist)) {
			return s, err
		}
	}
	s.db, s.vec = size(index), size(index+".vec")
	s.search, _, err = g.process(ctx, io.Discard, "search", "--store", "local:"+index, "what is the main result?")
	return s, err
}

func (g *growing) indexOnce(ctx context.Context, index string) (cost, int64, pipeline.Report, error) {
	var out bytes.Buffer
	var report pipeline.Report
	c, log, err := g.process(ctx, &out, "index", "--quiet", "--json", "--store", "local:"+index, filepath.Join(g.dir, "docs"))
	if err == nil {
		err = json.Unmarshal(out.Bytes(), &report)
	}
	return c, log, report, err
}

// process runs the program, and watches how large the write-ahead log becomes.
func (g *growing) process(ctx context.Context, out io.Writer, args ...string) (c cost, logPeak int64, err error) {
	cmd := exec.CommandContext(ctx, g.waymark, args...)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return c, 0, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for waiting := true; waiting; {
		select {
		case err = <-done:
			waiting = false
		case <-look.C:
			logPeak = max(logPeak, size(filepath.Join(g.dir, "index.db-wal")))
		}
	}
	c.wall, c.cpu = time.Since(begun), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.peak = int64(u.Maxrss) * 1024 // Linux counts in kB
	}
	const skipped = 3 // the exit code where a file had no text
	if err != nil && cmd.ProcessState.ExitCode() != skipped {
		return c, logPeak, fmt.Errorf("%s %s: %w", g.waymark, args[0], err)
	}
	return c, logPeak, nil
}

// size is that of a file, 0 if there is none.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
