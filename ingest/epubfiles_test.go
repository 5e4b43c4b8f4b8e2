package ingest_test

import (
	"testing"

	"github.com/waymark-rag/waymark/ingest"
)

// epub is a book with a package of its metadata, manifest and spine, and other parts,
// given as name and content in turn.
func epub(metadata, manifest, spine string, parts ...string) []byte {
	return zipParts(append([]string{
		"mimetype", "application/epub+zip",
		"META-INF/container.xml", `<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`,
		"OEBPS/book.opf", `<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>` + metadata + `</metadata>
			<manifest>` + manifest + `</manifest><spine` + spine + `</spine></package>`,
	}, parts...)...)
}

func chapter(body string) string {
	return `<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title>The whole book</title></head><body>` + body + `</body></html>`
}

// tale has what makes books hard: parts in another order than the spine, names with
// spaces, chapters without headings or in two files, a cover, hyphens for the eye.
func tale() []byte {
	return epub(`<dc:title>A Tale of a Mill</dc:title><dc:title>Second title</dc:title><dc:creator>Ann Old</dc:creator><dc:creator>Ben New</dc:creator>
			<dc:language>en-GB</dc:language><meta property="dcterms:modified">2024-02-03T04:05:06Z</meta>`,
		`<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/><item id="cover" href="cover.xhtml" media-type="application/xhtml+xml"/>
			<item id="c2" href="text/chapter%202.xhtml" media-type="application/xhtml+xml"/><item id="c1" href="text/one.xhtml" media-type="application/xhtml+xml"/>
			<item id="c2b" href="text/two-b.xhtml" media-type="application/xhtml+xml"/><item id="art" href="art.png" media-type="image/png"/>
			<item id="gone" href="gone.xhtml" media-type="application/xhtml+xml"/>`,
		`><itemref idref="cover"/><itemref idref="nav"/><itemref idref="c1"/><itemref idref="c2"/><itemref idref="c2b"/><itemref idref="c1"/><itemref idref="art" linear="no"/><itemref idref="gone"/><itemref idref="unknown"/>`,
		"OEBPS/cover.xhtml", chapter(`<img src="art.png"/>`),
		"OEBPS/nav.xhtml", chapter(`<nav epub:type="page-list"><ol><li><a href="text/two-b.xhtml">12</a></li></ol></nav>
			<nav epub:type="toc"><ol><li><a href="text/one.xhtml">First&nbsp;<i>chapter</i></a></li><li><a href="text/chapter%202.xhtml#top">Chapter Two</a></li></ol></nav>`),
		"OEBPS/text/one.xhtml", chapter(`<h1>I</h1><h2>The river</h2><p>It was a long day&#x2014;long and wet at the mill&shy;stream.</p><table><tr><th>Day</th><th>Rain</th></tr><tr><td>Mon</td><td>3</td></tr></table>`),
		"OEBPS/text/chapter 2.xhtml", chapter(`<p>This chapter has no heading.</p>`),
		"OEBPS/text/two-b.xhtml", chapter(`<p>It goes on in another file.</p>`),
		"META-INF/encryption.xml", `<encryption><EncryptedData><EncryptionMethod Algorithm="http://www.idpf.org/2008/embedding"/><CipherData><CipherReference URI="OEBPS/font.otf"/></CipherData></EncryptedData></encryption>`,
	)
}

const oneChapter = `<item id="c" href="c.html" media-type="application/xhtml+xml"/>`

// Books of the older kind have their table of contents in another form.
func TestEPUB2(t *testing.T) {
	data := epub(`<dc:title>Old</dc:title>`, oneChapter+`<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>`, ` toc="ncx"><itemref idref="c"/>`,
		"OEBPS/c.html", chapter("<p>Text.</p>"),
		"OEBPS/toc.ncx", `<ncx><navMap><navPoint><navLabel><text>Part</text></navLabel><navPoint><navLabel><text>The chapter</text></navLabel><content src="c.html#a"/></navPoint></navPoint></navMap></ncx>`)
	l, err := parse("a.epub", data)
	if err != nil || l.Document.Title != "Old" || l.Document.Text != "The chapter\n\nText." || len(l.Document.Headings) != 1 {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestEPUBProtectedAgainstCopying(t *testing.T) {
	data := epub("", oneChapter, `><itemref idref="c"/>`, "OEBPS/c.html", "\x13\x37\x00",
		"META-INF/encryption.xml", `<encryption><EncryptedData><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/><CipherData><CipherReference URI="OEBPS/c.html"/></CipherData></EncryptedData></encryption>`)
	if text, left := skips(t, "a.epub", data, nil); text != "" || len(left) != 1 || left[0].Reason != ingest.Encrypted {
		t.Errorf("%q, %v; want a skip of it as encrypted", text, left)
	}
}

// FuzzEPUB reads books with any package, table of contents and chapter.
func FuzzEPUB(f *testing.F) {
	f.Add(oneChapter, `<ncx><navMap><navPoint><navLabel><text>A</text></navLabel><content src="c.html"/></navPoint></navMap></ncx>`, "<p>Text.</p>")
	f.Add(oneChapter+`<item id="n" href="toc" properties="nav"/>`, `<nav epub:type="toc"><a href="c.html">A</a></nav>`, "<h2>a</h2>b")
	f.Fuzz(func(t *testing.T, manifest, contents, text string) {
		checkParsed(t, "a.epub", epub("<dc:title>A</dc:title>", manifest+`<item id="ncx" href="toc"/>`, ` toc="ncx"><itemref idref="c"/><itemref idref="n"/>`,
			"OEBPS/toc", contents, "OEBPS/c.html", text))
	})
}
