package modeldir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/waymark-rag/waymark/landmark"
)

// Spec is what a model directory says about its model.
type Spec struct {
	// Name is the model's own name, empty when the directory has none.
	Name string
	// Digest identifies the weights: "sha256:" and the hex sum of the graph file
	// followed by its external data files, if any.
	Digest string
	// Config says how texts are fed and vectors read. It is valid.
	Config landmark.Config
	// Graph is the transformer.
	Graph Graph
	// Tokenizer is the content of tokenizer.json with truncation and padding
	// switched off: both would be applied silently.
	Tokenizer []byte
	// Golden is a text with the vectors the model must give it, nil when the
	// directory has none.
	Golden *Golden
	// Notes are remarks for people: where Waymark does other than the
	// directory's files say, and what settled a contradiction among them.
	Notes []string
}

// The file that makes a folder a model directory; the first has precedence.
const (
	manifestFile = "waymark.json"
	modulesFile  = "modules.json"
)

// Load reads the model directory at the root of fsys. It reads the weights too
// and checks them against the digest that waymark.json gives.
func Load(fsys fs.FS) (*Spec, error) {
	var s *Spec
	manifest, err := fs.ReadFile(fsys, manifestFile)
	switch {
	case err == nil:
		s, err = loadManifest(fsys, manifest)
	case errors.Is(err, fs.ErrNotExist):
		s, err = loadSentenceTransformers(fsys)
	}
	if err != nil {
		return nil, err
	}
	if err := s.Config.Validate(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Spec) note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

// decode reads the JSON file into v. With strict set it refuses keys that v has
// no field for. The error of a missing file is fs.ErrNotExist.
func decode(fsys fs.FS, file string, strict bool, v any) error {
	data, err := fs.ReadFile(fsys, file)
	if err != nil {
		return err
	}
	return decodeBytes(data, file, strict, v)
}

func decodeBytes(data []byte, file string, strict bool, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if strict {
		d.DisallowUnknownFields()
	}
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("%s: something follows the JSON value: want one object", file)
	}
	return nil
}

// decodeOptional is decode for a file that need not be there; v is then left as
// it is.
func decodeOptional(fsys fs.FS, file string, strict bool, v any) error {
	err := decode(fsys, file, strict, v)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
