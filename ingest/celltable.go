package ingest

import "strings"

// cellTable is a table of an office file as it is read.
type cellTable struct {
	rows    []cellRow
	columns int
	first   bool // its look tells the first row from the others
	page    int  // of a Word document: page breaks before it
}

type cellRow struct {
	cells  []string // one for each column; those that a merged cell takes are empty but for the first
	header bool
}

// maxColumns is more than Word or PowerPoint allow.
const maxColumns = 1024

// write writes a table. One of a single column is a frame around paragraphs.
func (t *cellTable) write(c *composer) {
	told := false
	for _, row := range t.rows {
		told = told || row.header
	}
	header := true
	for i, row := range t.rows {
		if t.columns < 2 {
			c.paragraph(strings.Join(row.cells, ""))
			continue
		}
		header = header && len(t.rows) > 1 && (row.header || !told && t.first && i == 0)
		c.row(row.cells, header)
	}
}
