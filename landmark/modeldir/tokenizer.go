package modeldir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// tokenizerFile is what a tokenizer.json says beyond what the tokenizers library
// reads for itself.
type tokenizerFile struct {
	file []byte // its content, truncation and padding switched off

	added      map[string]int32 // id of each added token
	vocab      json.RawMessage  // of the model
	normalizer json.RawMessage
	post       json.RawMessage // the post-processor
}

func loadTokenizer(fsys fs.FS, dir string) (*tokenizerFile, error) {
	name := path.Join(dir, "tokenizer.json")
	var top map[string]json.RawMessage
	if err := decode(fsys, name, false, &top); err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	if top == nil {
		return nil, fmt.Errorf("%s: want an object", name)
	}
	top["truncation"], top["padding"] = json.RawMessage("null"), json.RawMessage("null")
	t := &tokenizerFile{added: make(map[string]int32), normalizer: top["normalizer"], post: top["post_processor"]}
	var err error
	if t.file, err = json.Marshal(top); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var rest struct {
		AddedTokens []struct {
			ID      int32  `json:"id"`
			Content string `json:"content"`
		} `json:"added_tokens"`
		Model struct {
			Vocab json.RawMessage `json:"vocab"`
		} `json:"model"`
	}
	if err := json.Unmarshal(t.file, &rest); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, a := range rest.AddedTokens {
		t.added[a.Content] = a.ID
	}
	t.vocab = rest.Model.Vocab
	return t, nil
}

// id returns the id of a token, -1 if there is no such token.
func (t *tokenizerFile) id(token string) int32 {
	if id, ok := t.added[token]; ok {
		return id
	}
	var byName map[string]int32
	if json.Unmarshal(t.vocab, &byName) == nil {
		if id, ok := byName[token]; ok {
			return id
		}
		return -1
	}
	var ordered [][]any // Unigram: pairs of token and score
	if json.Unmarshal(t.vocab, &ordered) == nil {
		for i, pair := range ordered {
			if len(pair) > 0 && pair[0] == token {
				return int32(i)
			}
		}
	}
	return -1
}

// component is a part of a tokenizer: a normaliser or a post-processor.
type component struct {
	Type string `json:"type"`
	// of sequences
	Normalizers []component `json:"normalizers"`
	Processors  []component `json:"processors"`
	// of a BertNormalizer
	Lowercase bool `json:"lowercase"`
	// of BertProcessing and RobertaProcessing: token and id
	CLS []any `json:"cls"`
	Sep []any `json:"sep"`
	// of TemplateProcessing
	Single []struct {
		SpecialToken *struct {
			ID string `json:"id"`
		} `json:"SpecialToken"`
	} `json:"single"`
	SpecialTokens map[string]struct {
		IDs []int32 `json:"ids"`
	} `json:"special_tokens"`
}

// lowercases reports whether the tokenizer turns text to lower case.
func (t *tokenizerFile) lowercases() bool {
	var n *component
	return json.Unmarshal(t.normalizer, &n) == nil && n != nil && n.lowercases()
}

func (c component) lowercases() bool {
	for _, n := range c.Normalizers {
		if n.lowercases() {
			return true
		}
	}
	return c.Type == "Lowercase" || c.Type == "BertNormalizer" && c.Lowercase
}

// frame returns the ids that the tokenizer puts in front of a text and behind
// it, -1 for none.
func (t *tokenizerFile) frame() (before, after int32, err error) {
	if len(t.post) == 0 {
		return -1, -1, nil
	}
	var c *component
	if err := json.Unmarshal(t.post, &c); err != nil {
		return 0, 0, fmt.Errorf("tokenizer.json: post_processor: %w", err)
	}
	if c == nil {
		return -1, -1, nil
	}
	if before, after, err = c.frame(); err != nil {
		return 0, 0, fmt.Errorf("tokenizer.json: post_processor: %w", err)
	}
	return before, after, nil
}

func (c component) frame() (before, after int32, err error) {
	before, after = -1, -1
	switch c.Type {
	case "ByteLevel":
	case "BertProcessing", "RobertaProcessing":
		if before, err = pairID(c.CLS); err == nil {
			after, err = pairID(c.Sep)
		}
	case "TemplateProcessing":
		return c.template()
	case "Sequence":
		for _, p := range c.Processors {
			b, a, err := p.frame()
			if err != nil {
				return 0, 0, err
			}
			if b >= 0 && before >= 0 || a >= 0 && after >= 0 {
				return 0, 0, errors.New("several parts add special tokens: want one")
			}
			before, after = max(before, b), max(after, a)
		}
	default:
		return 0, 0, fmt.Errorf("type %q: supported are TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel and a Sequence of them", c.Type)
	}
	return before, after, err
}

func (c component) template() (before, after int32, err error) {
	before, after = -1, -1
	text := false
	for _, piece := range c.Single {
		if piece.SpecialToken == nil {
			text = true
			continue
		}
		to := &before
		if text {
			to = &after
		}
		ids := c.SpecialTokens[piece.SpecialToken.ID].IDs
		if *to >= 0 || len(ids) != 1 || ids[0] < 0 {
			return 0, 0, errors.New("its template \"single\" adds several special tokens on one side of the text: want at most one")
		}
		*to = ids[0]
	}
	if !text {
		return 0, 0, errors.New("its template \"single\" has no place for the text")
	}
	return before, after, nil
}

// pairID reads the id out of a pair such as ["[CLS]", 101].
func pairID(pair []any) (int32, error) {
	if len(pair) == 2 {
		if id, ok := pair[1].(float64); ok && id >= 0 && id == float64(int32(id)) {
			return int32(id), nil
		}
	}
	return 0, fmt.Errorf("%v: want a pair of token and id", pair)
}

// special are the names of the tokens that have a role.
type special struct {
	CLS tokenName `json:"cls_token"`
	Sep tokenName `json:"sep_token"`
	EOS tokenName `json:"eos_token"`
	Pad tokenName `json:"pad_token"`
}

// loadSpecial reads the names from tokenizer_config.json and, for those that are
// not there, from special_tokens_map.json.
func loadSpecial(fsys fs.FS, dir string) (special, error) {
	var s special
	for _, file := range []string{"special_tokens_map.json", "tokenizer_config.json"} {
		if err := decodeOptional(fsys, path.Join(dir, file), false, &s); err != nil {
			return s, err
		}
	}
	return s, nil
}

// tokenName is a token by name: a string, or an object with its content.
type tokenName string

func (n *tokenName) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	if json.Unmarshal(data, (*string)(n)) == nil {
		return nil
	}
	var object struct {
		Content string `json:"content"`
	}
	if err := json.Unmarshal(data, &object); err != nil {
		return fmt.Errorf("token %s: want a string or an object with its content", data)
	}
	*n = tokenName(object.Content)
	return nil
}
