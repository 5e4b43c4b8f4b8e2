package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/waymark-rag/waymark/configs"
	"github.com/waymark-rag/waymark/ingest"
	"github.com/waymark-rag/waymark/internal/wire"
	"github.com/waymark-rag/waymark/pipeline"
)

// openManifest opens what earlier runs into the same store noted of files: beside a
// local store, in the user's cache for one on a server. Without a place to keep it
// there is none, and files are told by their content alone.
func openManifest(cfg configs.Config, b *wire.Built, opts pipeline.IndexOptions) *pipeline.Manifest {
	place, err := cfg.Place()
	if err != nil {
		return nil
	}
	path := place.Path
	if place.Kind != configs.KindLocal {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil
		}
		sum := sha256.Sum256([]byte(place.String()))
		path = filepath.Join(cache, "waymark", fmt.Sprintf("%x", sum[:8]))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil
		}
	} else if place.Tenant != "" {
		path += fmt.Sprintf(".%x", sha256.Sum256([]byte(place.Tenant)))[:17]
	}
	if opts.Shard != (pipeline.Shard{}) {
		path += "." + strings.ReplaceAll(opts.Shard.String(), "/", "-of-")
	}
	return pipeline.OpenManifest(path+".files", fmt.Sprintf("%v", wire.Fingerprint(cfg, b.Model)))
}

// watch indexes every change until it is interrupted.
func (x *indexing) watch(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	changed, err := ingest.Watch(ctx, x.roots, &x.opts.Walk)
	if err != nil {
		return err
	}
	if !x.quiet && !x.json {
		fmt.Fprintf(x.stderr, "watching for changes; Ctrl-C ends it\n")
	}
	// What changed between the first run and the watch is seen by the next.
	last := pipeline.Report{}
	for {
		report, err := x.run(ctx, x.opts)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if news(report, last) {
			if err := x.tell(report); err != nil && !errors.Is(err, errSkipped) {
				return err
			}
		}
		last = report
		err, open := <-changed
		if !open || err != nil {
			return err
		}
	}
}

// news reports whether there is something to tell: a change, or a file that is newly
// skipped.
func news(report, last pipeline.Report) bool {
	if report.Added+report.Changed+report.Moved+report.Removed > 0 {
		return true
	}
	before := map[pipeline.Skipped]bool{}
	for _, s := range last.Skipped {
		before[s] = true
	}
	for _, s := range report.Skipped {
		if !before[s] {
			return last.Elapsed > 0
		}
	}
	return false
}
