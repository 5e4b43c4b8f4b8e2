package ingest

import (
	"slices"
	"sort"
	"strconv"

	"github.com/waymark-rag/waymark/chunker"
)

// fill repeats what merged cells show in each row that they reach over, so that a row
// says all that is said of it.
func (g *grid) fill(merged []gridRange) {
	work := 1 << 20 // rows, so that many ranges over many rows end
	for _, r := range merged {
		at := sort.Search(len(g.rows), func(i int) bool { return g.rows[i].number >= r.first })
		if at == len(g.rows) || g.rows[at].number != r.first {
			continue
		}
		from, ok := g.rows[at].cell(r.column)
		if !ok {
			continue
		}
		for at++; at < len(g.rows) && g.rows[at].number <= r.last; at++ {
			if work--; work < 0 {
				return
			}
			row := &g.rows[at]
			if i, taken := row.index(r.column); !taken {
				row.cells = slices.Insert(slices.Clip(row.cells), i, from) // rows may share their cells
			}
		}
	}
}

func (r *gridRow) index(column int) (int, bool) {
	return slices.BinarySearchFunc(r.cells, column, func(c gridCell, column int) int { return int(c.column) - column })
}

func (r *gridRow) cell(column int) (gridCell, bool) {
	i, ok := r.index(column)
	if !ok {
		return gridCell{}, false
	}
	return r.cells[i], true
}

// write writes the rows of a sheet under its name. Rows that follow each other are a
// table; a blank row ends it.
func (g *grid) write(c *composer, name string) {
	if len(g.rows) == 0 {
		return
	}
	at := func(row gridRow) {
		n := strconv.Itoa(row.number)
		c.at(chunker.Place{Kind: chunker.RowPlace, In: name, First: n, Last: n})
	}
	at(g.rows[0])
	c.heading(2, name)
	for start := 0; start < len(g.rows); {
		end := start + 1
		for end < len(g.rows) && g.rows[end].number == g.rows[end-1].number+1 {
			end++
		}
		region := g.rows[start:end]
		columns := usedColumns(region)
		// Lines above a table are its title.
		for len(columns) > 1 && len(region) > 1 && len(region[0].cells) == 1 && !c.full {
			at(region[0])
			c.paragraph(g.of(region[0].cells[0]))
			region = region[1:]
		}
		header := len(columns) > 1 && isHeader(region, start == 0)
		cells := make([]string, len(columns))
		for i, row := range region {
			if c.full {
				return
			}
			clear(cells)
			for _, cell := range row.cells {
				at, _ := slices.BinarySearch(columns, cell.column)
				cells[at] = g.of(cell)
			}
			at(row)
			c.row(cells, header && i == 0)
		}
		c.endTable()
		start = end
	}
}

func (g *grid) of(c gridCell) string { return string(g.text[c.start:c.end]) }

// usedColumns are those that have something in any of the rows.
func usedColumns(rows []gridRow) []int32 {
	var used []int32
	for _, row := range rows {
		for _, c := range row.cells {
			if i, ok := slices.BinarySearch(used, c.column); !ok {
				used = slices.Insert(used, i, c.column)
			}
		}
	}
	return used
}

// isHeader tells whether the first row names the columns: it is of words alone, and
// below some of them there are none. The first table of a sheet needs no such sign.
func isHeader(rows []gridRow, first bool) bool {
	if len(rows) < 2 || len(rows[0].cells) < 2 {
		return false
	}
	for _, c := range rows[0].cells {
		if !c.words {
			return false
		}
	}
	const enough = 50 // rows to look at
	for _, row := range rows[1:min(len(rows), enough)] {
		for _, c := range row.cells {
			if _, named := rows[0].cell(int(c.column)); named && !c.words {
				return true
			}
		}
	}
	return first
}
