package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/ingest"
)

// xlsx is a workbook of sheets with the XML of their content, in order, and other
// parts, given as name and content in turn.
func xlsx(book string, sheets []string, parts ...string) []byte {
	rels := []string{"rId90", "sharedStrings", "sharedStrings.xml", "rId91", "styles", "styles.xml"}
	for i, sheet := range sheets {
		name := fmt.Sprintf("worksheets/sheet%d.xml", i+1)
		rels = append(rels, fmt.Sprintf("rId%d", i+1), "worksheet", name)
		parts = append(parts, "xl/"+name, `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">`+sheet+`</worksheet>`)
	}
	return zipParts(append([]string{
		"_rels/.rels", relations("rId1", "officeDocument", "xl/workbook.xml", "rId2", "core-properties", "docProps/core.xml"),
		"xl/_rels/workbook.xml.rels", relations(rels...),
		"xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">` + book + `</workbook>`,
	}, parts...)...)
}

// sheetNames lists sheets in a workbook, whose ids count from 1. A name that starts
// with a minus is hidden.
func sheetNames(names ...string) string {
	out := "<sheets>"
	for i, name := range names {
		state := ""
		if strings.HasPrefix(name, "-") {
			state = ` state="hidden"`
		}
		out += fmt.Sprintf(`<sheet name="%s" sheetId="%d"%s r:id="rId%d"/>`, strings.TrimPrefix(name, "-"), i+10, state, i+1)
	}
	return out + "</sheets>"
}

// costs has what makes spreadsheets hard: dates that are numbers, formulas, merged
// cells, titles above the header, two tables on a sheet, text far away.
func costs() []byte {
	return xlsx(`<workbookPr/>`+sheetNames("Costs &amp; income", "-Lists", "Empty", "Notes"), []string{
		`<dimension ref="A1:XFD1048576"/><sheetData>
			<row r="1"><c r="B1" t="s"><v>0</v></c></row>
			<row r="2"><c r="B2" t="s"><v>1</v></c><c r="C2" t="s"><v>2</v></c><c r="E2" t="s"><v>3</v></c><c r="F2" t="inlineStr"><is><t>Paid</t></is></c></row>
			<row r="3"><c r="B3" t="s"><v>4</v></c><c r="C3" s="1"><v>45382</v></c><c r="E3" s="2"><v>1234.5</v></c><c r="F3" t="b"><v>1</v></c></row>
			<row r="4"><c r="B4" s="0"/><c r="C4" s="1"><v>45383</v></c><c r="E4" s="2"><f>E3*-1</f><v>-0.30000000000000004</v></c><c r="F4" t="b"><v>0</v></c></row>
			<row r="5"><c r="B5" t="str"><f>"To"&amp;"tal"</f><v>Total</v></c><c r="E5" s="2"><f>SUM(E3:E4)</f><v>1234.2</v></c><c r="F5" s="3"><v>0.125</v></c></row>
			<row r="6"><c r="B6"><f>NOW()</f></c></row>
			<row r="9"><c r="B9" t="inlineStr"><is><r><t>Na</t></r><r><t>me</t></r><rPh><t>reading</t></rPh></is></c><c r="C9" t="inlineStr"><is><t>Hours</t></is></c></row>
			<row r="10"><c r="B10" t="inlineStr"><is><t>Ann</t></is></c><c r="C10" s="4"><v>1.5</v></c></row>
			<row r="1048576"><c r="XFD1048576" t="e"><v>#DIV/0!</v></c></row>
		</sheetData><mergeCells><mergeCell ref="B3:B4"/><mergeCell ref="B1:F1"/></mergeCells>`,
		`<sheetData><row><c t="inlineStr"><is><t>secret list</t></is></c></row></sheetData>`,
		`<sheetData/>`,
		`<sheetData><row><c t="inlineStr"><is><t>A note of&#10;two lines</t></is></c></row><row><c t="inlineStr"><is><t>Another</t></is></c><c><v>7</v></c></row></sheetData>`,
	},
		"xl/sharedStrings.xml", `<sst><si><t>Costs of the mill</t></si><si><t>What</t></si><si><t>When</t></si><si><t xml:space="preserve"> Sum </t></si><si><t>Heat</t></si></sst>`,
		"xl/styles.xml", `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="#,##0.00\ &quot;€&quot;;[Red]-#,##0.00\ &quot;€&quot;"/></numFmts>
			<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="10"/><xf numFmtId="46"/></cellXfs></styleSheet>`,
		"docProps/core.xml", coreProperties("", "Ben", "2023-01-02T03:04:05Z"),
	)
}

// Numbers are shown as their formats have them.
func TestXLSXNumbers(t *testing.T) {
	for _, tc := range []struct{ code, value, want string }{
		{"General", "0.1", "0.1"},
		{"General", "0.30000000000000004", "0.3"},
		{"General", "12345678901234", "12345678901234"},
		{"General", "1E+25", "1E+25"},
		{"0", "2.5", "2"},
		{"0.00", "2.005", "2.00"},
		{"0.0#", "2.5", "2.5"},
		{"#.##", "0.5", ".5"},
		{"#,##0", "1234567.8", "1,234,568"},
		{"#,##0,", "1234567", "1,235"},
		{"0.0,,&quot; M&quot;", "1234567", "1.2 M"},
		{"0%", "0.256", "26%"},
		{"0.0%", "-0.256", "-25.6%"},
		{"0.00E+00", "12345", "1.23E+04"},
		{"[$€-407] #,##0.00", "-5", "-€ 5.00"},
		{"#,##0.00_);(#,##0.00)", "-5", "(5.00)"},
		{"0;-0;&quot;none&quot;", "0", "none"},
		{";;;", "5", ""},
		{"00000", "123", "00123"},
		{"000-00-0000", "123456789", "123-45-6789"},
		{"# ?/?", "0.5", "0.5"},
		{"@", "5", "5"},
		{"dd.mm.yyyy", "45382", "2024-03-31"},
		{"dd\\.mm\\.yyyy;@", "45382", "2024-03-31"},
		{"[$-F800]dddd, mmmm dd, yyyy", "45382", "2024-03-31"},
		{"mmm-yy", "45382", "2024-03"},
		{"yyyy", "45382", "2024"},
		{"m/d/yy h:mm AM/PM", "45382.75", "2024-03-31 18:00"},
		{"h:mm:ss", "0.5", "12:00:00"},
		{"mm:ss", "0.0007", "00:01:00"},
		{"[h]:mm", "1.5", "36:00"},
		{"yyyy-mm-dd", "1", "1900-01-01"},
		{"yyyy-mm-dd", "61", "1900-03-01"},
		{"yyyy-mm-dd", "-3", "-3"},
		{"yyyy-mm-dd", "99999999", "99999999"},
	} {
		data := xlsx(sheetNames("S"), []string{`<sheetData><row><c s="0"><v>` + tc.value + `</v></c><c t="str"><v>end</v></c></row></sheetData>`},
			"xl/styles.xml", `<styleSheet><numFmts><numFmt numFmtId="200" formatCode="`+tc.code+`"/></numFmts><cellXfs><xf numFmtId="200"/></cellXfs></styleSheet>`)
		l, err := parse("a.xlsx", data)
		if err != nil {
			t.Fatal(err)
		}
		want := "S\n\n" + tc.want + " | end"
		if tc.want == "" {
			want = "S\n\nend"
		}
		if l.Document.Text != want {
			t.Errorf("%s in format %q gives %q, want %q", tc.value, tc.code, l.Document.Text, want)
		}
	}
}

func TestXLSXDatesFrom1904(t *testing.T) {
	data := xlsx(`<workbookPr date1904="1"/>`+sheetNames("S"), []string{`<sheetData><row><c s="0"><v>0</v></c></row></sheetData>`},
		"xl/styles.xml", `<styleSheet><cellXfs><xf numFmtId="14"/></cellXfs></styleSheet>`)
	if l, err := parse("a.xlsx", data); err != nil || l.Document.Text != "S\n\n1904-01-01" {
		t.Errorf("%+v, %v", l, err)
	}
}

// A sheet of many rows is read up to the limit, and one above it is skipped; rows
// that are merged, far away or out of order cost nothing.
func TestXLSXHostileSheets(t *testing.T) {
	var rows, merged strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&rows, `<row r="%d"><c r="A%[1]d"><v>%[1]d</v></c><c r="XFD%[1]d"><v>1</v></c></row>`, 2*i+1)
		merged.WriteString(`<mergeCell ref="A1:A1048576"/>`)
	}
	for name, sheet := range map[string]string{
		"many rows":   `<sheetData>` + rows.String() + `</sheetData><mergeCells>` + merged.String() + `</mergeCells>`,
		"rows beyond": `<sheetData><row r="99999999999"><c><v>1</v></c></row><row r="-4"><c r="ZZZZ1"><v>1</v></c></row><row r="2"><c r="A2"><v>1</v></c></row><row r="1"><c r="A1"><v>1</v></c></row></sheetData>`,
		"odd cells":   `<sheetData><row r="1"><c r="B1"><v>1</v></c><c r="A1"><v>2</v></c><c r=""><v>3</v></c><c t="s"><v>99</v></c><c t="s"><v>x</v></c><c><v>1e999</v></c><c><v>NaN</v></c></row></sheetData>`,
		"odd merges":  `<sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData><mergeCells><mergeCell ref=""/><mergeCell ref="A9:A1"/><mergeCell ref=":"/></mergeCells>`,
	} {
		data := xlsx(sheetNames("S"), []string{sheet})
		for l, err := range ingest.Parse(t.Context(), "a.xlsx", data, nil) {
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			checkLoaded(t, data, l)
		}
	}
}

