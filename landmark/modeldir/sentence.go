package modeldir

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/waymark-rag/waymark/landmark"
)

// module is an entry of modules.json.
type module struct {
	Index int    `json:"idx"`
	Name  string `json:"name"`
	Path  string `json:"path"`
	Type  string `json:"type"`
}

// sentenceModel is a sentence-transformers directory on its way to a Spec.
type sentenceModel struct {
	fsys    fs.FS
	dir     string // of the transformer
	spec    *Spec
	tok     *tokenizerFile
	names   special
	pooling pooling
	bert    transformerConfig
	lmk     bool // the transformer inserts landmarks
}

func loadSentenceTransformers(fsys fs.FS) (*Spec, error) {
	m := sentenceModel{fsys: fsys, spec: &Spec{}}
	steps := []func() error{m.readModules, m.readTransformer, m.readTokenizer, m.readGraph, m.readPrompts, m.configure}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return m.spec, nil
}

// readModules takes a transformer, a pooling and perhaps a normalisation.
func (m *sentenceModel) readModules() error {
	var modules []module
	err := decode(m.fsys, modulesFile, false, &modules)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no %s and no %s: want a model directory, see docs/model-format.md", manifestFile, modulesFile)
	} else if err != nil {
		return err
	}
	slices.SortStableFunc(modules, func(a, b module) int { return a.Index - b.Index })
	var kinds []string
	for _, mod := range modules {
		kind := mod.Type[strings.LastIndex(mod.Type, ".")+1:]
		if !strings.HasPrefix(mod.Type, "sentence_transformers.") {
			kind = mod.Type // somebody's own class, whatever its name
		}
		if mod.Path != "" && !fs.ValidPath(mod.Path) {
			return fmt.Errorf("%s: path %q: want a folder inside the model directory", modulesFile, mod.Path)
		}
		kinds = append(kinds, kind)
		switch kind {
		case "Transformer", "LandmarkTransformer":
			m.dir, m.lmk = mod.Path, kind == "LandmarkTransformer"
		case "Pooling":
			err = m.pooling.read(m.fsys, path.Join(mod.Path, "config.json"))
		case "Normalize":
			err = readNormalize(m.fsys, path.Join(mod.Path, "config.json"))
		default:
			err = fmt.Errorf("%s: type %q is not supported: supported are Transformer or LandmarkTransformer, then Pooling, then perhaps Normalize", modulesFile, mod.Type)
		}
		if err != nil {
			return err
		}
	}
	if len(kinds) < 2 || !strings.HasSuffix(kinds[0], "Transformer") || kinds[1] != "Pooling" || len(kinds) > 3 || len(kinds) == 3 && kinds[2] != "Normalize" {
		return fmt.Errorf("%s: modules %q: want Transformer or LandmarkTransformer, then Pooling, then perhaps Normalize", modulesFile, kinds)
	}
	if len(kinds) == 2 {
		m.spec.note("%s has no Normalize module; Waymark always scales vectors to length 1", modulesFile)
	}
	return nil
}

// readNormalize refuses a normalisation of anything but the pooled vector.
func readNormalize(fsys fs.FS, file string) error {
	var c struct {
		Input  string `json:"module_input_name"`
		Output string `json:"module_output_name"`
	}
	if err := decodeOptional(fsys, file, false, &c); err != nil {
		return err
	}
	for key, name := range map[string]string{"module_input_name": c.Input, "module_output_name": c.Output} {
		if name != "" && name != "sentence_embedding" {
			return fmt.Errorf("%s: %s %q: supported is \"sentence_embedding\"", file, key, name)
		}
	}
	return nil
}

func (m *sentenceModel) readTokenizer() (err error) {
	if m.tok, err = loadTokenizer(m.fsys, m.dir); err != nil {
		return err
	}
	m.spec.Tokenizer = m.tok.file
	if m.names, err = loadSpecial(m.fsys, m.dir); err != nil {
		return err
	}
	if m.bert.DoLowerCase && !m.tok.lowercases() {
		return fmt.Errorf("%s: do_lower_case is true and the tokenizer keeps case: supported is a tokenizer.json with a lower-casing normalizer", m.bert.file)
	}
	return nil
}

// readGraph takes onnx/model.onnx or, if there is only one other export, that.
func (m *sentenceModel) readGraph() (err error) {
	file := path.Join(m.dir, "onnx/model.onnx")
	if _, err := fs.Stat(m.fsys, file); errors.Is(err, fs.ErrNotExist) {
		found, err := fs.Glob(m.fsys, path.Join(m.dir, "onnx/*.onnx"))
		if err != nil {
			return err
		}
		switch len(found) {
		case 0:
			return fmt.Errorf("no %s: export the model with backend \"onnx\"; PyTorch weights cannot be run", file)
		case 1:
			file = found[0]
		default:
			return fmt.Errorf("several graphs and no model.onnx among them: %q: name one in a %s, see docs/model-format.md", found, manifestFile)
		}
	}
	s := m.spec
	s.Graph, s.Digest, err = loadGraph(m.fsys, file, "", m.pooling.dim)
	return err
}

