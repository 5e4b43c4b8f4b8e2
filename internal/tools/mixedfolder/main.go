//go:build unix

// Command mixedfolder writes a folder of many small files of many kinds, some of them
// hostile, to try indexing on:
//
//	go run ./internal/tools/mixedfolder -files 20000 -hostile 0.01 DIR
//
// The same flags write the same files. docs/formats.md says what indexing makes of it.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
)

func main() {
	log.SetFlags(0)
	files := flag.Int("files", 20_000, "how many files")
	hostile := flag.Float64("hostile", 0.01, "share of them that are hostile")
	size := flag.Int("bytes", 400, "of text in a file, about")
	seed := flag.Uint64("seed", 1, "another gives other texts")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("want the folder to write, which must not be there yet")
	}
	if err := write(flag.Arg(0), *files, *hostile, *size, *seed); err != nil {
		log.Fatal(err)
	}
}

// write fills a new folder.
func write(dir string, files int, hostile float64, size int, seed uint64) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	w := writer{dir: dir, random: rand.New(rand.NewPCG(seed, 0)), size: size}
	for i := range files {
		// Folders of some hundred files, a few levels deep.
		w.folder = fmt.Sprintf("%02d/%02d", i/1000, i/100%10)
		w.number = i
		if err := os.MkdirAll(filepath.Join(dir, w.folder), 0o755); err != nil {
			return err
		}
		// Every so manieth is hostile, so that a smaller folder has its share too.
		before, now := int(float64(i)*hostile), int(float64(i+1)*hostile)
		var err error
		if now > before {
			err = hostiles[now%len(hostiles)](&w)
		} else {
			err = kinds[i%len(kinds)](&w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writer writes one file after the other.
type writer struct {
	dir, folder string
	number      int
	random      *rand.Rand
	size        int
}

func (w *writer) file(ext string, data []byte) error {
	return w.named(fmt.Sprintf("%05d.%s", w.number, ext), data)
}

func (w *writer) named(name string, data []byte) error {
	return os.WriteFile(filepath.Join(w.dir, w.folder, name), data, 0o644)
}
