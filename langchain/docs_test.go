package langchain_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// flat is code without indentation.
func flat(code string) string {
	var b strings.Builder
	for line := range strings.Lines(code) {
		b.WriteString(strings.TrimLeft(line, "\t"))
	}
	return b.String()
}

// The snippets of the page are parts of the examples, so they compile and run.
func TestSnippetsOfTheDocumentation(t *testing.T) {
	snippets := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(readFile(t, "../docs/langchain.md"), -1)
	if len(snippets) < 10 {
		t.Errorf("the page has %d snippets, want at least 10", len(snippets))
	}
	examples := flat(readFile(t, "example_test.go"))
	for _, s := range snippets {
		if !strings.Contains(examples, flat(s[1])) {
			t.Errorf("no example has the snippet\n%s", s[1])
		}
	}
}

func TestTablesOfTheDocumentation(t *testing.T) {
	page := readFile(t, "../docs/langchain.md")
	keys := regexp.MustCompile(`(Meta\w+) += "(waymark\.\w+)" +// (string|int|float64|\[\]string)`).FindAllStringSubmatch(readFile(t, "keys.go"), -1)
	if len(keys) != 19 {
		t.Errorf("found %d keys, want 19", len(keys))
	}
	for _, k := range keys {
		if row := fmt.Sprintf("| `%s` | `%s` | %s |", k[2], k[1], k[3]); !strings.Contains(page, row) {
			t.Errorf("the page has no row %s", row)
		}
	}
	for _, op := range []string{"$eq", "$ne", "$in", "$prefix", "$contains", "$lt", "$lte", "$gt", "$gte", "$exists"} {
		if !strings.Contains(page, `{"`+op+`":`) {
			t.Errorf("the page does not say what %s does", op)
		}
	}
}
