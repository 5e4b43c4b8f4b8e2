package ingest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"syscall"
)

// ReadOptions bounds what is read. The zero value is the default.
type ReadOptions struct {
	// MaxBytes is the size of the largest file that is read; 0 means 32 MiB.
	MaxBytes int64
}

// Validate reports the first value that cannot be used.
func (o ReadOptions) Validate() error {
	if o.MaxBytes < 0 {
		return fmt.Errorf("max bytes %d: want 1 or more, or 0 for the default", o.MaxBytes)
	}
	return nil
}

// Raw is a file's content before it is parsed.
type Raw struct {
	ID   string // of the document it will be
	Hash string // SHA-256 of Data in hex
	Data []byte

	path string // for messages
}

// NewRaw wraps content that does not come from a file that Walk found. The name
// becomes the id, through [ID], and says by its extension what the format is.
func NewRaw(name string, data []byte) *Raw {
	return newRaw(ID(name), name, data)
}

func newRaw(id, path string, data []byte) *Raw {
	sum := sha256.Sum256(data)
	return &Raw{ID: id, Hash: hex.EncodeToString(sum[:]), Data: data, path: path}
}

// Load reads a file and hashes it. A file that cannot give a document by its
// name or size, or cannot be read, is a *[Skip]; any other error is ctx's or
// about the options.
func Load(ctx context.Context, f File, opts *ReadOptions) (*Raw, error) {
	if opts == nil {
		opts = &ReadOptions{}
	}
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	limit := opts.MaxBytes
	if limit == 0 {
		limit = 32 << 20
	}
	if s := unsupportedName(f.ID); s != nil {
		s.Path = f.Path
		return nil, s
	}
	data, err := readFile(ctx, f.Path, limit)
	if err != nil {
		return nil, err
	}
	return newRaw(f.ID, f.Path, data), nil
}

func readFile(ctx context.Context, path string, limit int64) ([]byte, error) {
	tooLarge := func(size int64) error {
		return &Skip{Path: path, Reason: TooLarge, Detail: fmt.Sprintf("%d bytes or more, the limit is %d; split it or raise the limit", size, limit)}
	}
	// Should a pipe have taken the file's place, opening it must not block.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, &Skip{Path: path, Reason: Unreadable, Err: err}
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, &Skip{Path: path, Reason: Unreadable, Err: err}
	case !info.Mode().IsRegular():
		return nil, &Skip{Path: path, Reason: Special, Detail: "it is a folder, socket, pipe or device"}
	case info.Size() > limit:
		return nil, tooLarge(info.Size())
	}
	var buf bytes.Buffer
	buf.Grow(int(info.Size()) + bytes.MinRead)
	// One byte above the limit tells a file that grew from one that just fits.
	if _, err := buf.ReadFrom(io.LimitReader(ctxReader{ctx, file}, limit+1)); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &Skip{Path: path, Reason: Unreadable, Err: err}
	}
	if int64(buf.Len()) > limit {
		return nil, tooLarge(int64(buf.Len()))
	}
	return buf.Bytes(), nil
}

// ctxReader stops reading once its context is done.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
