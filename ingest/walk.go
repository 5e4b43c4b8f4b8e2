package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// File is a file that Walk found.
type File struct {
	ID   string // the document's id: the path below Root with slashes; see [ID]
	Path string // the path to open
	Root string // the folder or file it was found under, as given to Walk
	Size int64  // in bytes, when it was found
	// Modified is when its content last changed, when it was found.
	Modified time.Time
	// Open opens a file that is not on disk; Path is then for messages alone, and its
	// extension says the format unless As does.
	Open func(context.Context) (io.ReadCloser, error)
	As   string // an extension
}

// WalkOptions says which files of a folder to take. The zero value is the
// default.
//
// Globs are matched against the path below the root, with slashes. "*" stays
// within a name and "**" stands for any number of folders. A pattern without a
// slash matches a name in any folder; one that starts with a slash matches from
// the root; a folder's name that ends in a slash stands for all that is in it.
type WalkOptions struct {
	// Include are globs; a file must match one of them. None means all files.
	Include []string
	// Exclude are globs of files and folders to leave out.
	Exclude []string
	// Ignored takes what .gitignore and .waymarkignore files leave out. Such a file
	// holds for its folder and all below it, in git's syntax; of the two,
	// .waymarkignore has the last word.
	Ignored bool
	// Only restricts the walk to these files, as paths that lead below a root from
	// the current folder. No other is looked at; one that is not there is a Skip.
	Only []string
	// All takes hidden files and folders too, whose names start with a dot,
	// and folders that hold other people's code: node_modules, __pycache__.
	All bool
	// FollowLinks enters folders through symbolic links. A folder is entered
	// once, so links that form a loop end.
	FollowLinks bool

	entered func(folder string) // is told of each folder that is gone through
}

// Walk goes through files and folders in the order of roots, and through each
// folder in the order of names. A root is always taken, whatever its name; the
// options choose among what is below it. A file as root has its base name as id.
// Symbolic links to files are followed. A file that two roots lead to is
// yielded once.
//
// A *[Skip] comes with the File it is about and the walk goes on: a folder that
// cannot be read, a symbolic link that is not followed or leads nowhere, a
// socket, a second file with the same id. Any other error ends the walk: a root
// that does not exist (before the first file), a bad glob, ctx being done.
func Walk(ctx context.Context, roots []string, opts *WalkOptions) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		w, err := newWalker(ctx, roots, opts)
		if err != nil {
			yield(File{}, err)
			return
		}
		w.yield = yield
		for _, root := range w.roots {
			if w.canceled() || !w.walk(root) {
				return
			}
		}
	}
}

// walker is one walk. Its methods return false when the walk must end.
type walker struct {
	ctx              context.Context
	yield            func(File, error) bool
	roots            []string
	root             string // being walked
	include, exclude []glob
	all, followLinks bool
	ignored          bool
	told             func(folder string)
	only             []string // absolute

	// Only kept with several roots: within one, ids and paths cannot clash.
	paths map[string]string // id -> absolute path
	seen  map[string]bool   // absolute path

	entered []string // resolved folders that need not be entered again
}

func newWalker(ctx context.Context, roots []string, opts *WalkOptions) (*walker, error) {
	if opts == nil {
		opts = &WalkOptions{}
	}
	w := &walker{ctx: ctx, roots: roots, all: opts.All, followLinks: opts.FollowLinks, ignored: opts.Ignored, told: opts.entered}
	var err error
	if w.include, err = parseGlobs(opts.Include); err != nil {
		return nil, fmt.Errorf("include %w", err)
	}
	if w.exclude, err = parseGlobs(opts.Exclude); err != nil {
		return nil, fmt.Errorf("exclude %w", err)
	}
	if len(roots) > 1 {
		w.paths, w.seen = map[string]string{}, map[string]bool{}
	}
	for _, name := range opts.Only {
		abs, err := filepath.Abs(name)
		if err != nil {
			return nil, fmt.Errorf("file %q: %w", name, err)
		}
		w.only = append(w.only, abs)
	}
	for _, root := range roots {
		if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("no file or folder %q: check the spelling and the folder you are in: %w", root, err)
		} else if err != nil {
			return nil, fmt.Errorf("cannot look at %q: want a file or folder that can be read: %w", root, err)
		}
		if w.followLinks {
			w.enter(root)
		}
	}
	return w, nil
}

