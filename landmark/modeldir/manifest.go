package modeldir

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/waymark-rag/waymark/landmark"
)

// Format is the newest version of waymark.json that Load reads.
const Format = 1

// manifest is waymark.json.
type manifest struct {
	Format  int    `json:"format"`
	Name    string `json:"name"`
	Weights struct {
		File   string `json:"file"`
		SHA256 string `json:"sha256"`
	} `json:"weights"`
	Output string `json:"output"`
	Tokens struct {
		Landmark  int32 `json:"landmark"`
		CLS       int32 `json:"cls"`
		Pad       int32 `json:"pad"`
		Separator int32 `json:"separator"`
	} `json:"tokens"`
	Style     landmark.Style   `json:"style"`
	Pooling   landmark.Pooling `json:"pooling"`
	Base      landmark.Pooling `json:"base"`
	Interval  int              `json:"interval"`
	MaxLength int              `json:"max_length"`
	Dimension int              `json:"dimension"`
	Prefixes  struct {
		Query    string `json:"query"`
		Document string `json:"document"`
	} `json:"prefixes"`
	OnePerBatch bool    `json:"one_per_batch"`
	Golden      *Golden `json:"golden"`
}

func loadManifest(fsys fs.FS, data []byte) (*Spec, error) {
	// The version first: a newer format may well hold keys unknown here.
	var version struct {
		Format int `json:"format"`
	}
	if err := decodeBytes(data, manifestFile, false, &version); err != nil {
		return nil, err
	}
	if version.Format > Format {
		return nil, fmt.Errorf("%s: format %d is newer than this Waymark, which reads up to %d: use a newer Waymark", manifestFile, version.Format, Format)
	}
	if version.Format < 1 {
		return nil, fmt.Errorf("%s: format %d: want \"format\": %d", manifestFile, version.Format, Format)
	}
	var m manifest
	m.Tokens.Landmark, m.Tokens.CLS, m.Tokens.Pad, m.Tokens.Separator = -1, -1, -1, -1
	if err := decodeBytes(data, manifestFile, true, &m); err != nil {
		return nil, err
	}
	s := &Spec{
		Name: m.Name,
		Config: landmark.Config{
			Style:          m.Style,
			Pooling:        m.Pooling,
			Base:           m.Base,
			Landmark:       m.Tokens.Landmark,
			CLS:            m.Tokens.CLS,
			Pad:            m.Tokens.Pad,
			Separator:      m.Tokens.Separator,
			Interval:       m.Interval,
			MaxLength:      m.MaxLength,
			Dim:            m.Dimension,
			QueryPrefix:    m.Prefixes.Query,
			DocumentPrefix: m.Prefixes.Document,
			OnePerBatch:    m.OnePerBatch,
		},
		Golden: m.Golden,
	}
	if m.Name == "" {
		return nil, fmt.Errorf("%s: no \"name\": want the model's name", manifestFile)
	}
	if m.Weights.File == "" || m.Weights.SHA256 == "" {
		return nil, fmt.Errorf("%s: \"weights\" is incomplete: want {\"file\": ..., \"sha256\": ...}", manifestFile)
	}
	var err error
	if s.Graph, s.Digest, err = loadGraph(fsys, m.Weights.File, m.Output, m.Dimension); err != nil {
		return nil, err
	}
	if want := "sha256:" + strings.ToLower(m.Weights.SHA256); s.Digest != want {
		return nil, fmt.Errorf("%s has %s, %s says %s: the file is damaged or belongs to another model", m.Weights.File, s.Digest, manifestFile, want)
	}
	if s.Graph.Quantised && !m.OnePerBatch {
		return nil, fmt.Errorf("%s: \"one_per_batch\" is false, but %s quantises by the range of the whole batch, so that vectors would depend on their neighbours: set it to true", manifestFile, m.Weights.File)
	}
	if m.Golden != nil {
		if err := m.Golden.validate(m.Dimension); err != nil {
			return nil, fmt.Errorf("%s: golden: %w", manifestFile, err)
		}
	}
	t, err := loadTokenizer(fsys, "")
	if err != nil {
		return nil, err
	}
	s.Tokenizer = t.file
	return s, nil
}
