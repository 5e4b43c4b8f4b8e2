// Package modeldirtest makes small model directories for tests: a graph that
// looks tokens up in a table, and a word tokenizer.
package modeldirtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing/fstest"
)

// The tokenizer's special tokens. Words follow from FirstWord on.
const (
	Pad, Unk, CLS, Sep = 0, 1, 2, 3
	FirstWord          = 4
)

// Words are the tokenizer's words, in order of id.
var Words = []string{"a", "red", "green", "boat", "house", "query", "passage", ":"}

// Tokenizer returns a tokenizer.json that splits at blanks and punctuation,
// lower-cases, and frames a text with [CLS] and [SEP]. Truncation and padding
// are on, as some published files have them.
func Tokenizer() []byte {
	vocab := map[string]int{"[PAD]": Pad, "[UNK]": Unk, "[CLS]": CLS, "[SEP]": Sep}
	for i, w := range Words {
		vocab[w] = FirstWord + i
	}
	var added []any
	for id, name := range []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]"} {
		added = append(added, map[string]any{
			"id": id, "content": name, "single_word": false, "lstrip": false,
			"rstrip": false, "normalized": false, "special": true,
		})
	}
	return JSON(map[string]any{
		"version":        "1.0",
		"truncation":     map[string]any{"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0},
		"padding":        map[string]any{"strategy": map[string]any{"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": nil, "pad_id": Pad, "pad_type_id": 0, "pad_token": "[PAD]"},
		"added_tokens":   added,
		"normalizer":     map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true},
		"pre_tokenizer":  map[string]any{"type": "BertPreTokenizer"},
		"post_processor": map[string]any{"type": "BertProcessing", "sep": []any{"[SEP]", Sep}, "cls": []any{"[CLS]", CLS}},
		"decoder":        nil,
		"model":          map[string]any{"type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]"},
	})
}

// SentenceTransformers returns a directory as sentence-transformers 5.3 saves
// it, with mean pooling over the graph's states.
func SentenceTransformers(graph []byte, dim int) fstest.MapFS {
	return fstest.MapFS{
		"modules.json": {Data: JSON([]map[string]any{
			{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
			{"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
			{"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
		})},
		"1_Pooling/config.json": {Data: JSON(map[string]any{
			"word_embedding_dimension": dim, "pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true,
			"pooling_mode_max_tokens": false, "pooling_mode_mean_sqrt_len_tokens": false,
			"pooling_mode_weightedmean_tokens": false, "pooling_mode_lasttoken": false, "include_prompt": true,
		})},
		"sentence_bert_config.json": {Data: JSON(map[string]any{"max_seq_length": 32, "do_lower_case": false})},
		"tokenizer_config.json":     {Data: JSON(map[string]any{"sep_token": "[SEP]", "pad_token": map[string]any{"content": "[PAD]"}, "model_max_length": 1e30})},
		"config.json":               {Data: JSON(map[string]any{"model_type": "bert", "max_position_embeddings": 64})},
		"tokenizer.json":            {Data: Tokenizer()},
		"onnx/model.onnx":           {Data: graph},
	}
}

// Manifest returns a directory with a waymark.json for landmark pooling over
// the graph's states. Edit the map to taste and store it with JSON.
func Manifest(graph []byte, dim int) (fstest.MapFS, map[string]any) {
	sum := sha256.Sum256(graph)
	m := map[string]any{
		"format":     1,
		"name":       "tiny",
		"weights":    map[string]any{"file": "onnx/model.onnx", "sha256": hex.EncodeToString(sum[:])},
		"tokens":     map[string]any{"landmark": Sep, "cls": CLS, "pad": Pad, "separator": Sep},
		"max_length": 32,
		"dimension":  dim,
	}
	return fstest.MapFS{
		"waymark.json":    {Data: JSON(m)},
		"tokenizer.json":  {Data: Tokenizer()},
		"onnx/model.onnx": {Data: graph},
	}, m
}

// JSON is json.Marshal for values that cannot fail.
func JSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
