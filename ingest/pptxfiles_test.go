package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

const slideNames = `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" ` +
	`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"`

// pptx is a presentation of slides with the XML of their shapes, in order; a slide
// that starts with a minus is hidden. The files of the slides are numbered the other
// way round.
func pptx(slides []string, parts ...string) []byte {
	var rels []string
	list := ""
	for i, s := range slides {
		name := fmt.Sprintf("slides/slide%d.xml", len(slides)-i)
		rels = append(rels, fmt.Sprintf("rId%d", i+1), "slide", name)
		list += fmt.Sprintf(`<p:sldId id="%d" r:id="rId%d"/>`, 256+i, i+1)
		show := ""
		if strings.HasPrefix(s, "-") {
			s, show = s[1:], ` show="0"`
		}
		parts = append(parts, "ppt/"+name, `<p:sld `+slideNames+show+`><p:cSld><p:spTree>`+s+`</p:spTree></p:cSld></p:sld>`)
	}
	return zipParts(append([]string{
		"_rels/.rels", relations("rId1", "officeDocument", "ppt/presentation.xml", "rId2", "core-properties", "docProps/core.xml"),
		"ppt/_rels/presentation.xml.rels", relations(rels...),
		"ppt/presentation.xml", `<p:presentation ` + slideNames + `><p:sldIdLst>` + list + `</p:sldIdLst></p:presentation>`,
	}, parts...)...)
}

// box is a shape for a kind of text; without a kind it is a text box.
func box(kind string, paragraphs ...string) string {
	placeholder := ""
	if kind != "" {
		placeholder = `<p:ph type="` + kind + `"/>`
	}
	out := `<p:sp><p:nvSpPr><p:cNvPr id="1" name="Shape"/><p:nvPr>` + placeholder + `</p:nvPr></p:nvSpPr><p:txBody>`
	for _, p := range paragraphs {
		if !strings.HasPrefix(p, "<") {
			p = "<a:r><a:t>" + p + "</a:t></a:r>"
		}
		out += "<a:p>" + p + "</a:p>"
	}
	return out + `</p:txBody></p:sp>`
}

func styled(properties, text string) string {
	return `<a:pPr` + properties + `</a:pPr><a:r><a:t>` + text + `</a:t></a:r>`
}

// talk has what makes presentations hard: titles in the middle, lists without marks,
// notes, tables with merged cells, a diagram, hidden slides and those of pictures.
func talk() []byte {
	tc := func(attributes, text string) string {
		return `<a:tc` + attributes + `><a:txBody><a:p><a:r><a:t>` + text + `</a:t></a:r></a:p></a:txBody></a:tc>`
	}
	picture := func(text string) string {
		return `<p:pic><p:nvPicPr><p:cNvPr id="4" name="Picture 3" descr="` + text + `"/></p:nvPicPr></p:pic>`
	}
	return pptx([]string{
		box("subTitle", "A talk by Ann") + box("ctrTitle", `<a:r><a:t>The</a:t></a:r><a:br/><a:r><a:t>mill</a:t></a:r>`) + box("ftr", "Secret footer") + box("sldNum", `<a:fld type="slidenum"><a:t>1</a:t></a:fld>`),
		box("title", `<a:r><a:t>Why it </a:t></a:r><a:r><a:t>turns</a:t></a:r>`) +
			box("body", "Water", styled(` lvl="1">`, "from the river"), styled(` lvl="1">`, "from rain"), styled("><a:buNone/>", "No bullet here"),
				styled(`><a:buAutoNum type="arabicPeriod"/>`, "first"), styled(`><a:buAutoNum type="arabicPeriod"/>`, "second"), styled(` lvl="1"><a:buAutoNum type="alphaLcParenR" startAt="3"/>`, "deeper")) +
			`<p:grpSp>` + box("", "In a group") + `</p:grpSp>`,
		"-" + box("title", "Hidden") + box("body", "secret"),
		box("", "No title here") + `<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tblPr firstRow="1"/>
			<a:tr>` + tc("", "What") + tc("", "Year") + tc("", "Sum") + `</a:tr>
			<a:tr>` + tc(` rowSpan="2"`, "Heat") + tc("", "2023") + tc("", "300") + `</a:tr>
			<a:tr>` + tc(` vMerge="1"`, "") + tc(` gridSpan="2"`, "none") + tc(` hMerge="1"`, "") + `</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>
			<p:graphicFrame><a:graphic><a:graphicData><dgm:relIds r:dm="rId7"/></a:graphicData></a:graphic></p:graphicFrame>` + picture("the wheel"),
		picture(""),
		``,
	},
		"ppt/slides/_rels/slide5.xml.rels", relations("rId1", "notesSlide", "../notesSlides/notesSlide1.xml"),
		"ppt/notesSlides/notesSlide1.xml", `<p:notes `+slideNames+`><p:cSld><p:spTree>`+box("sldImg")+box("body", "Say it slowly.", "Then wait.")+box("sldNum", "2")+`</p:spTree></p:cSld></p:notes>`,
		"ppt/slides/_rels/slide3.xml.rels", relations("rId7", "diagramData", "../diagrams/data1.xml"),
		"ppt/diagrams/data1.xml", `<dgm:dataModel `+slideNames+`><dgm:ptLst><dgm:pt type="doc"/><dgm:pt><dgm:t><a:p><a:r><a:t>Grain</a:t></a:r></a:p></dgm:t></dgm:pt>
			<dgm:pt><dgm:t><a:p><a:r><a:t>Flour</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt type="pres"><dgm:t><a:p><a:r><a:t>Flour</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>`,
		"docProps/core.xml", coreProperties("PowerPoint Presentation", "Ann", "2024-05-06T07:08:09Z"),
	)
}

// FuzzPPTX reads presentations with a slide of any shapes, which are those of its
// notes too.
func FuzzPPTX(f *testing.F) {
	f.Add(box("title", "a") + box("body", "b", styled(` lvl="9"><a:buAutoNum type="romanUcParenBoth" startAt="4000"/>`, "c")))
	f.Add(`<a:tbl><a:tblPr firstRow="1"/><a:tr><a:tc><a:txBody><a:p><a:r><a:t>a</a:t></a:r></a:p></a:txBody></a:tc><a:tc vMerge="1"/></a:tr><a:tr><a:tc vMerge="1"/></a:tr></a:tbl>`)
	f.Fuzz(func(t *testing.T, shapes string) {
		checkParsed(t, "a.pptx", pptx([]string{shapes, shapes},
			"ppt/slides/_rels/slide1.xml.rels", relations("rId1", "notesSlide", "slide1.xml", "rId2", "diagramData", "slide1.xml")))
	})
}
