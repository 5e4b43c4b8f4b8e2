package ingest_test

import "testing"

const wordNames = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" ` +
	`xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" ` +
	`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"`

// docx is a Word document with a body and other parts, given as name and content in
// turn.
func docx(body string, parts ...string) []byte {
	files := []string{
		"_rels/.rels", relations("rId1", "officeDocument", "word/document.xml", "rId2", "core-properties", "docProps/core.xml", "rId3", "extended-properties", "docProps/app.xml"),
		"word/_rels/document.xml.rels", relations("rId1", "styles", "styles.xml", "rId2", "numbering", "numbering.xml", "rId3", "footnotes", "footnotes.xml",
			"rId4", "endnotes", "/word/endnotes.xml", "rId5", "comments", "comments.xml", "rId6", "hyperlink", "https://example.org/x"),
		"word/document.xml", `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:document ` + wordNames + `><w:body>` + body + `<w:sectPr><w:headerReference r:id="rId9"/></w:sectPr></w:body></w:document>`,
	}
	return zipParts(append(files, parts...)...)
}

func para(style, text string) string {
	return `<w:p><w:pPr><w:pStyle w:val="` + style + `"/></w:pPr><w:r><w:t xml:space="preserve">` + text + `</w:t></w:r></w:p>`
}

func item(list, level, text string) string {
	return `<w:p><w:pPr><w:numPr><w:ilvl w:val="` + level + `"/><w:numId w:val="` + list + `"/></w:numPr></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
}

func cell(properties, text string) string {
	return `<w:tc><w:tcPr>` + properties + `</w:tcPr><w:p><w:r><w:t>` + text + `</w:t></w:r></w:p></w:tc>`
}

const wordStyles = `<w:styles ` + wordNames + `>
	<w:style w:type="paragraph" w:default="1" w:styleId="Standard"><w:name w:val="Normal"/></w:style>
	<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
	<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
	<w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="3"/></w:numPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
	<w:style w:type="paragraph" w:customStyle="1" w:styleId="Klausel"><w:name w:val="Klausel"/><w:basedOn w:val="berschrift2"/></w:style>
	<w:style w:type="paragraph" w:styleId="Verzeichnis1"><w:name w:val="toc 1"/></w:style>
	<w:style w:type="paragraph" w:styleId="Kreis1"><w:name w:val="a"/><w:basedOn w:val="Kreis2"/></w:style>
	<w:style w:type="paragraph" w:styleId="Kreis2"><w:name w:val="b"/><w:basedOn w:val="Kreis1"/></w:style>
	<w:style w:type="character" w:styleId="Hyperlink"><w:name w:val="Hyperlink"/></w:style>
</w:styles>`

const wordNumbering = `<w:numbering ` + wordNames + `>
	<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="bullet"/><w:lvlText w:val="&#xF0B7;"/></w:lvl>
		<w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl></w:abstractNum>
	<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
		<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="(%2)"/></w:lvl></w:abstractNum>
	<w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1"/></w:lvl>
		<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl></w:abstractNum>
	<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
	<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
	<w:num w:numId="3"><w:abstractNumId w:val="2"/></w:num>
	<w:num w:numId="4"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>
</w:numbering>`

// contract has what makes Word documents hard: styles in German, numbers that stand
// in no text, changes, notes, boxes, fields, merged cells.
func contract() []byte {
	body := para("Titel", "Lease of the Old Mill") +
		para("Verzeichnis1", "I Parties 2") +
		para("berschrift1", "Parties") +
		`<w:p><w:r><w:t xml:space="preserve">The owner, </w:t></w:r>
			<w:del w:id="1" w:author="B"><w:r><w:delText>Mr Old</w:delText></w:r></w:del>
			<w:ins w:id="2" w:author="B"><w:r><w:t>Ms New</w:t></w:r></w:ins>
			<w:r><w:t xml:space="preserve">, and the </w:t></w:r><w:hyperlink r:id="rId6"><w:r><w:rPr><w:rStyle w:val="Hyperlink"/></w:rPr><w:t>tenant</w:t></w:r></w:hyperlink>
			<w:r><w:t>.</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:endnoteReference w:id="2"/></w:r>
			<w:commentRangeStart w:id="0"/><w:r><w:commentReference w:id="0"/></w:r></w:p>` +
		para("Klausel", "Rent") +
		`<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> IF </w:instrText></w:r>
			<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> MERGEFIELD sum </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>not shown</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>
			<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t xml:space="preserve">The rent is 1,200 €</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>
			<w:r><w:t xml:space="preserve"> a month, from </w:t></w:r><w:fldSimple w:instr=" DATE "><w:r><w:t>1 May 2024</w:t></w:r></w:fldSimple>
			<w:r><w:rPr><w:vanish/></w:rPr><w:t> (secret)</w:t></w:r><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t> on.</w:t></w:r>
			<w:r><w:br/><w:t>Pay</w:t><w:noBreakHyphen/><w:t>ments are due month</w:t><w:softHyphen/><w:t>ly.</w:t><w:sym w:font="Wingdings" w:char="F04A"/></w:r></w:p>` +
		item("1", "0", "keys") + item("1", "1", "of the gate") + item("2", "0", "First") + item("2", "1", "a part") + item("2", "1", "another") + item("2", "0", "Second") +
		`<w:p/>` + item("4", "0", "Begins at five") +
		`<w:p><w:pPr><w:rPr><w:del w:id="3"/></w:rPr></w:pPr><w:r><w:t xml:space="preserve">Two paragraphs </w:t></w:r></w:p><w:p><w:r><w:t>made one.</w:t></w:r></w:p>` +
		`<w:p><w:r><w:lastRenderedPageBreak/><w:t>A box stands here.</w:t></w:r><w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:docPr id="1" name="Box"/>
			<wps:txbx><w:txbxContent>` + para("Standard", "In the box.") + para("Standard", "Its second line.") + `</w:txbxContent></wps:txbx></w:drawing></mc:Choice>
			<mc:Fallback><w:pict><w:txbxContent>` + para("Standard", "In the box.") + `</w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent></w:r>
			<w:r><w:drawing><wp:docPr id="2" name="Picture 2" descr="the mill
 seen from the river"/></w:drawing></w:r></w:p>` +
		para("berschrift1", "Costs") +
		`<w:tbl><w:tblPr><w:tblLook w:val="04A0"/></w:tblPr>
			<w:tr>` + cell("", "What") + cell("", "Year") + cell("", "€") + `</w:tr>
			<w:tr>` + cell(`<w:vMerge w:val="restart"/>`, "Heat") + cell("", "2023") + cell("", "300") + `</w:tr>
			<w:tr>` + cell(`<w:vMerge/>`, "") + cell("", "2024") + `<w:tc><w:p><w:r><w:t>310</w:t></w:r></w:p><w:p><w:r><w:t>(estimate)</w:t></w:r></w:p></w:tc></w:tr>
			<w:tr><w:trPr><w:del w:id="4"/></w:trPr>` + cell("", "Gone") + cell("", "2024") + cell("", "1") + `</w:tr>
			<w:tr>` + cell(`<w:gridSpan w:val="2"/>`, "Sum") + cell("", "610") + `</w:tr></w:tbl>` +
		`<w:tbl><w:tr>` + cell("", "A frame around a sentence.") + `</w:tr></w:tbl>` +
		`<w:p><w:r><w:t xml:space="preserve">Area: </w:t></w:r><m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath></w:p>` +
		para("Kreis1", "A style based on itself.") +
		para("berschrift2", "Last")
	note := func(name, id, kind, text string) string {
		return `<w:` + name + ` ` + kind + ` w:id="` + id + `"><w:p><w:r><w:` + name + `Ref/></w:r><w:r><w:t xml:space="preserve"> ` + text + `</w:t></w:r></w:p></w:` + name + `>`
	}
	return docx(body,
		"word/styles.xml", wordStyles, "word/numbering.xml", wordNumbering,
		"word/footnotes.xml", `<w:footnotes `+wordNames+`>`+note("footnote", "0", `w:type="separator"`, "")+note("footnote", "2", "", "Born in 1970.")+`</w:footnotes>`,
		"word/endnotes.xml", `<w:endnotes `+wordNames+`>`+note("endnote", "2", "", "See the register.")+`</w:endnotes>`,
		"word/comments.xml", `<w:comments `+wordNames+`><w:comment w:id="0"><w:p><w:r><w:t>is that right?</w:t></w:r></w:p></w:comment></w:comments>`,
		"docProps/core.xml", coreProperties("Microsoft Word - lease.doc", "Ann &amp; Ben", "2024-03-01T10:00:00+01:00"),
		"docProps/app.xml", `<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties"><Pages>2</Pages></Properties>`,
	)
}

