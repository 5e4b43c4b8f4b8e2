package ingest

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
)

// Source lists files to be read: folders ([Folders]), or what is kept elsewhere, for
// which there are packages below this one.
type Source interface {
	// Roots returns the places that are looked through: as File.Root names them, each
	// with a name that stays the same wherever the program runs, such as an absolute
	// path or a URL. Documents are kept with it, so that a later look at the same
	// place can tell which of them are gone.
	Roots() (map[string]string, error)
	// Files yields the files. A *[Skip] comes with the File it is about; any other
	// error ends the list, which is then not whole. With Unreadable, all that is below
	// the file's id may be there unseen.
	Files(ctx context.Context) iter.Seq2[File, error]
}

// Folders are files and folders on disk as a Source; see [Walk].
type Folders struct {
	Paths   []string
	Options WalkOptions
}

// Roots implements Source.
func (f Folders) Roots() (map[string]string, error) {
	roots := map[string]string{}
	for _, path := range f.Paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("folder %q: %w", path, err)
		}
		roots[path] = abs
	}
	return roots, nil
}

// Files implements Source.
func (f Folders) Files(ctx context.Context) iter.Seq2[File, error] {
	return Walk(ctx, f.Paths, &f.Options)
}
