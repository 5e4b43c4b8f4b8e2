//go:build unix

package local

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile returns what a file holds, as long as nobody calls release. It may be
// removed or replaced meanwhile, but must not be changed.
func mapFile(f *os.File, size int) (data []byte, release func() error, err error) {
	data, err = unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	return data, func() error { return unix.Munmap(data) }, nil
}
