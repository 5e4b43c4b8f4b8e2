package ingest

import (
	"fmt"
	"path"
	"strings"
)

// glob is a pattern's segments. "**" stands for any number of names.
type glob []string

func parseGlob(pattern string) (glob, error) {
	trimmed := strings.TrimPrefix(pattern, "/")
	if trimmed == "" {
		return nil, fmt.Errorf("glob %q: want a pattern such as %q or %q", pattern, "*.md", "docs/**")
	}
	folder := strings.HasSuffix(trimmed, "/")
	g := glob(strings.Split(strings.TrimSuffix(trimmed, "/"), "/"))
	if len(g) == 1 && trimmed == pattern {
		g = append(glob{"**"}, g...) // a bare name matches in any folder
	}
	if folder {
		g = append(g, "**")
	}
	for _, segment := range g {
		if _, err := path.Match(segment, ""); err != nil || segment == "" {
			return nil, fmt.Errorf("glob %q: cannot read %q: want names in which *, ?, [a-z] and \\ have the meaning of path.Match, with single slashes between them", pattern, segment)
		}
	}
	return g, nil
}

func parseGlobs(patterns []string) ([]glob, error) {
	var globs []glob
	for _, p := range patterns {
		g, err := parseGlob(p)
		if err != nil {
			return nil, err
		}
		globs = append(globs, g)
	}
	return globs, nil
}

func matchAny(globs []glob, name string) bool {
	if len(globs) == 0 {
		return false
	}
	names := strings.Split(name, "/")
	for _, g := range globs {
		if g.match(names) {
			return true
		}
	}
	return false
}

// match takes time in proportion to the lengths multiplied: where names do not go on
// as g does, the last "**" takes one more of them.
func (g glob) match(names []string) bool {
	i, n := 0, 0
	again, from := -1, 0 // behind the last "**", and the first name it has not taken
	for n < len(names) || i < len(g) {
		if i < len(g) && g[i] == "**" {
			i++
			again, from = i, n
			continue
		}
		if i < len(g) && n < len(names) {
			if ok, _ := path.Match(g[i], names[n]); ok {
				i, n = i+1, n+1
				continue
			}
		}
		if again < 0 || from == len(names) {
			return false
		}
		from++
		i, n = again, from
	}
	return true
}

// Wanted returns whether a name, with slashes, is to be taken by globs as in
// [WalkOptions], for sources other than folders.
func Wanted(include, exclude []string) (func(name string) bool, error) {
	in, err := parseGlobs(include)
	if err != nil {
		return nil, fmt.Errorf("include %w", err)
	}
	out, err := parseGlobs(exclude)
	if err != nil {
		return nil, fmt.Errorf("exclude %w", err)
	}
	return func(name string) bool {
		parts := strings.Split(name, "/")
		for i := range parts { // a folder that is left out takes all in it along
			if matchAny(out, strings.Join(parts[:i+1], "/")) {
				return false
			}
		}
		return len(in) == 0 || matchAny(in, name)
	}, nil
}