// letter has no part but the text, as a script might write it.
func letter() []byte {
	return docx(`<w:p><w:r><w:t>Dear reader,</w:t></w:r></w:p><w:p><w:r><w:t>this is all.</w:t></w:r></w:p>`)
}

// FuzzDocx reads Word documents of any text, with styles, lists and notes.
func FuzzDocx(f *testing.F) {
	f.Add(para("berschrift1", "a") + item("2", "1", "b") + `<w:p><w:r><w:footnoteReference w:id="2"/><w:fldChar w:fldCharType="begin"/></w:r></w:p>`)
	f.Add(`<w:tbl><w:tr>` + cell(`<w:gridSpan w:val="3"/>`, "a") + `</w:tr><w:tr>` + cell(`<w:vMerge/>`, "") + cell("", "b") + `</w:tr></w:tbl>`)
	f.Add(`<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t>a</w:t><w:txbxContent><w:p><w:r><w:t>b</w:t></w:r></w:p></w:txbxContent></w:r></w:p>`)
	f.Fuzz(func(t *testing.T, body string) {
		checkParsed(t, "a.docx", docx(body, "word/styles.xml", wordStyles, "word/numbering.xml", wordNumbering,
			"word/footnotes.xml", `<w:footnotes><w:footnote w:id="2">`+body+`</w:footnote></w:footnotes>`))
	})
}