// readPrompts picks the prefixes as encode_query and encode_document do.
func (m *sentenceModel) readPrompts() error {
	const file = "config_sentence_transformers.json"
	var c struct {
		ModelType   string             `json:"model_type"`
		Prompts     map[string]*string `json:"prompts"`
		DefaultName string             `json:"default_prompt_name"`
		Similarity  string             `json:"similarity_fn_name"`
		TruncateDim *int               `json:"truncate_dim"`
	}
	if err := decodeOptional(m.fsys, file, false, &c); err != nil {
		return err
	}
	if c.ModelType != "" && c.ModelType != "SentenceTransformer" {
		return fmt.Errorf("%s: model_type %q: supported is \"SentenceTransformer\"", file, c.ModelType)
	}
	if c.TruncateDim != nil {
		return fmt.Errorf("%s: truncate_dim %d: shortened vectors are not supported, want null", file, *c.TruncateDim)
	}
	if c.Similarity != "" && c.Similarity != "cosine" {
		m.spec.note("%s names the similarity %q; Waymark compares by cosine", file, c.Similarity)
	}
	prompt := func(names ...string) string {
		for _, name := range append(names, c.DefaultName) {
			if p, ok := c.Prompts[name]; ok && p != nil {
				return *p
			}
		}
		return ""
	}
	s := &m.spec.Config
	s.QueryPrefix, s.DocumentPrefix = prompt("query"), prompt("document", "passage", "corpus")
	if m.pooling.mode == landmark.Mean && !m.pooling.includePrompt && s.QueryPrefix+s.DocumentPrefix != "" {
		return fmt.Errorf("%s: include_prompt is false: mean pooling without the prompt's tokens is not supported, want true", m.pooling.file)
	}
	return nil
}

func (m *sentenceModel) configure() error {
	c := &m.spec.Config
	before, after, err := m.tok.frame()
	if err != nil {
		return err
	}
	c.CLS, c.Separator, c.Landmark, c.Pad = before, after, -1, -1
	if m.names.Pad != "" {
		c.Pad = m.tok.id(string(m.names.Pad))
	}
	c.Dim = m.pooling.dim
	c.OnePerBatch = m.spec.Graph.Quantised
	if c.MaxLength, err = m.maxLength(); err != nil {
		return err
	}
	if m.pooling.mode != landmark.Landmark {
		if m.lmk {
			return fmt.Errorf("%s: pooling %q after a LandmarkTransformer: want pooling_mode_lmk", m.pooling.file, m.pooling.mode)
		}
		c.Pooling, c.Base = landmark.Naive, m.pooling.mode
		return nil
	}
	if !m.lmk {
		return fmt.Errorf("%s: pooling_mode_lmk without a LandmarkTransformer in %s: nothing would insert landmarks", m.pooling.file, modulesFile)
	}
	return m.configureLandmarks(before, after)
}

// configureLandmarks settles the landmark as the pull request does: the
// transformer's id, else the pooling's, else the separator, else the end token.
func (m *sentenceModel) configureLandmarks(before, after int32) error {
	c := &m.spec.Config
	c.Style, c.Pooling, c.Base = landmark.ST, landmark.Landmark, landmark.Landmark
	c.Interval = 32
	if g := m.bert.LandmarkInterval; g != nil {
		if *g < 1 {
			return fmt.Errorf("%s: landmark_interval %d: want 1 or more", m.bert.file, *g)
		}
		c.Interval = *g
	}
	inserted, pooled := m.bert.LandmarkID, m.pooling.landmarkID
	switch {
	case inserted != nil:
		c.Landmark = *inserted
		if pooled >= 0 && pooled != *inserted {
			m.spec.note("lmk_token_id is %d in %s and %d in %s; the former counts", *inserted, m.bert.file, pooled, m.pooling.file)
		}
	case pooled >= 0:
		c.Landmark = pooled
	case m.names.Sep != "":
		c.Landmark = m.tok.id(string(m.names.Sep))
	case m.names.EOS != "":
		c.Landmark = m.tok.id(string(m.names.EOS))
	}
	if c.Landmark != after {
		return fmt.Errorf("landmark token id %d: the tokenizer closes a text with %d (-1: nothing): supported is a landmark that is the closing token", c.Landmark, after)
	}
	return nil
}
