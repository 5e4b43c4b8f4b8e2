package eval

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// maxLine is the longest line of a file that is read; a document is one line.
const maxLine = 64 << 20

// lines calls f with every line that is not empty; an error says which one.
func lines(r io.Reader, f func(line []byte) error) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxLine)
	n := 0
	for sc.Scan() {
		n++
		if len(strings.TrimSpace(sc.Text())) == 0 {
			continue
		}
		if err := f(sc.Bytes()); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	if errors.Is(sc.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("line %d: it has more than %d MB", n+1, maxLine>>20)
	}
	return sc.Err()
}

// table calls f with the columns asked for of every line below a header of tabs.
func table(r io.Reader, columns []string, f func(fields []string) error) error {
	var at []int
	width := 0
	return lines(r, func(line []byte) error {
		fields := strings.Split(strings.TrimRight(string(line), "\r"), "\t")
		if at == nil {
			width = len(fields)
			for _, c := range columns {
				i := slices.Index(fields, c)
				if i < 0 {
					return fmt.Errorf("the header has no column %q: want %s, with tabs between them", c, strings.Join(columns, ", "))
				}
				at = append(at, i)
			}
			return nil
		}
		if len(fields) != width {
			return fmt.Errorf("%d fields below a header of %d: want a tab between two", len(fields), width)
		}
		picked := make([]string, len(at))
		for i, n := range at {
			picked[i] = fields[n]
		}
		return f(picked)
	})
}

// checkID reports an ID that comes twice or that a line of a run could not hold.
func checkID(id string, seen map[string]bool) error {
	switch {
	case id == "":
		return errors.New(`no "_id": want one for every line`)
	case strings.ContainsFunc(id, unicode.IsSpace):
		return fmt.Errorf("_id %q: want one without white space, which TREC's files cannot hold", id)
	case seen[id]:
		return fmt.Errorf("_id %q was there before: want one for every line", id)
	}
	seen[id] = true
	return nil
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
