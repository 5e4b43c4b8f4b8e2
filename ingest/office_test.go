package ingest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/ingest"
)

// What is hostile or broken gives a Skip that says so.
func TestOfficeSkips(t *testing.T) {
	deep := strings.Repeat("<w:sdt>", 200_000)
	bomb := `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><w:document><w:body><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:body></w:document>`
	for name, tc := range map[string]struct {
		file string
		data []byte
		want ingest.Reason
	}{
		"no archive":                  {"a.docx", []byte("plain words"), ingest.Damaged},
		"cut short":                   {"a.docx", contract()[:2000], ingest.Damaged},
		"encrypted":                   {"a.docx", []byte("\xd0\xcf\x11\xe0 ... E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00"), ingest.Encrypted},
		"old with new name":           {"a.docx", []byte("\xd0\xcf\x11\xe0 WordDocument"), ingest.Unsupported},
		"old":                         {"a.doc", []byte("\xd0\xcf\x11\xe0 WordDocument"), ingest.Unsupported},
		"no main part":                {"a.docx", zipParts("other.txt", "x"), ingest.Damaged},
		"names that lead out":         {"a.docx", zipParts("../../etc/passwd", "x", "/word/../../x", "x"), ingest.Damaged},
		"entities":                    {"a.docx", zipParts("word/document.xml", bomb), ingest.Damaged},
		"nested":                      {"a.docx", zipParts("word/document.xml", "<w:document><w:body>"+deep), ingest.Damaged},
		"not XML":                     {"a.docx", zipParts("word/document.xml", "<w:document><w:body><w:p><w:r><w:t>a & b"), ingest.Damaged},
		"text cut short":              {"a.docx", zipParts("word/document.xml", "<w:document><w:body><w:p><w:r><w:t>a</w:t>"), ingest.Damaged},
		"workbook without a workbook": {"a.xlsx", zipParts("other.txt", "x"), ingest.Damaged},
		"sheet that is missing":       {"a.xlsx", zipParts("xl/workbook.xml", `<workbook>`+sheetNames("S")+`</workbook>`), ingest.Damaged},
		"only hidden sheets":          {"a.xlsx", xlsx(sheetNames("-S"), []string{"<sheetData><row><c><v>1</v></c></row></sheetData>"}), ingest.Hidden},
		"text named often": {"a.xlsx", xlsx(sheetNames("S"), []string{"<sheetData>" + strings.Repeat(`<row><c t="s"><v>0</v></c></row>`, 3000) + "</sheetData>"},
			"xl/sharedStrings.xml", "<sst><si><t>"+strings.Repeat("x", 1000)+"</t></si></sst>"), ingest.TooLarge},
		"many texts":                 {"a.xlsx", xlsx(sheetNames("S"), []string{"<sheetData/>"}, "xl/sharedStrings.xml", "<sst>"+strings.Repeat("<si/>", 200_000)+"</sst>"), ingest.TooLarge},
		"wide rows":                  {"a.xlsx", xlsx(sheetNames("S"), []string{"<sheetData>" + diagonal(2000) + "</sheetData>"}), ingest.TooLarge},
		"presentation without any":   {"a.pptx", zipParts("other.txt", "x"), ingest.Damaged},
		"slide that is missing":      {"a.pptx", zipParts("ppt/presentation.xml", `<p:presentation><p:sldIdLst><p:sldId id="1" r:id="rId1"/></p:sldIdLst></p:presentation>`), ingest.Damaged},
		"only pictures":              {"a.pptx", pptx([]string{`<p:pic/>`}), ingest.NoText},
		"much text on a slide":       {"a.pptx", pptx([]string{box("", strings.Repeat("x", 3_000_000))}), ingest.TooLarge},
		"book without a package":     {"a.epub", zipParts("mimetype", "application/epub+zip"), ingest.Damaged},
		"book without its package":   {"a.epub", zipParts("META-INF/container.xml", `<container><rootfiles><rootfile full-path="../x.opf"/></rootfiles></container>`), ingest.Damaged},
		"book without chapters":      {"a.epub", epub("", "", ">"), ingest.Blank},
		"chapter that is missing":    {"a.epub", epub("", oneChapter, `><itemref idref="c"/>`), ingest.Damaged},
		"spreadsheet with many rows": {"a.ods", opendocument("", `<office:spreadsheet><table:table><table:table-row table:number-rows-repeated="1048576"><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>`), ingest.TooLarge},
		"text without content":       {"a.odt", zipParts("mimetype", "x"), ingest.Damaged},
		"no text":                    {"a.docx", docx("<w:p/>"), ingest.Blank},
		"much text":                  {"a.docx", docx(strings.Repeat(para("", strings.Repeat("x", 1000)), 3000)), ingest.TooLarge},
		"one text":                   {"a.docx", docx(para("", strings.Repeat("x", 3_000_000))), ingest.TooLarge},
		"zip bomb":                   {"a.docx", docx("<w:p/>", "word/styles.xml", "<w:styles>"+strings.Repeat("<w:style/>", 1_000_000)), ingest.TooLarge},
	} {
		opts := &ingest.ReadOptions{MaxBytes: 2 << 20, MaxUnpacked: 8 << 20}
		_, err := one(ingest.Parse(t.Context(), tc.file, tc.data, opts))
		var skip *ingest.Skip
		if !errors.As(err, &skip) || skip.Reason != tc.want {
			t.Errorf("%s: %v; want a skip of it as %q", name, err, tc.want)
		}
	}
}

