package ingest

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waymark-rag/waymark/chunker"
)

// reader makes a document of a file in one format. It sets the text, its map
// and syntax, and what the content says of title, headings, tables, places and
// metadata. A Skip it returns needs no path. Parts that give no text are left out of
// the budget's document (budget.leaveOut), under a path that names the part.
type reader interface {
	read(b *budget, data []byte) (chunker.Document, *Skip)
}

// format is a reader or a container, and what is known of a file once it is chosen.
type format struct {
	name      string
	reader    reader
	container container
	language  string // of code
}

func (f format) isZero() bool { return f.reader == nil && f.container == nil }

// byExtension finds a format by the extension of a name. Source code has a table of
// its own, languages.
var byExtension = extensions(map[string]format{
	"txt text log rst adoc asciidoc": textFormat,
	"md markdown mdown mkd":          markdownFormat,
	"html htm xhtml":                 htmlFormat,
	"csv tsv tab psv":                csvFormat,
	"srt vtt":                        subtitleFormat,
	"json":                           jsonFormat,
	"ipynb":                          notebookFormat,
	"jsonl ndjson":                   jsonLinesFormat,
	"eml mht mhtml":                  mailFormat(false),
	"mbox mbx":                       mboxFormat,
	"gz tgz":                         gzipFormat,
	"bz2 tbz tbz2":                   bzipFormat,
	"xz txz":                         xzFormat,
	"zst tzst":                       zstdFormat,
	"tar":                            tarFormat,
	"zip":                            zipFormat,
	"docx docm dotx dotm":            docxFormat,
	"xlsx xlsm xltx xltm":            xlsxFormat,
	"pptx pptm ppsx ppsm potx potm":  pptxFormat,
	"epub":                           epubFormat,
	"odt ott":                        odtFormat,
	"ods ots":                        odsFormat,
	"odp otp":                        odpFormat,
	"pdf":                            pdfFormat,
})

func extensions(lists map[string]format) map[string]format {
	out := map[string]format{}
	for list, f := range lists {
		for _, ext := range strings.Fields(list) {
			out[ext] = f
		}
	}
	return out
}

var (
	textFormat     = format{name: "text", reader: textReader{chunker.Plain}}
	markdownFormat = format{name: "markdown", reader: markdownReader{}}
	htmlFormat     = format{name: "html", reader: htmlReader{}}
	csvFormat      = format{name: "csv", reader: csvReader{}}
	docxFormat     = format{name: "docx", reader: docxReader{}}
	xlsxFormat     = format{name: "xlsx", reader: xlsxReader{}}
	pptxFormat     = format{name: "pptx", reader: pptxReader{}}
	epubFormat     = format{name: "epub", reader: epubReader{}}
	odtFormat      = format{name: "odt", reader: odfReader{}}
	odsFormat      = format{name: "ods", reader: odfReader{}}
	odpFormat      = format{name: "odp", reader: odfReader{}}
	pdfFormat      = format{name: "pdf", reader: pdfReader{}}

	jsonFormat      = format{name: "json", container: jsonFile{}}
	jsonLinesFormat = format{name: "json", container: jsonLines{}}
)

func codeFormat(language string) format {
	return format{name: "code", reader: textReader{chunker.Code}, language: language}
}

// formatOf chooses by extension, then by content.
func formatOf(name string, data []byte) (format, *Skip) {
	if s := unsupportedName(name); s != nil {
		return format{}, s
	}
	if f := formatByName(name); !f.isZero() {
		return f, nil
	}
	return sniff(data)
}

// formatByName is the format that a name alone tells, or none.
func formatByName(name string) format {
	name = filepath.ToSlash(name)
	if language, ok := languagesByName[strings.ToLower(path.Base(name))]; ok {
		return codeFormat(language)
	}
	ext := extension(name)
	if f, ok := byExtension[ext]; ok {
		return f
	}
	if language, ok := languages[ext]; ok {
		return codeFormat(language)
	}
	return format{}
}

// SingleByName reports whether every file of a name is one document, whatever it
// holds: by its name it is neither an archive or the like nor unknown.
func SingleByName(name string) bool {
	f := formatByName(name)
	return !f.isZero() && f.container == nil
}

// extension is what follows the last dot of the name, in lower case. A name
// that only starts with a dot has none.
func extension(name string) string {
	base := path.Base(name)
	if i := strings.LastIndexByte(base, '.'); i > 0 {
		return strings.ToLower(base[i+1:])
	}
	return ""
}

// unsupportedName tells by its name alone that a file gives no text.
func unsupportedName(name string) *Skip {
	ext := extension(name)
	if !slices.Contains(unsupportedExtensions, ext) {
		return nil
	}
	if newer := newerOffice[ext]; newer != "" {
		return &Skip{Reason: Unsupported, Detail: fmt.Sprintf(".%s file; convert it: soffice --convert-to %s FILE (LibreOffice)", ext, newer)}
	}
	return unsupported("." + ext + " file")
}

// newerOffice names the format that a file in one that is not read can be converted to.
var newerOffice = map[string]string{"doc": "docx", "dot": "docx", "rtf": "docx", "xls": "xlsx", "xlt": "xlsx", "xlsb": "xlsx", "ppt": "pptx", "pps": "pptx"}

func unsupported(what string) *Skip {
	return &Skip{Reason: Unsupported, Detail: fmt.Sprintf("%s; convert it to text, Markdown or HTML", what)}
}

var unsupportedExtensions = strings.Fields(`
	doc dot xls xlt xlsb ppt pps rtf mobi pages numbers
	png jpg jpeg gif bmp webp tif tiff ico heic avif svg psd
	mp3 wav flac ogg m4a mp4 m4v mkv mov avi webm
	7z rar jar war apk whl deb rpm iso dmg
	exe dll so dylib a o obj class pyc wasm
	sqlite sqlite3 db parquet arrow npy npz pkl pickle pt pth onnx safetensors gguf
	ttf otf woff woff2 eot`)

// signatures are the first bytes of formats that are met without an extension.
var signatures = []struct{ prefix, what string }{
	{"{\\rtf", "RTF"},
	{compoundMagic, "office document of the old kind"},
	{"\x89PNG", "PNG image"},
	{"\xff\xd8\xff", "JPEG image"},
	{"GIF8", "GIF image"},
	{"\x7fELF", "program"},
	{"SQLite format 3\x00", "SQLite database"},
}

// sniff chooses by content alone.
func sniff(data []byte) (format, *Skip) {
	starts := func(s string) bool { return bytes.HasPrefix(data, []byte(s)) }
	switch {
	case starts("PK\x03\x04"):
		return sniffZIP(data)
	case starts("%PDF-"):
		return pdfFormat, nil
	case starts("\x1f\x8b"):
		return gzipFormat, nil
	case starts("BZh") && bytes.HasPrefix(data[3:], []byte("91AY&SY")):
		return bzipFormat, nil
	case starts("\xfd7zXZ\x00"):
		return xzFormat, nil
	case starts("\x28\xb5\x2f\xfd"):
		return zstdFormat, nil
	case isTar(data):
		return tarFormat, nil
	case mboxStart.Match(data[:min(len(data), 1000)]):
		return mboxFormat, nil
	}
	for _, s := range signatures {
		if starts(s.prefix) {
			return format{}, unsupported(s.what)
		}
	}
	start := bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(data[:min(len(data), 512)], []byte(utf8BOM))))
	if bytes.HasPrefix(start, []byte("<")) && (bytes.Contains(start, []byte("<!doctype html")) || bytes.Contains(start, []byte("<html"))) {
		return htmlFormat, nil
	}
	return textFormat, nil
}
