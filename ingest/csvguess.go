package ingest

import (
	"regexp"
	"strings"

	"github.com/waymark-rag/waymark/chunker"
)

const (
	// sampleRows and sampleBytes bound what is looked at to tell how a file is written.
	sampleRows  = 100
	sampleBytes = 256 << 10
	// maxName is the length of the longest cell that can name a column.
	maxName = 100
)

// delimiters come in the order in which they win a tie: commas are the likeliest to
// stand in a cell.
const delimiters = "\t;|,"

// sepLine is a first line by which spreadsheet programs name the delimiter.
var sepLine = regexp.MustCompile("^(?i:sep)=([\t;|,])\r?\n")

// guessDialect chooses the delimiter that cuts most of the first rows into the same
// number of cells.
func guessDialect(text string) dialect {
	if m := sepLine.FindStringSubmatch(text); m != nil {
		return dialect{m[1][0], len(m[0])}
	}
	best, most := dialect{delimiter: ','}, 0.0
	for _, c := range []byte(delimiters) {
		d := dialect{delimiter: c}
		if share := d.consistency(text); share > most {
			best, most = d, share
		}
	}
	return best
}

// consistency is the share of the sample's rows that have the same number of cells,
// the most frequent one of two or more.
func (d dialect) consistency(text string) float64 {
	counts, rows, most := map[int]int{}, 0, 0
	for _, cells := range d.sample(text) {
		rows++
		if n := len(cells); n > 1 {
			counts[n]++
			most = max(most, counts[n])
		}
	}
	return float64(most) / float64(max(rows, 1))
}

// sample has the cells of the first rows that are not blank. A row that the sample's
// limit may have cut is left out.
func (d dialect) sample(text string) [][]chunker.Range {
	short := text[:min(len(text), sampleBytes)]
	var rows [][]chunker.Range
	for at := d.start; at < len(short) && len(rows) < sampleRows; {
		cells, end := d.row(short, at, nil)
		if end == len(short) && len(short) < len(text) && len(rows) > 0 {
			break
		}
		if strings.TrimSpace(short[at:end]) != "" {
			rows = append(rows, cells)
		}
		at = end
	}
	return rows
}

// header finds the row that names the columns: its cells are short, filled, all
// different and no numbers, dates or the like, and none of them is met again below.
// A single column needs more to go by, a value or a phrase below a single word.
func (d dialect) header(text string) chunker.Range {
	rows := d.sample(text)
	if len(rows) < 2 {
		return chunker.Range{}
	}
	names := map[string]bool{}
	for i, r := range rows[0] {
		name := cell(text, r)
		corner := name == "" && i == 0 && len(rows[0]) > 1 // above a column of row numbers
		if len(name) > maxName || names[strings.ToLower(name)] || !corner && (name == "" || looksLikeValue(name)) {
			return chunker.Range{}
		}
		names[strings.ToLower(name)] = true
	}
	telling := len(rows[0]) > 1
	for _, row := range rows[1:] {
		for i, r := range row[:min(len(row), len(rows[0]))] {
			below, name := cell(text, r), cell(text, rows[0][i])
			if below == name && name != "" {
				return chunker.Range{}
			}
			telling = telling || looksLikeValue(below) || strings.Contains(below, " ") && !strings.Contains(name, " ")
		}
	}
	if !telling {
		return chunker.Range{}
	}
	last := rows[0][len(rows[0])-1].End
	return chunker.Range{Start: rows[0][0].Start, End: last + len(anyLineBreak(text[last:]))}
}

// value is what a column holds but no name is: a number, a sum of money, a share, a
// date, a time, yes or no, an address.
var value = regexp.MustCompile(`(?i)^(?:[-+(]?[$€£¥]?\s?\d[\d.,'\s]*(?:[eE][-+]?\d+)?\s?[%€$£¥)]?|` +
	`\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{1,4})?(?:[T ].*)?|\d{1,2}:\d{2}.*|true|false|null|n/a|nan|` +
	`[^\s@]+@[^\s@]+\.\w+|https?://.*)$`)

func looksLikeValue(s string) bool { return value.MatchString(s) }
