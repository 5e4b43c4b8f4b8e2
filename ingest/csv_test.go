package ingest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/chunker"
)

func TestCSVHeader(t *testing.T) {
	for _, tc := range []struct{ file, want string }{
		{"name,age\nAda,36\n", "name,age\n"},
		{"name,age\r\nAda,36\r\n", "name,age\r\n"},
		{"name,age\rAda,36\r", "name,age\r"},
		{"name;price\nSalt;1,50\nFlour;0,80\n", "name;price\n"},
		{"name\tprice\nSalt\t1,50\n", "name\tprice\n"},
		{"name|price\nSalt|1.50\n", "name|price\n"},
		{",first,second\n0,a,b\n1,c,d\n", ",first,second\n"},
		{"\"Full name\",\"Cost\n(EUR)\"\nAda,3\n", "\"Full name\",\"Cost\n(EUR)\"\n"},
		{"\n\nname,age\nAda,36\n", "name,age\n"},
		{"question,answer\nWhy?,\"Because, I think\"\n", "question,answer\n"},
		{"text\nA sentence of several words.\n", "text\n"},
		{"sep=;\nname;age\nAda;36\n", "name;age\n"},
		{"Ada,36\nGrace,85\n", ""},
		{"Ada,1815-12-10\nGrace,1906-12-09\n", ""},
		{"Ada,ada@example.org\nGrace,g@example.org\n", ""},
		{"yes,Ada\nyes,Grace\n", ""}, // met again below
		{"name,name\na,b\n", ""},
		{"name,\na,b\n", ""},
		{"one\ntwo\nthree\n", ""}, // a list of words
		{"name,age\n", ""},        // nothing below
		{strings.Repeat("x", 101) + ",age\na,1\n", ""},
		{"A sentence of prose, with a comma in it.\nAnother sentence, of the same kind.\n", "A sentence of prose, with a comma in it.\n"}, // cannot be told
	} {
		l, err := parse("a.csv", []byte(tc.file))
		if err != nil {
			t.Fatal(err)
		}
		checkLoaded(t, []byte(tc.file), l)
		if got := l.Document.Tables[0].Header.Of(l.Document.Text); got != tc.want {
			t.Errorf("the header of %q is %q, want %q", tc.file, got, tc.want)
		}
	}
}

// langchaingo's CSV loader keeps the byte order mark in the first header
// (users.md, complaint 15).
func TestMarkNotInFirstHeader(t *testing.T) {
	file := "\xef\xbb\xbfname,age\r\nAda,36\r\n"
	l, err := parse("a.csv", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	doc := l.Document
	if got := doc.Tables[0].Header.Of(doc.Text); got != "name,age\r\n" {
		t.Errorf("header %q", got)
	}
	at := strings.Index(doc.Text, "Ada")
	if got := doc.Source.Tile(chunker.Range{Start: at, End: at + 3}); got.Of(file) != "Ada" {
		t.Errorf("the cell stands at %v, %q", got, got.Of(file))
	}
}

// Rows are those of a spreadsheet, where a cell has line breaks too.
func TestCSVRows(t *testing.T) {
	file := "name,note\nAda,\"first\nsecond\"\nGrace,third\n" + strings.Repeat("x,", 50_000) + "huge\nlast,one\n"
	l, err := parse("a.csv", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	for phrase, want := range map[string]string{"second": "row 2", "third": "row 3", "huge": "row 4", "last": "row 5", "first\nsecond\"\nGrace": "rows 2-3"} {
		at := strings.Index(l.Document.Text, phrase)
		if got := l.Document.Place(chunker.Range{Start: at, End: at + len(phrase)}).String(); got != want {
			t.Errorf("%q is at %q, want %q", phrase, got, want)
		}
	}
}

// Many rows share places, which are still true.
func TestCSVManyRows(t *testing.T) {
	var b strings.Builder
	const n = 100_000
	for i := range n {
		fmt.Fprintf(&b, "%d,row\n", i+1)
	}
	l, err := parse("a.csv", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	doc := l.Document
	if len(doc.Places) > 20_000 {
		t.Errorf("%d places", len(doc.Places))
	}
	for _, row := range []int{1, 2, 777, 50_000, n} {
		at := strings.Index(doc.Text, fmt.Sprintf("\n%d,", row)) + 1
		p := doc.Place(chunker.Range{Start: at, End: at + 1})
		var first, last int
		if _, err := fmt.Sscan(p.First+" "+p.Last, &first, &last); err != nil || row < first || row > last || last-first > 7 {
			t.Errorf("row %d is at %v", row, p)
		}
	}
}

// A quote that is never closed costs its row, not the rest of the file; all text stays.
func TestCSVOpenQuote(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "open-quote.psv"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := parse("a.psv", data)
	if err != nil || len(l.Document.Places) != 4 || l.Document.Text != string(data) {
		t.Errorf("%+v, %v", l, err)
	}
}
