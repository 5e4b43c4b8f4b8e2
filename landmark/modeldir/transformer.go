package modeldir

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
)

// transformerConfig is sentence_bert_config.json: the keys until release 5.3,
// those from 5.4 on, and those of the landmark pull request #3642.
type transformerConfig struct {
	file string

	MaxLength   *int `json:"max_seq_length"`
	DoLowerCase bool `json:"do_lower_case"`

	LandmarkInterval      *int            `json:"landmark_interval"`
	TrainLandmarkInterval json.RawMessage `json:"train_landmark_interval"` // no matter here
	LandmarkID            *int32          `json:"lmk_token_id"`

	Task     string          `json:"transformer_task"`
	Output   string          `json:"module_output_name"`
	Modality json.RawMessage `json:"modality_config"`
	Unpad    json.RawMessage `json:"unpad_inputs"` // only a matter of speed

	// Change what the model sees, so must be empty.
	ProcessingArgs json.RawMessage `json:"processing_kwargs"`
	ModelArgs      json.RawMessage `json:"model_args"`
	TokenizerArgs  json.RawMessage `json:"tokenizer_args"`
	ConfigArgs     json.RawMessage `json:"config_args"`
	QueryLength    json.RawMessage `json:"query_length"`
	DocumentLength json.RawMessage `json:"document_length"`
	QueryExpansion json.RawMessage `json:"query_expansion"`
}

func (m *sentenceModel) readTransformer() error {
	c := &m.bert
	c.file = path.Join(m.dir, "sentence_bert_config.json")
	if err := decodeOptional(m.fsys, c.file, true, c); err != nil {
		return fmt.Errorf("%w: a key that is not known may change the vectors; a %s can say what is meant, see docs/model-format.md", err, manifestFile)
	}
	for _, e := range []struct {
		key   string
		value json.RawMessage
	}{
		{"processing_kwargs", c.ProcessingArgs},
		{"model_args", c.ModelArgs},
		{"tokenizer_args", c.TokenizerArgs},
		{"config_args", c.ConfigArgs},
		{"query_length", c.QueryLength},
		{"document_length", c.DocumentLength},
		{"query_expansion", c.QueryExpansion},
	} {
		if !slices.Contains([]string{"", "null", "{}"}, string(e.value)) {
			return fmt.Errorf("%s: %s %s is not supported: want null", c.file, e.key, e.value)
		}
	}
	var modality struct {
		Text struct {
			Output json.RawMessage `json:"method_output_name"`
		} `json:"text"`
	}
	if len(c.Modality) > 0 {
		if err := decodeBytes(c.Modality, c.file, false, &modality); err != nil {
			return err
		}
	}
	for _, e := range []struct{ key, value, want string }{
		{"transformer_task", c.Task, "feature-extraction"},
		{"module_output_name", c.Output, "token_embeddings"},
		{"method_output_name", string(modality.Text.Output), `"last_hidden_state"`},
	} {
		if e.value != "" && e.value != e.want {
			return fmt.Errorf("%s: %s %s: supported is %s", c.file, e.key, e.value, e.want)
		}
	}
	return nil
}

// offsetFamilies are the model types whose first position is not 0 but the pad
// id plus one, which takes as many from max_position_embeddings.
var offsetFamilies = []string{"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer"}

// maxLength is the least of the lengths that the files name.
func (m *sentenceModel) maxLength() (int, error) {
	var tokenizer struct {
		MaxLength float64 `json:"model_max_length"` // 1e30 stands for unknown
	}
	if err := decodeOptional(m.fsys, path.Join(m.dir, "tokenizer_config.json"), false, &tokenizer); err != nil {
		return 0, err
	}
	var config struct {
		Type         string `json:"model_type"`
		MaxPositions int    `json:"max_position_embeddings"`
		PadID        int    `json:"pad_token_id"`
	}
	if err := decodeOptional(m.fsys, path.Join(m.dir, "config.json"), false, &config); err != nil {
		return 0, err
	}
	positions := config.MaxPositions
	if slices.Contains(offsetFamilies, config.Type) {
		if slices.Contains(m.spec.Graph.Inputs, PositionIDs) {
			return 0, fmt.Errorf("%s: input %q of a %s model: supported where positions count from 0", m.spec.Graph.File, PositionIDs, config.Type)
		}
		positions -= config.PadID + 1
	}
	const unknown = 1 << 24
	least := unknown
	if m.bert.MaxLength != nil {
		least = min(least, *m.bert.MaxLength)
	}
	if n := tokenizer.MaxLength; n >= 1 && n < unknown {
		least = min(least, int(n))
	}
	if config.MaxPositions > 0 {
		least = min(least, positions)
	}
	if least == unknown {
		return 0, fmt.Errorf("no maximum length: want max_seq_length in %s, model_max_length in tokenizer_config.json or max_position_embeddings in config.json", m.bert.file)
	}
	return least, nil
}