func (w *walker) canceled() bool {
	err := w.ctx.Err()
	if err != nil {
		w.yield(File{}, err)
	}
	return err != nil
}

func (w *walker) walk(root string) bool {
	w.root = root
	info, err := os.Stat(root)
	if err == nil && info.IsDir() {
		if w.only != nil {
			return w.listed(root)
		}
		return w.folder(root, "", nil)
	}
	if w.told != nil {
		w.told(filepath.Dir(root))
	}
	name := filepath.Base(root)
	if err != nil {
		return w.skip(root, name, &Skip{Reason: Unreadable, Err: err})
	}
	return w.file(root, name, info)
}

// folder goes through the folder at path; rel is its name below the root, and above
// what the folders above it leave out.
func (w *walker) folder(path, rel string, above *ignores) bool {
	if w.told != nil {
		w.told(path)
	}
	out := above
	if !w.ignored {
		out = above.below(path, rel)
	}
	entries, err := os.ReadDir(path)
	if err != nil && !w.skip(path, rel, &Skip{Reason: Unreadable, Err: err}) {
		return false
	}
	for _, e := range entries {
		if w.canceled() || !w.entry(filepath.Join(path, e.Name()), strings.TrimPrefix(rel+"/"+e.Name(), "/"), e, out) {
			return false
		}
	}
	return true
}

func (w *walker) entry(path, rel string, e fs.DirEntry, out *ignores) bool {
	if !w.all && unwanted(e.Name(), e.IsDir()) || matchAny(w.exclude, rel) || out.leaveOut(rel, e.IsDir()) {
		return true
	}
	if e.IsDir() {
		return w.folder(path, rel, out)
	}
	isLink := e.Type()&fs.ModeSymlink != 0
	info, err := os.Stat(path)
	if err == nil && isLink && info.IsDir() {
		return w.linkedFolder(path, rel, out)
	}
	if len(w.include) > 0 && !matchAny(w.include, rel) {
		return true
	}
	switch {
	case err != nil && isLink:
		return w.skip(path, rel, &Skip{Reason: Symlink, Err: err})
	case err != nil:
		return w.skip(path, rel, &Skip{Reason: Unreadable, Err: err})
	}
	return w.file(path, rel, info)
}

// unwanted reports whether a name is passed over unless all is asked for.
func unwanted(name string, isDir bool) bool {
	return strings.HasPrefix(name, ".") || isDir && (name == "node_modules" || name == "__pycache__")
}

func (w *walker) linkedFolder(path, rel string, out *ignores) bool {
	switch {
	case !w.followLinks:
		return w.skip(path, rel, &Skip{Reason: Symlink, Detail: "it leads to a folder"})
	case !w.enter(path):
		return w.skip(path, rel, &Skip{Reason: Symlink, Detail: "it leads to a folder that is in the walk already"})
	}
	return w.folder(path, rel, out)
}

// enter notes that the folder at path, links resolved, is being walked. It is
// false when that folder or one above it was noted before.
func (w *walker) enter(path string) bool {
	abs, err := filepath.Abs(path)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return false
	}
	inside := func(folder string) bool {
		return abs == folder || strings.HasPrefix(abs, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
	}
	if slices.ContainsFunc(w.entered, inside) {
		return false
	}
	w.entered = append(w.entered, abs)
	return true
}

func (w *walker) file(path, rel string, info fs.FileInfo) bool {
	if !info.Mode().IsRegular() {
		return w.skip(path, rel, &Skip{Reason: Special, Detail: "it is a socket, pipe or device"})
	}
	f := File{ID: ID(rel), Path: path, Root: w.root, Size: info.Size(), Modified: info.ModTime()}
	if w.paths != nil {
		abs, err := filepath.Abs(path)
		if err != nil {
			return w.skip(path, rel, &Skip{Reason: Unreadable, Err: err})
		}
		if w.seen[abs] {
			return true
		}
		w.seen[abs] = true
		if first, taken := w.paths[f.ID]; taken {
			return w.skip(path, rel, &Skip{Reason: Duplicate, Detail: fmt.Sprintf("%q has the id %q; index a folder above both", first, f.ID)})
		}
		w.paths[f.ID] = abs
	}
	return w.yield(f, nil)
}

func (w *walker) skip(path, rel string, s *Skip) bool {
	s.Path = path
	return w.yield(File{ID: ID(rel), Path: path, Root: w.root}, s)
}
