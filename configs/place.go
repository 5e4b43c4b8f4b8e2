package configs

import (
	"fmt"
	"strings"
)

// Place is where a store lives, written as one string so that flags, the
// environment and files say it alike.
type Place struct {
	Kind string // "local"
	Path string // the file of a local store
}

// ParsePlace reads local:PATH.
func ParsePlace(s string) (Place, error) {
	kind, path, found := strings.Cut(s, ":")
	if !found || kind != "local" || path == "" {
		return Place{}, fmt.Errorf("place %q: want local:PATH, such as local:.waymark/index.db", s)
	}
	return Place{kind, path}, nil
}

// String writes p as ParsePlace reads it.
func (p Place) String() string { return p.Kind + ":" + p.Path }
