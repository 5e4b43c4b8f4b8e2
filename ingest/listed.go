package ingest

import (
	"os"
	"path/filepath"
	"strings"
)

// listed goes through those of the files asked for that are below a root, in the
// order they were given. They are taken whatever the other options say.
func (w *walker) listed(root string) bool {
	abs, err := filepath.Abs(root)
	if err != nil {
		return w.skip(root, "", &Skip{Reason: Unreadable, Err: err})
	}
	for _, path := range w.only {
		rel, err := filepath.Rel(abs, path)
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			continue // below another root
		}
		if w.canceled() {
			return false
		}
		name := filepath.Join(root, rel)
		info, err := os.Stat(name)
		wanted := false
		if err != nil {
			wanted = w.skip(name, filepath.ToSlash(rel), &Skip{Reason: Unreadable, Err: err})
		} else {
			wanted = w.file(name, filepath.ToSlash(rel), info)
		}
		if !wanted {
			return false
		}
	}
	return true
}
