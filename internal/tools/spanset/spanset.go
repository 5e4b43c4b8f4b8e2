// Package spanset reads evaluation sets for the tools: BEIR folders, where there
// is a qrels/spans.tsv with the passages that answer a query.
package spanset

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/retriever"
)

// Query is a question with what is right for it.
type Query struct {
	ID    string
	Text  string
	Gains map[string]float64         // by document
	Spans map[string][]chunker.Range // by document, in its text
}

// NDCG is nDCG@10 of documents with linear gains.
func (q Query) NDCG(found []retriever.Candidate) float64 {
	var dcg, ideal float64
	for i, c := range found {
		dcg += q.Gains[c.Document] / math.Log2(float64(i)+2)
	}
	var gains []float64
	for _, g := range q.Gains {
		gains = append(gains, g)
	}
	slices.SortFunc(gains, func(a, b float64) int { return -int(math.Copysign(1, a-b)) })
	for i, g := range gains[:min(10, len(gains))] {
		ideal += g / math.Log2(float64(i)+2)
	}
	return dcg / ideal
}

// Corpus reads the documents of a set.
func Corpus(set string) ([]chunker.Document, error) {
	var out []chunker.Document
	err := lines(filepath.Join(set, "corpus.jsonl"), func(line string) error {
		var row struct {
			ID    string `json:"_id"`
			Title string `json:"title"`
			Text  string `json:"text"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			return err
		}
		out = append(out, chunker.Document{ID: row.ID, Title: row.Title, Text: row.Text})
		return nil
	})
	return out, err
}

// Load reads the queries of a set that have a right answer: a random sample of
// them, or all with a sample of 0.
func Load(set string, sample int) ([]Query, error) {
	byID := map[string]*Query{}
	var ids []string
	err := lines(filepath.Join(set, "queries.jsonl"), func(line string) error {
		var row struct {
			ID   string `json:"_id"`
			Text string `json:"text"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			return err
		}
		byID[row.ID] = &Query{row.ID, row.Text, map[string]float64{}, map[string][]chunker.Range{}}
		ids = append(ids, row.ID)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = table(filepath.Join(set, "qrels", "test.tsv"), func(f []string) error {
		gain, err := strconv.ParseFloat(f[2], 64)
		if q := byID[f[0]]; q != nil {
			q.Gains[f[1]] = gain
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	err = table(filepath.Join(set, "qrels", "spans.tsv"), func(f []string) error {
		start, err := strconv.Atoi(f[4])
		if err != nil {
			return err
		}
		end, err := strconv.Atoi(f[5])
		if q := byID[f[0]]; q != nil {
			q.Spans[f[1]] = append(q.Spans[f[1]], chunker.Range{Start: start, End: end})
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // sets of short texts have none
		return nil, err
	}
	if sample > 0 {
		rand.New(rand.NewPCG(0, 0)).Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		ids = ids[:min(sample, len(ids))]
	}
	var out []Query
	for _, id := range ids {
		if len(byID[id].Gains) > 0 {
			out = append(out, *byID[id])
		}
	}
	return out, nil
}

// table calls f with the fields of each line but the header.
func table(path string, f func([]string) error) error {
	header := true
	return lines(path, func(line string) error {
		if header {
			header = false
			return nil
		}
		return f(strings.Split(line, "\t"))
	})
}

func lines(path string, f func(string) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	sc := bufio.NewScanner(file)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		if err := f(sc.Text()); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return sc.Err()
}
