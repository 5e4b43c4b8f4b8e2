// Package models holds the models that are part of the program, so that nothing
// is downloaded and nothing needs to lie beside the binary.
//
// Each is a model directory as landmark/modeldir reads it. Only programs that
// import this package carry the weights, 58 MB.
package models

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
)

// DefaultName is the name of the model that is used where none is named.
const DefaultName = "waymark-e5-small"

//go:embed waymark-*
var files embed.FS

// Names returns the names of the models, sorted.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // unreachable: the folder is embedded
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Open returns the directory of the model with that name.
func Open(name string) (fs.FS, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("model %q: want one of %q, or a folder with a waymark.json or modules.json", name, Names())
	}
	return fs.Sub(files, name)
}

// Default returns the directory of the default model.
func Default() fs.FS {
	sub, err := Open(DefaultName)
	if err != nil {
		panic(err) // unreachable: the name is embedded
	}
	return sub
}
