package ingest

import (
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

const (
	// maxFrontMatter bounds the block, so that a long file that starts with a
	// horizontal rule is not searched for its end.
	maxFrontMatter = 64 << 10
	// maxEntry bounds one entry: the YAML parser takes quadratic time for deep
	// nesting.
	maxEntry = 8 << 10
)

// matter is what front matter says.
type matter struct {
	title    string
	metadata map[string]any
}

// frontMatter reads the YAML block that a text may start with and returns its
// size, 0 if there is none. Values other than scalars and lists of scalars, and
// entries that are not YAML, are left out.
func frontMatter(text string) (matter, int) {
	block, size := frontMatterBlock(text)
	entries := yamlEntries(block)
	if len(entries) == 0 {
		return matter{}, 0 // two horizontal rules
	}
	m := matter{metadata: map[string]any{}}
	for _, entry := range entries {
		key, value := yamlEntry(entry)
		if value == nil || key == "" {
			continue
		}
		if title, ok := value.(string); ok && key == "title" {
			m.title = strings.TrimSpace(title)
			continue
		}
		m.metadata[key] = value
	}
	return m, size
}

// frontMatterBlock finds what is between a first line of --- and the next line
// of --- or "...". The size counts both lines.
func frontMatterBlock(text string) (block string, size int) {
	start := 0
	for line := range strings.Lines(text[:min(len(text), maxFrontMatter)]) {
		bare := strings.TrimRight(line, " \t\r\n")
		switch {
		case size == 0 && bare != "---":
			return "", 0
		case size == 0:
			start = len(line)
		case bare == "---" || bare == "...":
			return text[start:size], size + len(line)
		}
		size += len(line)
	}
	return "", 0
}

// yamlKey is the start of an entry.
var yamlKey = regexp.MustCompile(`(?m)^[\pL\pN_][\pL\pN_.-]*:\s`)

// yamlEntries cuts a block before each line that starts with a key, so that one
// bad entry does not spoil the others. A block in which anything but comments
// comes before the first key is no mapping and gives none.
func yamlEntries(block string) []string {
	starts := yamlKey.FindAllStringIndex(block, -1)
	if len(starts) == 0 {
		return nil
	}
	for line := range strings.Lines(block[:starts[0][0]]) {
		if strings.TrimSpace(line) != "" && line[0] != '#' {
			return nil
		}
	}
	entries := make([]string, len(starts))
	for i, s := range starts {
		end := len(block)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		entries[i] = block[s[0]:end]
	}
	return entries
}

// yamlEntry reads "key: value". The value is nil if there is none that metadata
// can hold. Aliases are not resolved, so an entry cannot grow.
func yamlEntry(entry string) (key string, value any) {
	if len(entry) > maxEntry {
		return "", nil
	}
	// The parser has panicked on malformed input before; an entry it cannot
	// read must not cost the file.
	defer func() {
		if recover() != nil {
			key, value = "", nil
		}
	}()
	file, err := parser.ParseBytes([]byte(entry), 0)
	if err != nil || len(file.Docs) != 1 {
		return "", nil
	}
	var pair *ast.MappingValueNode
	switch body := file.Docs[0].Body.(type) {
	case *ast.MappingValueNode:
		pair = body
	case *ast.MappingNode:
		if len(body.Values) != 1 {
			return "", nil
		}
		pair = body.Values[0]
	default:
		return "", nil
	}
	name, ok := pair.Key.(*ast.StringNode)
	if !ok {
		return "", nil
	}
	list, ok := pair.Value.(*ast.SequenceNode)
	if !ok {
		return cleanYAML(name.Value), yamlScalar(pair.Value)
	}
	items := []string{}
	for _, node := range list.Values {
		scalar := yamlScalar(node)
		if scalar == nil {
			return "", nil
		}
		item, ok := scalar.(string)
		if !ok {
			item = node.GetToken().Value // 1.10 as it is written, not 1.1
		}
		items = append(items, item)
	}
	return cleanYAML(name.Value), items
}

func yamlScalar(node ast.Node) any {
	switch n := node.(type) {
	case *ast.StringNode:
		return cleanYAML(n.Value)
	case *ast.LiteralNode:
		return strings.TrimSpace(cleanYAML(n.Value.Value))
	case *ast.BoolNode:
		return n.Value
	case *ast.FloatNode:
		return n.Value
	case *ast.IntegerNode:
		switch v := n.Value.(type) {
		case int64:
			return v
		case uint64:
			if v <= 1<<63-1 {
				return int64(v)
			}
		}
	}
	return nil
}

// cleanYAML undoes what an escape in a quoted string can bring in.
func cleanYAML(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, replacement), "\x00", replacement)
}
