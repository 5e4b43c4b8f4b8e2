package ingest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// How long a folder must be quiet before Watch tells of changes in it, and how long
// it waits at most: a log that is written all the time must not hold up the rest.
const (
	quiet   = 300 * time.Millisecond
	atMost  = 1200 * time.Millisecond
	hintMax = "raise fs.inotify.max_user_watches, or run the indexing at intervals instead"
)

// Watch tells of changes to the files that Walk finds. The channel gets a nil soon
// after something has changed, once the folders are quiet for a moment; several
// changes may come as one. What has changed is for the receiver to find out, by
// walking again: everything that happened before the nil was sent is then seen. The
// channel gets an error when watching has to end, and is closed at the end, also when
// ctx is done.
func Watch(ctx context.Context, roots []string, opts *WalkOptions) (<-chan error, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, watchError(err)
	}
	t := &watch{Watcher: w, roots: roots, opts: WalkOptions{}, changed: make(chan error)}
	if opts != nil {
		t.opts = *opts
	}
	if err := t.addAll(ctx); err != nil {
		w.Close()
		return nil, err
	}
	go t.run(ctx)
	return t.changed, nil
}

type watch struct {
	*fsnotify.Watcher
	roots   []string
	opts    WalkOptions
	changed chan error
}

// addAll watches every folder that the walk enters. Watching one twice does nothing.
func (t *watch) addAll(ctx context.Context) error {
	var failed error
	opts := t.opts
	opts.entered = func(folder string) {
		if err := t.Add(folder); err != nil && failed == nil && !errors.Is(err, syscall.ENOENT) {
			failed = fmt.Errorf("folder %q: %w", folder, watchError(err))
		}
	}
	for _, err := range Walk(ctx, t.roots, &opts) {
		if err != nil && !errors.As(err, new(*Skip)) {
			return err
		}
	}
	return failed
}

func watchError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) {
		return fmt.Errorf("cannot watch so many folders: %w: %s", err, hintMax)
	}
	return fmt.Errorf("cannot watch: %w", err)
}

func (t *watch) run(ctx context.Context) {
	defer close(t.changed)
	defer t.Close()
	var first time.Time // of the changes not told yet
	settled := time.NewTimer(0)
	<-settled.C
	send := func(err error) {
		select {
		case t.changed <- err:
		case <-ctx.Done():
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case e, open := <-t.Events:
			if !open {
				return
			}
			if e.Op == fsnotify.Chmod || !t.opts.All && unwanted(filepath.Base(e.Name), false) && !isIgnoreFile(e.Name) {
				continue
			}
			if first.IsZero() {
				first = time.Now()
			}
			settled.Reset(min(quiet, max(0, atMost-time.Since(first))))
		case err, open := <-t.Errors:
			if !open {
				return
			}
			if !errors.Is(err, fsnotify.ErrEventOverflow) { // after which a walk sees it all
				send(watchError(err))
				return
			}
			first = time.Now()
			settled.Reset(quiet)
		case <-settled.C:
			first = time.Time{}
			// New folders first, so that nothing in them changes unseen.
			if err := t.addAll(ctx); err != nil && ctx.Err() == nil {
				send(err)
				return
			}
			send(nil)
		}
	}
}
