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
	"time"

	"github.com/waymark-rag/waymark/chunker"
)

// ReadOptions bounds what is read. The zero value is the default.
type ReadOptions struct {
	// MaxBytes is the size of the largest file that is read, also of one in an
	// archive; 0 means 32 MiB.
	MaxBytes int64
	// MaxUnpacked is how many bytes a file may unpack to, all that is in it
	// together; 0 means 512 MiB.
	MaxUnpacked int64
	// MaxMembers is how many documents a file may hold; 0 means 100,000.
	MaxMembers int
	// MaxDepth is how deep archives and mails may lie in each other; 0 means 3.
	MaxDepth int
	// MaxTime is how long the reading of a file may take, without what is done with its
	// documents meanwhile; 0 means a minute.
	MaxTime time.Duration
	// JSON says what the fields of JSON records are.
	JSON JSONOptions
}

func (o ReadOptions) withDefaults() ReadOptions {
	if o.MaxBytes == 0 {
		o.MaxBytes = 32 << 20
	}
	if o.MaxUnpacked == 0 {
		o.MaxUnpacked = 512 << 20
	}
	if o.MaxMembers == 0 {
		o.MaxMembers = 100_000
	}
	if o.MaxDepth == 0 {
		o.MaxDepth = 3
	}
	if o.MaxTime == 0 {
		o.MaxTime = time.Minute
	}
	return o
}

// Validate reports the first value that cannot be used.
func (o ReadOptions) Validate() error {
	for name, value := range map[string]int64{
		"bytes": o.MaxBytes, "unpacked": o.MaxUnpacked, "members": int64(o.MaxMembers), "depth": int64(o.MaxDepth), "time": int64(o.MaxTime),
	} {
		if value < 0 {
			return fmt.Errorf("max %s %d: want 1 or more, or 0 for the default", name, value)
		}
	}
	return o.JSON.Validate()
}

// Raw is a file's content before it is parsed.
type Raw struct {
	ID   string // of the document it will be; a caller may choose another
	Hash string // SHA-256 of Data in hex
	Data []byte

	path string // for messages
	as   string // the extension that says the format, in place of the path's
	// Of a member that is in its container's bytes as it is: where it starts there.
	start, lines int
	place        chunker.Place
	container    string // id of the outermost file; empty for that file itself
}

// NewRaw wraps content that does not come from a file that Walk found. The name
// becomes the id, through [ID], and says by its extension what the format is.
func NewRaw(name string, data []byte) *Raw {
	return newRaw(ID(name), name, data)
}

// formatName is a name with the extension that says the format.
func (r *Raw) formatName() string {
	if r.as != "" {
		return "page." + r.as
	}
	return r.path
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
	limit := opts.withDefaults().MaxBytes
	if s := unsupportedName(f.ID); s != nil {
		s.Path = f.Path
		return nil, s
	}
	data, err := readFile(ctx, f, limit)
	if err != nil {
		return nil, err
	}
	raw := newRaw(f.ID, f.Path, data)
	raw.as = f.As
	return raw, nil
}

func readFile(ctx context.Context, f File, limit int64) ([]byte, error) {
	path := f.Path
	tooLarge := func(size int64) error {
		return &Skip{Path: path, Reason: TooLarge, Detail: fmt.Sprintf("%d bytes or more, the limit is %d; split it or raise the limit", size, limit)}
	}
	if f.Open != nil {
		if f.Size > limit {
			return nil, tooLarge(f.Size)
		}
		body, err := f.Open(ctx)
		if err != nil {
			return nil, unreadable(ctx, path, err)
		}
		defer body.Close()
		return readBody(ctx, path, body, f.Size, limit, tooLarge)
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
	return readBody(ctx, path, file, info.Size(), limit, tooLarge)
}

// unreadable is the error of a file that could not be read to its end.
func unreadable(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Skip{Path: path, Reason: Unreadable, Err: err}
}

func readBody(ctx context.Context, path string, body io.Reader, size, limit int64, tooLarge func(int64) error) ([]byte, error) {
	var buf bytes.Buffer
	buf.Grow(int(max(size, 0)) + bytes.MinRead)
	// One byte above the limit tells a file that grew from one that just fits.
	if _, err := buf.ReadFrom(io.LimitReader(ctxReader{ctx, body}, limit+1)); err != nil {
		return nil, unreadable(ctx, path, err)
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
