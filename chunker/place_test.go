package chunker

import (
	"strings"
	"testing"
)

func TestPlaceInWords(t *testing.T) {
	for _, tt := range []struct {
		place Place
		want  string
	}{
		{Place{}, ""},
		{Place{Kind: PagePlace, First: "12", Last: "12"}, "page 12"},
		{Place{Kind: PagePlace, First: "12"}, "page 12"},
		{Place{Kind: SlidePlace, First: "3", Last: "4"}, "slides 3-4"},
		{Place{Kind: RowPlace, In: "Costs", First: "2", Last: "40"}, "Costs, rows 2-40"},
		{Place{Kind: RowPlace, In: "Costs"}, "Costs"},
		{Place{Kind: TimePlace, First: "00:01:02", Last: "00:01:30"}, "00:01:02-00:01:30"},
	} {
		if got := tt.place.String(); got != tt.want {
			t.Errorf("%+v in words: %q, want %q", tt.place, got, tt.want)
		}
	}
}

func TestPlaceOfAPassage(t *testing.T) {
	doc := Document{Text: "one\ftwo\f\fthree", Places: []Placed{
		{Range{0, 4}, Place{Kind: PagePlace, First: "1", Last: "1"}},
		{Range{4, 8}, Place{Kind: PagePlace, First: "2", Last: "2"}},
		{Range{9, 14}, Place{Kind: PagePlace, First: "4", Last: "4"}},
	}}
	for _, tt := range []struct {
		r    Range
		want string
	}{
		{Range{0, 3}, "page 1"},
		{Range{0, 4}, "page 1"}, // its form feed is white space
		{Range{3, 7}, "page 2"},
		{Range{2, 5}, "pages 1-2"},
		{Range{0, 14}, "pages 1-4"},
		{Range{8, 9}, ""},
	} {
		if got := doc.Place(tt.r).String(); got != tt.want {
			t.Errorf("place of %s: %q, want %q", tt.r, got, tt.want)
		}
	}
}

func TestPlaceThroughSheets(t *testing.T) {
	first := Place{Kind: RowPlace, In: "Costs", First: "39", Last: "40"}
	last := Place{Kind: RowPlace, In: "Plan", First: "1", Last: "7"}
	if got := first.Through(last).String(); got != "rows Costs!39-Plan!7" {
		t.Errorf("through two sheets: %q", got)
	}
	notes := Place{Kind: RowPlace, In: "Notes", First: "2", Last: "2"}
	for _, got := range []Place{first.Through(last).Through(notes), first.Through(last.Through(notes))} {
		if got.String() != "rows Costs!39-Notes!2" {
			t.Errorf("through three sheets: %q", got)
		}
	}
}

func TestChunksOfATableHaveItsHeader(t *testing.T) {
	row := "| cell | cell | cell | cell |\n"
	header := "| a | b | c | d |\n|---|---|---|---|\n"
	text := "Before.\n\n" + header + strings.Repeat(row, 12) + "\nAfter the table there is a paragraph of its own.\n"
	markdown := Document{Text: text, Syntax: Markdown}
	at := strings.Index(text, header)
	told := Document{Text: text, Tables: []Table{{
		Range:  Range{at, strings.Index(text, "\nAfter") + 1},
		Header: Range{at, at + len(header)},
	}}}
	for name, doc := range map[string]Document{"Markdown": markdown, "told": told} {
		chunks := split(t, Options{MaxTokens: 30}, doc)
		checkChunks(t, WordTokenizer{}, Options{MaxTokens: 30}, doc, chunks)
		with := 0
		for _, c := range chunks {
			body := strings.HasPrefix(c.Of(text), "| cell")
			if body {
				with++
			}
			if got := c.Header.Of(text); body && got != header || !body && got != "" {
				t.Errorf("%s: chunk %q has the header %q", name, c.Of(text), got)
			}
		}
		if with == 0 {
			t.Errorf("%s: no chunk starts within the table: %d chunks", name, len(chunks))
		}
	}
}

func TestTablesAndPlacesAreChecked(t *testing.T) {
	c, err := New(WordTokenizer{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, doc := range map[string]Document{
		"a table past the end":       {Text: "text", Tables: []Table{{Range: Range{0, 5}}}},
		"tables in each other":       {Text: "text", Tables: []Table{{Range: Range{0, 3}}, {Range: Range{2, 4}}}},
		"a header outside its table": {Text: "text", Tables: []Table{{Range: Range{0, 2}, Header: Range{2, 4}}}},
		"a place past the end":       {Text: "text", Places: []Placed{{Range: Range{0, 5}}}},
		"places out of order":        {Text: "text", Places: []Placed{{Range: Range{2, 4}}, {Range: Range{0, 2}}}},
	} {
		if _, err := c.Split(doc); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
