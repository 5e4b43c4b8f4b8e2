package modeldir

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/waymark-rag/waymark/landmark"
)

// pooling is a Pooling module's config.json.
type pooling struct {
	file          string
	dim           int
	mode          landmark.Pooling
	landmarkID    int32 // -1 for none
	includePrompt bool
}

// The pooling modes by the word for them in either dialect; those without a
// value cannot be reproduced.
var poolingModes = map[string]landmark.Pooling{
	"cls":                  landmark.CLS,
	"cls_token":            landmark.CLS,
	"mean":                 landmark.Mean,
	"mean_tokens":          landmark.Mean,
	"lmk":                  landmark.Landmark,
	"max_tokens":           "",
	"mean_sqrt_len_tokens": "",
	"weightedmean_tokens":  "",
	"lasttoken":            "",
}

const poolingWanted = "supported is one of cls, mean and lmk"

// read takes either dialect: one boolean a mode, or from release 5.4 on a
// pooling_mode that names it.
func (p *pooling) read(fsys fs.FS, file string) error {
	*p = pooling{file: file, landmarkID: -1, includePrompt: true}
	var keys map[string]json.RawMessage
	if err := decode(fsys, file, false, &keys); err != nil {
		return err
	}
	var modes []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		value := keys[key]
		var err error
		word := strings.TrimPrefix(key, "pooling_mode_")
		_, isMode := poolingModes[word]
		switch {
		case key == "word_embedding_dimension", key == "embedding_dimension":
			err = json.Unmarshal(value, &p.dim)
		case key == "lmk_token_id":
			err = json.Unmarshal(value, &p.landmarkID)
		case key == "include_prompt":
			err = json.Unmarshal(value, &p.includePrompt)
		case key == "pooling_mode":
			var named []string
			named, err = oneOrMore(value)
			modes = append(modes, named...)
		case isMode && word != key:
			var on bool
			if err = json.Unmarshal(value, &on); on {
				modes = append(modes, word)
			}
		default:
			return fmt.Errorf("%s: key %q is not known, it may change the vectors", file, key)
		}
		if err != nil {
			return fmt.Errorf("%s: key %q: %w", file, key, err)
		}
	}
	if p.dim < 1 {
		return fmt.Errorf("%s: word_embedding_dimension (or embedding_dimension) is %d: want 1 or more", file, p.dim)
	}
	if len(modes) != 1 {
		return fmt.Errorf("%s: pooling modes %q: %s", file, modes, poolingWanted)
	}
	if p.mode = poolingModes[modes[0]]; p.mode == "" {
		return fmt.Errorf("%s: pooling mode %q: %s", file, modes[0], poolingWanted)
	}
	return nil
}

// oneOrMore reads a string or a list of strings.
func oneOrMore(data json.RawMessage) ([]string, error) {
	var one string
	if json.Unmarshal(data, &one) == nil {
		return []string{one}, nil
	}
	var more []string
	err := json.Unmarshal(data, &more)
	return more, err
}
