//go:build !unix

package local

import (
	"io"
	"os"
)

// mapFile reads the file, which could not be replaced while it is mapped.
func mapFile(f *os.File, size int) (data []byte, release func() error, err error) {
	data = make([]byte, size)
	_, err = io.ReadFull(f, data)
	return data, func() error { return nil }, err
}
