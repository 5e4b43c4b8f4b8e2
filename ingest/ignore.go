package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ignoreNames are the files that say what to leave out of their folder and all below
// it, in the syntax of git; a later one has the last word.
var ignoreNames = []string{".gitignore", ".waymarkignore"}

func isIgnoreFile(path string) bool { return slices.Contains(ignoreNames, filepath.Base(path)) }

// largestIgnore bounds a file of patterns; one that is larger is none.
const largestIgnore = 1 << 20

// ignores are the patterns that hold in a folder: its own and those of the folders
// above it.
type ignores struct {
	above *ignores
	rel   string // of the folder, below the root
	rules []ignoreRule
}

// ignoreRule is a line of such a file.
type ignoreRule struct {
	glob    glob
	include bool // the line starts with "!"
	folders bool // it ends with "/"
}

// below adds the patterns of the folder at path, if it has any.
func (g *ignores) below(path, rel string) *ignores {
	var rules []ignoreRule
	for _, name := range ignoreNames {
		info, err := os.Lstat(filepath.Join(path, name))
		if err != nil || !info.Mode().IsRegular() || info.Size() > largestIgnore {
			continue
		}
		if data, err := os.ReadFile(filepath.Join(path, name)); err == nil {
			rules = append(rules, parseIgnores(string(data))...)
		}
	}
	if len(rules) == 0 {
		return g
	}
	return &ignores{above: g, rel: rel, rules: rules}
}

// parseIgnores reads lines as git does: "#" starts a comment, "!" takes back, "\\"
// before either or before a last space stands for it. A line that is no pattern says
// nothing.
func parseIgnores(text string) []ignoreRule {
	var rules []ignoreRule
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
			line = line[:len(line)-1]
		}
		if line == "" || line[0] == '#' {
			continue
		}
		var r ignoreRule
		if line[0] == '!' {
			r.include, line = true, line[1:]
		}
		r.folders = strings.HasSuffix(line, "/")
		line = strings.TrimSuffix(line, "/")
		if inside, all := strings.CutSuffix(line, "/**"); all {
			line = inside + "/*" // what is in the folder, not the folder, so that "!" can take some back
		}
		if strings.Contains(strings.TrimPrefix(line, "**/"), "/") {
			line = "/" + strings.TrimPrefix(line, "/") // it is meant from this folder on
		}
		g, err := parseGlob(line)
		if err != nil {
			continue
		}
		r.glob = g
		rules = append(rules, r)
	}
	return rules
}

// leaveOut reports whether the file or folder rel is not wanted: the last pattern
// that matches decides, those of inner folders first.
func (g *ignores) leaveOut(rel string, isDir bool) bool {
	for ; g != nil; g = g.above {
		names := strings.Split(strings.TrimPrefix(strings.TrimPrefix(rel, g.rel), "/"), "/")
		for i := len(g.rules) - 1; i >= 0; i-- {
			r := g.rules[i]
			if (isDir || !r.folders) && r.glob.match(names) {
				return !r.include
			}
		}
	}
	return false
}
