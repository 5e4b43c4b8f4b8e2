package ingest_test

import (
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/ingest"
)

// opendocument is a file with styles of its own and a body, and other parts, given as name and
// content in turn.
func opendocument(styles, body string, parts ...string) []byte {
	const names = `xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"`
	kind, _, _ := strings.Cut(strings.TrimPrefix(body, "<office:"), ">")
	return zipParts(append([]string{
		"mimetype", "application/vnd.oasis.opendocument." + kind,
		"content.xml", `<?xml version="1.0"?><office:document-content ` + names + `><office:automatic-styles>` + styles + `</office:automatic-styles><office:body>` + body + `</office:body></office:document-content>`,
	}, parts...)...)
}

const odfMeta = `<office:document-meta><office:meta><dc:title>Ein Bericht</dc:title><meta:initial-creator>Ann</meta:initial-creator><dc:creator>Ben</dc:creator><dc:date>2024-03-01T10:00:00.123456789</dc:date></office:meta></office:document-meta>`

// report has what makes texts hard: changes, notes, lists in lists, boxes, spaces that
// are elements, merged cells.
func report() []byte {
	return opendocument(`<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/>
			<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/><text:list-level-style-bullet text:level="2"/></text:list-style>`,
		`<office:text><text:tracked-changes><text:changed-region><text:deletion><text:p>deleted words</text:p></text:deletion></text:changed-region></text:tracked-changes>
			<text:p text:style-name="P1">Report</text:p>
			<text:table-of-content><text:index-body><text:p>Chapter 1</text:p></text:index-body></text:table-of-content>
			<text:h text:outline-level="1">Chapter</text:h>
			<text:section><text:p>One<text:s text:c="2"/>two<text:tab/>three<text:line-break/>four <text:span>five</text:span><text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body><text:p>A note.</text:p></text:note-body></text:note>.<office:annotation><text:p>comment</text:p></office:annotation></text:p></text:section>
			<text:list text:style-name="L1"><text:list-item><text:p>first</text:p><text:list><text:list-item><text:p>inner</text:p></text:list-item></text:list></text:list-item><text:list-item><text:p>second</text:p><text:p>more of it</text:p></text:list-item></text:list>
			<text:p>See <draw:frame><draw:text-box><text:p>In a box.</text:p></draw:text-box></draw:frame><draw:frame><draw:image/><svg:desc>the mill</svg:desc></draw:frame></text:p>
			<table:table><table:table-column/><table:table-header-rows><table:table-row><table:table-cell><text:p>What</text:p></table:table-cell><table:table-cell><text:p>Year</text:p></table:table-cell></table:table-row></table:table-header-rows>
			<table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>Heat</text:p></table:table-cell><table:table-cell><text:p>2023</text:p></table:table-cell></table:table-row>
			<table:table-row><table:covered-table-cell/><table:table-cell><text:p>2024</text:p></table:table-cell></table:table-row></table:table></office:text>`,
		"meta.xml", odfMeta)
}

func ledger() []byte {
	return opendocument(`<style:style style:name="ta2"><style:table-properties table:display="false"/></style:style>`,
		`<office:spreadsheet><table:table table:name="Ledger"><table:table-column table:number-columns-repeated="16384"/>
			<table:table-row><table:table-cell/><table:table-cell office:value-type="string"><text:p>What</text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>When</text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>Sum</text:p></table:table-cell><table:table-cell table:number-columns-repeated="16380"/></table:table-row>
			<table:table-row table:number-rows-repeated="2"><table:table-cell/><table:table-cell office:value-type="string" table:number-rows-spanned="3"><text:p>Heat</text:p></table:table-cell>
				<table:table-cell office:value-type="date" office:date-value="2024-03-31"><text:p>31.03.24</text:p></table:table-cell><table:table-cell office:value-type="currency" office:value="5"><text:p>5,00 €</text:p></table:table-cell></table:table-row>
			<table:table-row><table:table-cell/><table:covered-table-cell/><table:table-cell office:value-type="date" office:date-value="2024-04-01T12:30:00"><text:p>1.4.</text:p></table:table-cell></table:table-row>
			<table:table-row table:number-rows-repeated="1048570"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>
			</table:table><table:table table:name="Secret" table:style-name="ta2"><table:table-row><table:table-cell><text:p>hidden</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>`,
		"meta.xml", odfMeta)
}

func lecture() []byte {
	frame := func(class, content string) string {
		return `<draw:frame presentation:class="` + class + `"><draw:text-box>` + content + `</draw:text-box></draw:frame>`
	}
	return opendocument(`<style:style style:name="dp2"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>`,
		`<office:presentation><draw:page>`+frame("outline", `<text:list><text:list-item><text:p>Water</text:p><text:list><text:list-item><text:p>from the river</text:p></text:list-item></text:list></text:list-item></text:list>`)+
			frame("title", `<text:p>The mill</text:p>`)+frame("footer", `<text:p>footer</text:p>`)+`<draw:g><draw:custom-shape><text:p>In a group</text:p></draw:custom-shape></draw:g>
			<presentation:notes>`+frame("notes", `<text:p>Say it slowly.</text:p>`)+`</presentation:notes></draw:page>
			<draw:page draw:style-name="dp2">`+frame("title", `<text:p>Hidden</text:p>`)+`</draw:page>
			<draw:page><draw:frame><draw:image/></draw:frame></draw:page></office:presentation>`)
}

func TestODFEncrypted(t *testing.T) {
	data := zipParts("content.xml", "\x13\x37", "META-INF/manifest.xml",
		`<manifest:manifest><manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry></manifest:manifest>`)
	if _, left := skips(t, "a.odt", data, nil); len(left) != 1 || left[0].Reason != ingest.Encrypted {
		t.Errorf("%v, want a skip of it as encrypted", left)
	}
}

// FuzzODF reads texts, spreadsheets and presentations of anything.
func FuzzODF(f *testing.F) {
	f.Add(`<office:text><text:list><text:list-item><text:p>a<text:note><text:note-body><text:p>b</text:p></text:note-body></text:note></text:p></text:list-item></text:list></office:text>`)
	f.Add(`<office:spreadsheet><table:table><table:table-row table:number-rows-repeated="9"><table:table-cell table:number-columns-repeated="3" table:number-rows-spanned="2"><text:p>a</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>`)
	f.Add(`<office:presentation><draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>a</text:p></draw:text-box></draw:frame></draw:page></office:presentation>`)
	f.Fuzz(func(t *testing.T, body string) { checkParsed(t, "a.odt", opendocument("", body)) })
}