// FuzzXLSX reads workbooks with a sheet of any content and any number format.
func FuzzXLSX(f *testing.F) {
	f.Add(`<sheetData><row r="3"><c r="B3" s="0"><v>45382.5</v></c><c t="s"><v>0</v></c></row></sheetData><mergeCells><mergeCell ref="B3:B4"/></mergeCells>`, "d.m.yy h:mm;[Red]-0.0%;;@")
	f.Add(`<sheetData><row><c t="inlineStr"><is><r><t>a</t></r></is></c><c s="0"><f>A1</f><v>-1234.5</v></c></row></sheetData>`, "000-0,0.0#,,E+0")
	f.Fuzz(func(t *testing.T, sheet, format string) {
		format = strings.NewReplacer(`"`, "&quot;", "<", "&lt;", "&", "&amp;").Replace(format)
		checkParsed(t, "a.xlsx", xlsx(sheetNames("S"), []string{sheet},
			"xl/sharedStrings.xml", `<sst><si><t>text</t></si></sst>`,
			"xl/styles.xml", `<styleSheet><numFmts><numFmt numFmtId="200" formatCode="`+format+`"/></numFmts><cellXfs><xf numFmtId="200"/></cellXfs></styleSheet>`))
	})
}

// What is cut out of a long sheet says in which rows it stands and what its columns
// are called.
func TestXLSXChunksKnowTheirRowsAndColumns(t *testing.T) {
	rows := `<row r="1"><c t="str"><v>What</v></c><c t="str"><v>Sum</v></c></row>`
	for i := range 40 {
		rows += fmt.Sprintf(`<row r="%d"><c t="str"><v>thing</v></c><c><v>%d</v></c></row>`, i+2, i)
	}
	l, err := parse("a.xlsx", xlsx(sheetNames("Costs"), []string{"<sheetData>" + rows + "</sheetData>"}))
	if err != nil {
		t.Fatal(err)
	}
	c, err := chunker.New(chunker.WordTokenizer{}, chunker.Options{MaxTokens: 40})
	if err != nil {
		t.Fatal(err)
	}
	doc := l.Document
	chunks, err := c.Split(doc)
	if err != nil {
		t.Fatal(err)
	}
	last := chunks[len(chunks)-1]
	if got := last.Header.Of(doc.Text); len(chunks) < 3 || got != "What | Sum\n" || last.Headings[0] != "Costs" {
		t.Errorf("%d chunks, header %q, headings %q", len(chunks), got, last.Headings)
	}
	if got := doc.Place(last.Range).String(); !strings.HasPrefix(got, "Costs, rows ") || !strings.HasSuffix(got, "-41") {
		t.Errorf("place %q", got)
	}
}
