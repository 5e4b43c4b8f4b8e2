package ingest

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// cleanPath makes the name that an archive has for a file a path in the archive:
// with slashes, relative, and leading to nothing above. It is empty when nothing is
// left.
func cleanPath(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '\\':
			return '/'
		case unicode.IsControl(r):
			return '_'
		}
		return r
	}, name)
	return strings.TrimPrefix(path.Clean("/"+name), "/")
}

// unwantedPath reports whether a file in an archive is passed over, as Walk would
// with the same file on disk.
func unwantedPath(name string) bool {
	parts := strings.Split(name, "/")
	return slices.ContainsFunc(parts[:len(parts)-1], func(part string) bool { return unwanted(part, true) || part == "__MACOSX" }) ||
		unwanted(parts[len(parts)-1], false)
}
