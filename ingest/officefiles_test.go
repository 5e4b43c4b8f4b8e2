package ingest_test

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOfficeFiles writes the binary files of testdata, all of which are made here,
// when it is run with -update; TestGolden reads them.
func TestOfficeFiles(t *testing.T) {
	if !*update {
		t.Skip("only to rewrite testdata")
	}
	for name, data := range map[string][]byte{
		"contract.docx":  contract(),
		"letter.docx":    letter(),
		"costs.xlsx":     costs(),
		"talk.pptx":      talk(),
		"tale.epub":      tale(),
		"report.odt":     report(),
		"ledger.ods":     ledger(),
		"lecture.odp":    lecture(),
		"minutes.pdf":    minutes(),
		"owner-only.pdf": encryptedPDF(ownerOnly, "", content(lines(72, 700, 10, "Nobody may print this.")...)),
	} {
		if err := os.WriteFile(filepath.Join("testdata", name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// zipParts is a ZIP archive of files, given as name and content in turn. White space
// between the elements of a part is taken out, as office programs write none.
func zipParts(files ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		method := uint16(zip.Deflate)
		if files[i] == "mimetype" { // it is to be read without unpacking
			method = zip.Store
		}
		f, err := z.CreateHeader(&zip.FileHeader{Name: files[i], Method: method})
		if err != nil {
			panic(err)
		}
		lines := strings.Split(files[i+1], "\n")
		for i := range lines {
			lines[i] = strings.TrimLeft(lines[i], "\t")
		}
		if _, err := f.Write([]byte(strings.Join(lines, ""))); err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// relations is a part that relates another to targets, given as id, kind and target
// in turn.
func relations(list ...string) string {
	out := `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	for i := 0; i < len(list); i += 3 {
		mode := ""
		if strings.Contains(list[i+2], "://") {
			mode = ` TargetMode="External"`
		}
		out += `<Relationship Id="` + list[i] + `" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/` + list[i+1] + `" Target="` + list[i+2] + `"` + mode + `/>`
	}
	return out + `</Relationships>`
}

func coreProperties(title, author, modified string) string {
	return `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">
		<dc:title>` + title + `</dc:title><dc:creator>` + author + `</dc:creator><dcterms:modified>` + modified + `</dcterms:modified></cp:coreProperties>`
}

// BenchmarkOffice reads a long text and a long sheet; the bytes are those of the XML.
func BenchmarkOffice(b *testing.B) {
	text := strings.Repeat(para("Standard", "The council met on Monday in the old town hall and spoke about the road."), 10_000)
	sheet := "<sheetData>" + strings.Repeat(`<row><c t="inlineStr"><is><t>Heat</t></is></c><c s="0"><v>45382</v></c><c><v>1234.5</v></c><c><v>7</v></c></row>`, 20_000) + "</sheetData>"
	for name, file := range map[string]struct {
		size int
		data []byte
	}{
		"a.docx": {len(text), docx(text, "word/styles.xml", wordStyles)},
		"a.xlsx": {len(sheet), xlsx(sheetNames("S"), []string{sheet})},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(file.size))
			for b.Loop() {
				if _, err := parse(name, file.data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
