package ingest

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// zipArchive is a ZIP archive whose members stand for themselves.
type zipArchive struct{}

var zipFormat = format{name: "zip", container: zipArchive{}}

func (zipArchive) members(b *budget, data []byte) iter.Seq2[member, *Skip] {
	return func(yield func(member, *Skip) bool) {
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			yield(member{}, &Skip{Reason: Damaged, Err: err})
			return
		}
		z.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow)))
		for _, f := range z.File {
			m := member{name: memberName(f.Name)}
			if m.name == "" || strings.HasSuffix(f.Name, "/") || strings.HasSuffix(f.Name, `\`) || unwantedPath(m.name) {
				continue
			}
			var skip *Skip
			m.data, skip = unzip(b, f, m.name)
			if !yield(m, skip) {
				return
			}
		}
	}
}

// unzip reads a member.
func unzip(b *budget, f *zip.File, name string) ([]byte, *Skip) {
	const encrypted = 1 // of Flags
	switch mode := f.Mode(); {
	case f.Flags&encrypted != 0:
		return nil, &Skip{Reason: Encrypted, Detail: "unpack it with its password"}
	case mode&fs.ModeSymlink != 0:
		return nil, &Skip{Reason: Symlink, Detail: "in an archive none is"}
	case !mode.IsRegular():
		return nil, &Skip{Reason: Special, Detail: "it is a pipe, a device or something else that is no file"}
	}
	if skip := unsupportedName(name); skip != nil {
		return nil, skip
	}
	r, err := f.Open()
	switch {
	case errors.Is(err, zip.ErrAlgorithm):
		return nil, &Skip{Reason: Unsupported, Detail: fmt.Sprintf("it is compressed by method %d; unpack it", f.Method)}
	case err != nil:
		return nil, &Skip{Reason: Damaged, Err: err}
	}
	defer r.Close()
	return b.unpack(r)
}

// zipKinds are the extensions of formats that are ZIP archives, by a member that they
// all have, and by the media type that some have first.
var (
	zipKinds = map[string]string{
		"word/document.xml":      "docx",
		"xl/workbook.xml":        "xlsx",
		"ppt/presentation.xml":   "pptx",
		"META-INF/container.xml": "epub",
		"META-INF/MANIFEST.MF":   "jar",
		"AndroidManifest.xml":    "apk",
	}
	mediaTypes = map[string]string{
		"application/vnd.oasis.opendocument.text":         "odt",
		"application/vnd.oasis.opendocument.spreadsheet":  "ods",
		"application/vnd.oasis.opendocument.presentation": "odp",
		"application/epub+zip":                            "epub",
	}
)

// sniffZIP tells what a ZIP archive without a telling name is.
func sniffZIP(data []byte) (format, *Skip) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return zipFormat, nil // which says so
	}
	for _, f := range z.File {
		ext := zipKinds[f.Name]
		if f.Name == "mimetype" && f.Method == zip.Store {
			ext = mediaTypes[stored(f)]
		}
		if ext == "" {
			continue
		}
		if f, ok := byExtension[ext]; ok {
			return f, nil
		}
		return format{}, unsupported(ext + " file")
	}
	return zipFormat, nil
}

// stored is the start of a member that is not compressed, "" where the archive says
// that it stands outside of it.
func stored(f *zip.File) string {
	r, err := f.OpenRaw()
	if err != nil {
		return ""
	}
	start, err := io.ReadAll(io.LimitReader(r, 100))
	if err != nil {
		return ""
	}
	return string(start)
}