// diagonal is rows each of which has a cell in the first column and one in a column of
// its own.
func diagonal(n int) string {
	var out strings.Builder
	column := func(i int) string {
		name := ""
		for i++; i > 0; i = (i - 1) / 26 {
			name = string(rune('A'+(i-1)%26)) + name
		}
		return name
	}
	for i := range n {
		fmt.Fprintf(&out, `<row r="%d"><c r="A%[1]d"><v>1</v></c><c r="%s%[1]d"><v>1</v></c></row>`, i+1, column(i+1))
	}
	return out.String()
}

// A relation that leads back to where it comes from is no reason to go in circles.
func TestOfficeRelationsInACircle(t *testing.T) {
	data := zipParts(
		"_rels/.rels", relations("rId1", "officeDocument", "word/document.xml"),
		"word/_rels/document.xml.rels", relations("rId1", "styles", "document.xml", "rId2", "footnotes", "document.xml", "rId3", "numbering", "document.xml"),
		"word/document.xml", "<w:document><w:body>"+para("", "text")+"</w:body></w:document>",
	)
	l, err := parse("a.docx", data)
	if err != nil || l.Document.Text != "text" {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestOfficeStopsInTime(t *testing.T) {
	data := docx(strings.Repeat(para("", "x"), 200_000))
	_, err := one(ingest.Parse(t.Context(), "a.docx", data, &ingest.ReadOptions{MaxTime: time.Nanosecond}))
	var skip *ingest.Skip
	if !errors.As(err, &skip) || skip.Reason != ingest.TooSlow {
		t.Errorf("%v, want a skip of it as too slow", err)
	}
}

// Text in UTF-16, with a part's name in other letters, is read.
func TestOfficeOfOtherPrograms(t *testing.T) {
	text := "<?xml version=\"1.0\" encoding=\"UTF-16\"?><w:document><w:body>" + para("", "text é") + "</w:body></w:document>"
	wide := "\xff\xfe"
	for _, r := range text {
		wide += string([]byte{byte(r), byte(r >> 8)})
	}
	for _, name := range []string{"a.docx", "A.DOCX"} {
		l, err := parse(name, zipParts(`Word\Document.XML`, wide))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if l.Document.Text != "text é" || l.Format != "docx" || l.Document.Place(chunker.Range{End: 4}).String() != "paragraph 1" {
			t.Errorf("%s: %s %+v", name, l.Format, l.Document)
		}
	}
}

// A format is known by the parts of a file, whatever its name.
func TestOfficeFormatsByContent(t *testing.T) {
	for want, data := range map[string][]byte{
		"docx": letter(), "xlsx": costs(), "pptx": talk(), "epub": tale(), "pdf": minutes(), "odt": report(), "ods": ledger(), "odp": lecture(),
	} {
		l, err := parse("upload", data)
		if err != nil || l.Format != want {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestRealTitles(t *testing.T) {
	for _, title := range []string{"Microsoft Word - lease.doc", "Untitled-1", "Document1", "PowerPoint Presentation", " ", "--", "report_final v2.docx"} {
		l, err := parse("file.docx", docx(para("", "text"), "docProps/core.xml", coreProperties(title, "", "")))
		if err != nil || l.Document.Title != "file.docx" {
			t.Errorf("%q: title %q, %v; want the file's name", title, l.Document.Title, err)
		}
	}
	for _, title := range []string{"Untitled Goose Game", "報告書", "Title IX", "Node.js in depth"} {
		l, err := parse("file.docx", docx(para("", "text"), "docProps/core.xml", coreProperties(title, "", "")))
		if err != nil || l.Document.Title != title {
			t.Errorf("%q: title %q, %v", title, l.Document.Title, err)
		}
	}
}
