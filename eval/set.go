package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/waymark-rag/waymark/chunker"
)

// Set is documents and questions about them.
type Set struct {
	Name      string
	Documents []chunker.Document
	Queries   []Query
}

// Query is a question and what is right for it.
type Query struct {
	ID, Text string
	// Gains are the judgements by document; one above 0 is relevant.
	Gains map[string]int
	// Spans are the passages that answer it, by document, in the bytes of its text.
	Spans map[string][]chunker.Range
	// Answers are the right ones, if any is known; one of them is enough.
	Answers []string
	// Length is the nominal length in tokens of the document asked about, in sets
	// that are made by length.
	Length int
}

// ReadOptions narrow what is read. The zero value takes all.
type ReadOptions struct {
	// Queries is the size of a random sample of questions, always the same one.
	Queries int
	// Longest, in sets made by length, leaves out longer documents.
	Longest int
}

// Read reads a BEIR folder: corpus.jsonl, queries.jsonl, qrels/test.tsv and, where
// passages are known, qrels/spans.tsv. Questions that nobody judged are left out.
//
// As BEIR has it a title stands in front of its text, but not in a set with spans,
// since they count the bytes of the text. Of a set made by length only the
// documents asked about are kept.
func Read(dir string, opts ReadOptions) (*Set, error) {
	s := &Set{Name: filepath.Base(filepath.Clean(dir))}
	if _, err := os.Stat(filepath.Join(dir, "corpus.jsonl")); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no corpus.jsonl: want a BEIR folder with corpus.jsonl, queries.jsonl and qrels/test.tsv", dir)
	}
	byID := map[string]*Query{}
	read := func(name string, parse func(io.Reader) error) error {
		path := filepath.Join(dir, filepath.FromSlash(name))
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := parse(f); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	}
	var queries []Query
	err := read("corpus.jsonl", func(r io.Reader) (err error) {
		s.Documents, err = parseCorpus(r)
		return err
	})
	if err == nil {
		err = read("queries.jsonl", func(r io.Reader) (err error) {
			queries, err = parseQueries(r)
			for i := range queries {
				byID[queries[i].ID] = &queries[i]
			}
			return err
		})
	}
	if err == nil {
		err = read("qrels/test.tsv", func(r io.Reader) error { return judge(r, byID) })
	}
	spans := false
	if err == nil {
		err = read("qrels/spans.tsv", func(r io.Reader) error {
			spans = true
			return s.span(r, byID)
		})
		if errors.Is(err, fs.ErrNotExist) { // sets of short texts have none
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	if !spans {
		for i, d := range s.Documents {
			if d.Title != "" {
				s.Documents[i].Text, s.Documents[i].Title = d.Title+"\n"+d.Text, ""
			}
		}
	}
	s.choose(queries, opts)
	if len(s.Queries) == 0 {
		return nil, fmt.Errorf("%s: none of %d questions has a judgement in qrels/test.tsv: want lines of query-id, corpus-id and score", dir, len(queries))
	}
	return s, nil
}

// choose takes the questions asked for.
func (s *Set) choose(queries []Query, opts ReadOptions) {
	if n := opts.Queries; n > 0 { // training/waymark_training/sample.py draws the same
		rand.New(rand.NewPCG(0, 0)).Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
		queries = queries[:min(n, len(queries))]
	}
	for _, q := range queries {
		if len(q.Gains) > 0 && (opts.Longest == 0 || q.Length <= opts.Longest) {
			s.Queries = append(s.Queries, q)
		}
	}
	for _, q := range s.Queries {
		if q.Length > 0 {
			s.Documents = asked(s.Documents, s.Queries)
			return
		}
	}
}

// asked are the documents that a question has a judgement for.
func asked(documents []chunker.Document, queries []Query) []chunker.Document {
	wanted := map[string]bool{}
	for _, q := range queries {
		for id := range q.Gains {
			wanted[id] = true
		}
	}
	var out []chunker.Document
	for _, d := range documents {
		if wanted[d.ID] {
			out = append(out, d)
		}
	}
	return out
}

// ByLength is the set itself or, if it is made by length, a set for each length with
// the documents of that length alone, the shortest first.
func (s *Set) ByLength() []*Set {
	parts := map[int]*Set{}
	for _, q := range s.Queries {
		p := parts[q.Length]
		if p == nil {
			p = &Set{Name: fmt.Sprintf("%s-%d", s.Name, q.Length)}
			parts[q.Length] = p
		}
		p.Queries = append(p.Queries, q)
	}
	if len(parts) == 1 && parts[0] != nil {
		return []*Set{s}
	}
	var out []*Set
	for _, length := range sortedKeys(parts) {
		p := parts[length]
		p.Documents = asked(s.Documents, p.Queries)
		out = append(out, p)
	}
	return out
}

// HasSpans reports whether the passages that answer are known.
func (s *Set) HasSpans() bool {
	for _, q := range s.Queries {
		if len(q.Spans) > 0 {
			return true
		}
	}
	return false
}

func parseCorpus(r io.Reader) ([]chunker.Document, error) {
	var out []chunker.Document
	seen := map[string]bool{}
	err := lines(r, func(line []byte) error {
		var row struct {
			ID    string `json:"_id"`
			Title string `json:"title"`
			Text  string `json:"text"`
		}
		if err := json.Unmarshal(line, &row); err != nil {
			return fmt.Errorf(`%w: want {"_id": "...", "title": "...", "text": "..."}`, err)
		}
		out = append(out, chunker.Document{ID: row.ID, Title: row.Title, Text: row.Text})
		return checkID(row.ID, seen)
	})
	return out, err
}

func parseQueries(r io.Reader) ([]Query, error) {
	var out []Query
	seen := map[string]bool{}
	err := lines(r, func(line []byte) error {
		var row struct {
			ID       string `json:"_id"`
			Text     string `json:"text"`
			Metadata struct {
				Answer json.RawMessage `json:"answer"`
				Tokens int             `json:"tokens"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(line, &row); err != nil {
			return fmt.Errorf(`%w: want {"_id": "...", "text": "..."}`, err)
		}
		q := Query{ID: row.ID, Text: row.Text, Gains: map[string]int{}, Spans: map[string][]chunker.Range{}, Length: max(row.Metadata.Tokens, 0)}
		var one string
		switch a := row.Metadata.Answer; {
		case len(a) == 0:
		case json.Unmarshal(a, &one) == nil:
			if one != "" { // null too
				q.Answers = []string{one}
			}
		case json.Unmarshal(a, &q.Answers) != nil:
			return fmt.Errorf("metadata.answer %s: want a string or a list of strings", a)
		}
		if strings.TrimSpace(q.Text) == "" {
			return fmt.Errorf("question %q has no text", q.ID)
		}
		out = append(out, q)
		return checkID(row.ID, seen)
	})
	return out, err
}

// judge reads judgements into the questions; those of unknown ones are passed over,
// since a set may be a part of a larger one.
func judge(r io.Reader, byID map[string]*Query) error {
	qrels, err := ReadQrels(r)
	for id, gains := range qrels {
		if q := byID[id]; q != nil {
			q.Gains = gains
		}
	}
	return err
}

// span reads gold passages into the questions.
func (s *Set) span(r io.Reader, byID map[string]*Query) error {
	size := map[string]int{}
	for _, d := range s.Documents {
		size[d.ID] = len(d.Text)
	}
	return table(r, []string{"query-id", "corpus-id", "start_byte", "end_byte"}, func(f []string) error {
		start, err1 := strconv.Atoi(f[2])
		end, err2 := strconv.Atoi(f[3])
		n, known := size[f[1]]
		if err1 != nil || err2 != nil || start < 0 || end <= start || known && end > n {
			return fmt.Errorf("bytes %q to %q of document %q, whose text has %d: want a range inside of it", f[2], f[3], f[1], n)
		}
		if q := byID[f[0]]; q != nil {
			q.Spans[f[1]] = append(q.Spans[f[1]], chunker.Range{Start: start, End: end})
		}
		return nil
	})
}
