//go:build !cgo || !onnx

package onnx

import (
	"context"
	"io/fs"
)

// Open returns ErrNotBuilt: this is the build without native code.
func Open(ctx context.Context, fsys fs.FS, opts *Options) (*Model, error) {
	return nil, ErrNotBuilt
}
