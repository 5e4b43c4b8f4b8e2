package eval

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Write writes a result into a folder: SET/SYSTEM.tsv, a line of values for each
// question in the order of their IDs, and SET/SYSTEM.trec, the run.
func (r *Result) Write(dir string) error {
	dir = filepath.Join(dir, r.Set.Name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	names := make([]string, len(Metrics))
	for i, m := range Metrics {
		names[i] = m.Name
	}
	err := create(filepath.Join(dir, r.System+".tsv"), func(w io.Writer) error { return writeValues(w, names, r.Set, r.Values) })
	return errors.Join(err, create(filepath.Join(dir, r.System+".trec"), func(w io.Writer) error {
		return WriteRun(w, r.System, r.Set.order(nil), r.Run)
	}))
}

// Write writes the values of answers into SET/answers.tsv of a folder.
func (r *AnswerResult) Write(dir string) error {
	dir = filepath.Join(dir, r.Set.Name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return create(filepath.Join(dir, "answers.tsv"), func(w io.Writer) error { return writeValues(w, AnswerMetrics, r.Set, r.Values) })
}

func create(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// order are the IDs of the questions, sorted; at, if not nil, gets their indexes.
func (s *Set) order(at map[string]int) []string {
	out := make([]string, len(s.Queries))
	for i, q := range s.Queries {
		out[i] = q.ID
		if at != nil {
			at[q.ID] = i
		}
	}
	slices.Sort(out)
	return out
}

func writeValues(w io.Writer, names []string, set *Set, values [][]float64) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "query\t%s\n", strings.Join(names, "\t"))
	at := map[string]int{}
	for _, id := range set.order(at) {
		b.WriteString(id)
		for _, v := range values[at[id]] {
			b.WriteString("\t")
			if !math.IsNaN(v) { // what does not apply is left empty
				b.WriteString(strconv.FormatFloat(v, 'f', 7, 64))
			}
		}
		b.WriteString("\n")
	}
	return b.Flush()
}

// Before is an earlier result's values by question, for the metrics it had.
type Before map[string]map[string]float64

// ReadBefore reads what Write wrote of a system; fs.ErrNotExist says that the folder
// does not have it.
func ReadBefore(dir, set, system string) (Before, error) {
	path := filepath.Join(dir, set, system+".tsv")
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out, err := parseBefore(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

func parseBefore(r io.Reader) (Before, error) {
	out := Before{}
	var names []string
	return out, lines(r, func(line []byte) error {
		f := strings.Split(string(line), "\t")
		if names == nil {
			if f[0] != "query" {
				return fmt.Errorf("the header begins with %q: want a file that waymark eval --out wrote", f[0])
			}
			names = f
			return nil
		}
		if len(f) != len(names) {
			return fmt.Errorf("%d fields below a header of %d", len(f), len(names))
		}
		out[f[0]] = map[string]float64{}
		for i, field := range f[1:] {
			if field == "" {
				continue
			}
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return fmt.Errorf("%s of query %q is %q: want a number", names[i+1], f[0], field)
			}
			out[f[0]][names[i+1]] = v
		}
		return nil
	})
}
