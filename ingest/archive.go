package ingest

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"
)

// compressed is a file that is compressed as a whole: a tar archive, or else one
// document, whose name is that of the file without its last extension.
type compressed struct {
	open func(io.Reader) (io.Reader, error)
}

// maxWindow bounds the memory that a file can ask for to be decompressed.
const maxWindow = 128 << 20

var (
	gzipFormat = format{name: "gzip", container: compressed{func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }}}
	bzipFormat = format{name: "bzip2", container: compressed{func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }}}
	xzFormat   = format{name: "xz", container: compressed{func(r io.Reader) (io.Reader, error) { return xz.NewReader(r, maxWindow) }}}
	zstdFormat = format{name: "zstd", container: compressed{func(r io.Reader) (io.Reader, error) {
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	}}}
	tarFormat = format{name: "tar", container: tarArchive{}}
)

func (c compressed) members(b *budget, data []byte) iter.Seq2[member, *Skip] {
	return func(yield func(member, *Skip) bool) {
		r, err := c.open(bytes.NewReader(data))
		if err != nil {
			yield(member{}, &Skip{Reason: Damaged, Err: err})
			return
		}
		if d, ok := r.(*zstd.Decoder); ok {
			defer d.Close()
		}
		unpacked := bufio.NewReader(ctxReader{b.ctx, r})
		if start, _ := unpacked.Peek(tarBlock); isTar(start) {
			readTar(b, unpacked, yield)
			return
		}
		content, skip := b.unpack(unpacked)
		yield(member{data: content}, skip)
	}
}

const tarBlock = 512

// isTar reports whether a file starts with the header of a tar archive.
func isTar(data []byte) bool {
	if len(data) < tarBlock {
		return false
	}
	_, err := tar.NewReader(bytes.NewReader(data[:tarBlock])).Next()
	return bytes.HasPrefix(data[257:], []byte("ustar")) || err == nil && data[0] != 0
}

// tarArchive is a tar archive that is not compressed.
type tarArchive struct{}

func (tarArchive) members(b *budget, data []byte) iter.Seq2[member, *Skip] {
	return func(yield func(member, *Skip) bool) {
		readTar(b, bytes.NewReader(data), yield)
	}
}

func readTar(b *budget, r io.Reader, yield func(member, *Skip) bool) {
	for archive := tar.NewReader(ctxReader{b.ctx, r}); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			skip := b.over()
			if skip == nil {
				skip = &Skip{Reason: Damaged, Err: err}
			}
			yield(member{}, skip)
			return
		}
		m := member{name: memberName(h.Name)}
		if m.name == "" || unwantedPath(m.name) || h.FileInfo().IsDir() {
			continue
		}
		skip := tarSkip(h)
		if skip == nil {
			skip = unsupportedName(m.name)
		}
		if skip == nil {
			m.data, skip = b.unpack(archive)
		}
		if !yield(m, skip) {
			return
		}
	}
}

// tarSkip tells what is no file.
func tarSkip(h *tar.Header) *Skip {
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse:
		return nil
	case tar.TypeSymlink, tar.TypeLink:
		return &Skip{Reason: Symlink, Detail: "in an archive none is"}
	}
	return &Skip{Reason: Special, Detail: "it is a pipe, a device or something else that is no file"}
}

// memberName makes the name that an archive has for a file a path in the archive. Old
// programs wrote names in the character set of their system.
func memberName(name string) string {
	if src, skip := decode([]byte(name)); skip == nil {
		name = src.text
	}
	return cleanPath(name)
}
