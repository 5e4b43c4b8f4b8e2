package modeldir_test

import (
	"encoding/json"
	"maps"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/modeldir"
	"github.com/waymark-rag/waymark/landmark/modeldir/modeldirtest"
)

// object is a JSON object.
type object = map[string]any

func modules(types ...string) []object {
	paths := []string{"", "1_Pooling", "2_Normalize"}
	var out []object
	for i, typ := range types {
		out = append(out, object{"idx": i, "name": "m", "path": paths[i], "type": typ})
	}
	return out
}

var (
	oldModules = modules("sentence_transformers.models.Transformer", "sentence_transformers.models.Pooling", "sentence_transformers.models.Normalize")
	newModules = modules("sentence_transformers.base.modules.transformer.Transformer", "sentence_transformers.sentence_transformer.modules.pooling.Pooling", "sentence_transformers.base.modules.normalize.Normalize")
	lmkModules = modules("sentence_transformers.models.LandmarkTransformer", "sentence_transformers.models.Pooling", "sentence_transformers.models.Normalize")
)

// legacy is a Pooling config with one boolean a mode, those named set.
func legacy(on ...string) object {
	c := object{
		"word_embedding_dimension": 3, "pooling_mode_cls_token": false, "pooling_mode_mean_tokens": false,
		"pooling_mode_max_tokens": false, "pooling_mode_mean_sqrt_len_tokens": false,
		"pooling_mode_weightedmean_tokens": false, "pooling_mode_lasttoken": false, "include_prompt": true,
	}
	for _, mode := range on {
		c["pooling_mode_"+mode] = true
	}
	return c
}

// with returns o with some keys changed.
func with(o object, changes object) object {
	out := maps.Clone(o)
	maps.Copy(out, changes)
	return out
}

// dir is the plain directory with some files changed; nil removes one.
func dir(files map[string]any) fstest.MapFS {
	out := modeldirtest.SentenceTransformers(graph.Bytes(), 3)
	for name, v := range files {
		delete(out, name)
		if v != nil {
			out[name] = &fstest.MapFile{Data: modeldirtest.JSON(v)}
		}
	}
	return out
}

// tokenizerWith is the test tokenizer with some top-level keys changed.
func tokenizerWith(t *testing.T, changes object) object {
	t.Helper()
	var o object
	if err := json.Unmarshal(modeldirtest.Tokenizer(), &o); err != nil {
		t.Fatal(err)
	}
	return with(o, changes)
}

func TestSentenceTransformers(t *testing.T) {
	plain := landmark.Config{
		Pooling: landmark.Naive, Base: landmark.Mean,
		Landmark: -1, CLS: modeldirtest.CLS, Pad: modeldirtest.Pad, Separator: modeldirtest.Sep,
		MaxLength: 32, Dim: 3,
	}
	config := func(change func(c *landmark.Config)) landmark.Config {
		c := plain
		change(&c)
		return c
	}
	marked := config(func(c *landmark.Config) {
		c.Style, c.Pooling, c.Base = landmark.ST, landmark.Landmark, landmark.Landmark
		c.Landmark, c.Interval = modeldirtest.Sep, 32
	})
	for _, c := range []struct {
		name  string
		files map[string]any
		want  landmark.Config
		notes int
	}{
		{name: "old dialect", want: plain},
		{name: "old cls", files: map[string]any{"1_Pooling/config.json": legacy("cls_token")},
			want: config(func(c *landmark.Config) { c.Base = landmark.CLS })},
		{name: "new dialect", files: map[string]any{
			"modules.json":              newModules,
			"1_Pooling/config.json":     object{"embedding_dimension": 3, "pooling_mode": "cls", "include_prompt": true},
			"2_Normalize/config.json":   object{"module_input_name": "sentence_embedding", "module_output_name": "sentence_embedding"},
			"sentence_bert_config.json": object{"transformer_task": "feature-extraction", "modality_config": object{"text": object{"method": "forward", "method_output_name": "last_hidden_state"}}, "module_output_name": "token_embeddings", "unpad_inputs": true},
			"tokenizer_config.json":     object{"pad_token": "[PAD]", "model_max_length": 48},
			"config_sentence_transformers.json": object{"model_type": "SentenceTransformer", "similarity_fn_name": "cosine", "truncate_dim": nil,
				"prompts": object{"query": "query: ", "passage": "passage: "}, "default_prompt_name": nil},
		}, want: config(func(c *landmark.Config) {
			c.Base, c.MaxLength, c.QueryPrefix, c.DocumentPrefix = landmark.CLS, 48, "query: ", "passage: "
		})},
		{name: "list of one mode", files: map[string]any{"1_Pooling/config.json": object{"embedding_dimension": 3, "pooling_mode": []string{"mean"}}}, want: plain},
		{name: "default prompt", files: map[string]any{"config_sentence_transformers.json": object{"prompts": object{"p": "query: "}, "default_prompt_name": "p"}},
			want: config(func(c *landmark.Config) { c.QueryPrefix, c.DocumentPrefix = "query: ", "query: " })},
		{name: "no normalisation, dot product", files: map[string]any{
			"modules.json":                      oldModules[:2],
			"config_sentence_transformers.json": object{"similarity_fn_name": "dot"},
		}, want: plain, notes: 2},
		{name: "length of the config", files: map[string]any{"sentence_bert_config.json": nil}, want: config(func(c *landmark.Config) { c.MaxLength = 64 })},
		{name: "length of roberta", files: map[string]any{
			"sentence_bert_config.json": nil, "config.json": object{"model_type": "roberta", "max_position_embeddings": 66, "pad_token_id": 1},
		}, want: config(func(c *landmark.Config) { c.MaxLength = 64 })},
		{name: "names in the map", files: map[string]any{
			"tokenizer_config.json": object{}, "special_tokens_map.json": object{"pad_token": object{"content": "[PAD]"}, "cls_token": nil},
		}, want: plain},
		{name: "no pad token", files: map[string]any{"tokenizer_config.json": nil}, want: config(func(c *landmark.Config) { c.Pad = -1 })},
		{name: "landmarks", files: map[string]any{
			"modules.json": lmkModules, "1_Pooling/config.json": with(legacy("lmk"), object{"lmk_token_id": -1}),
		}, want: marked},
		{name: "landmark id of the pooling", files: map[string]any{
			"modules.json": lmkModules, "1_Pooling/config.json": with(legacy("lmk"), object{"lmk_token_id": 3}), "tokenizer_config.json": object{"pad_token": "[PAD]"},
		}, want: marked},
		{name: "landmark keys", files: map[string]any{
			"modules.json": lmkModules, "1_Pooling/config.json": with(legacy("lmk"), object{"lmk_token_id": 2}),
			"sentence_bert_config.json": object{"max_seq_length": 16, "landmark_interval": 8, "train_landmark_interval": []int{8, 16}, "lmk_token_id": 3},
		}, want: func() landmark.Config { c := marked; c.MaxLength, c.Interval = 16, 8; return c }(), notes: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec, err := modeldir.Load(dir(c.files))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, spec.Config); diff != "" {
				t.Errorf("config differs (-want +got):\n%s", diff)
			}
			if len(spec.Notes) != c.notes {
				t.Errorf("notes %q, want %d", spec.Notes, c.notes)
			}
		})
	}
}

func TestSentenceTransformersRefusals(t *testing.T) {
	const pooling, bert, prompts = "1_Pooling/config.json", "sentence_bert_config.json", "config_sentence_transformers.json"
	for _, c := range []struct {
		name  string
		files map[string]any
		words []string
	}{
		{"dense", map[string]any{"modules.json": append(oldModules[:2:2], object{"idx": 3, "path": "2_Dense", "type": "sentence_transformers.models.Dense"})}, []string{"models.Dense", "supported are"}},
		{"own class", map[string]any{"modules.json": append([]object{{"idx": 0, "type": "custom.Transformer"}}, oldModules[1:]...)}, []string{"custom.Transformer"}},
		{"no pooling", map[string]any{"modules.json": oldModules[:1]}, []string{"modules.json", "then Pooling"}},
		{"order", map[string]any{"modules.json": []object{oldModules[1], with(oldModules[0], object{"idx": 2})}}, []string{"then Pooling"}},
		{"path outside", map[string]any{"modules.json": []object{with(oldModules[0], object{"path": "../x"})}}, []string{`"../x"`}},
		{"multi-vector normalisation", map[string]any{"2_Normalize/config.json": object{"module_input_name": "token_embeddings"}}, []string{"module_input_name", "token_embeddings"}},

		{"max", map[string]any{pooling: legacy("max_tokens")}, []string{pooling, `"max_tokens"`, "cls, mean and lmk"}},
		{"square root", map[string]any{pooling: legacy("mean_sqrt_len_tokens")}, []string{"mean_sqrt_len_tokens"}},
		{"weighted mean", map[string]any{pooling: legacy("weightedmean_tokens")}, []string{"weightedmean_tokens"}},
		{"last token", map[string]any{pooling: object{"embedding_dimension": 3, "pooling_mode": "lasttoken"}}, []string{`"lasttoken"`}},
		{"concatenation", map[string]any{pooling: legacy("cls_token", "mean_tokens")}, []string{"cls_token", "mean_tokens"}},
		{"list", map[string]any{pooling: object{"embedding_dimension": 3, "pooling_mode": []string{"cls", "max"}}}, []string{"cls", "max"}},
		{"all false", map[string]any{pooling: legacy()}, []string{pooling, "[]", "supported"}},
		{"unknown key", map[string]any{pooling: with(legacy("mean_tokens"), object{"pooling_mode_new": false})}, []string{"pooling_mode_new", "not known"}},
		{"no mode", map[string]any{pooling: object{"embedding_dimension": 3, "pooling_mode": nil}}, []string{`pooling mode ""`}},
		{"wrong type", map[string]any{pooling: with(legacy(), object{"pooling_mode_mean_tokens": "yes"})}, []string{"pooling_mode_mean_tokens"}},
		{"no dimension", map[string]any{pooling: object{"pooling_mode": "mean"}}, []string{"embedding_dimension"}},
		{"missing pooling config", map[string]any{pooling: nil}, []string{pooling}},
		{"prompt excluded", map[string]any{
			pooling: with(legacy("mean_tokens"), object{"include_prompt": false}), prompts: object{"prompts": object{"query": "query: "}},
		}, []string{"include_prompt"}},

		{"early landmark draft", map[string]any{bert: object{"splitter_granularity": 32}}, []string{bert, "splitter_granularity", "waymark.json"}},
		{"query expansion", map[string]any{bert: object{"query_expansion": object{"length": 32}}}, []string{"query_expansion"}},
		{"other task", map[string]any{bert: object{"transformer_task": "fill-mask"}}, []string{"transformer_task", "fill-mask"}},
		{"other output", map[string]any{bert: object{"modality_config": object{"text": object{"method_output_name": "pooler_output"}}}}, []string{"pooler_output"}},
		{"keeps case", map[string]any{bert: object{"do_lower_case": true}, "tokenizer.json": tokenizerWith(t, object{"normalizer": object{"type": "NFC"}})}, []string{"do_lower_case"}},
		{"no length", map[string]any{bert: nil, "config.json": nil}, []string{"maximum length"}},
		{"short length", map[string]any{bert: object{"max_seq_length": 2}}, []string{"max length 2"}},

		{"landmarks without transformer", map[string]any{pooling: legacy("lmk")}, []string{"pooling_mode_lmk", "LandmarkTransformer"}},
		{"transformer without landmarks", map[string]any{"modules.json": lmkModules}, []string{"LandmarkTransformer", "mean"}},
		{"landmark that does not close", map[string]any{"modules.json": lmkModules, pooling: legacy("lmk"), bert: object{"lmk_token_id": 7}}, []string{"landmark token id 7"}},
		{"landmark is pad", map[string]any{"modules.json": lmkModules, pooling: legacy("lmk"), "tokenizer_config.json": object{"pad_token": "[SEP]", "sep_token": "[SEP]", "model_max_length": 32}}, []string{"padding id"}},
		{"interval", map[string]any{"modules.json": lmkModules, pooling: legacy("lmk"), bert: object{"landmark_interval": 0}}, []string{"landmark_interval 0"}},

		{"model type", map[string]any{prompts: object{"model_type": "MultiVectorEncoder"}}, []string{"MultiVectorEncoder"}},
		{"shortened", map[string]any{prompts: object{"truncate_dim": 2}}, []string{"truncate_dim 2"}},
		{"wrong JSON", map[string]any{prompts: "x"}, []string{prompts}},
		{"token name", map[string]any{"tokenizer_config.json": object{"pad_token": 3}}, []string{"token 3"}},

		{"post-processor", map[string]any{"tokenizer.json": tokenizerWith(t, object{"post_processor": object{"type": "New"}})}, []string{"post_processor", `"New"`}},
		{"two frames", map[string]any{"tokenizer.json": tokenizerWith(t, object{"post_processor": object{"type": "Sequence", "processors": []object{
			{"type": "BertProcessing", "cls": []any{"c", 1}, "sep": []any{"s", 2}}, {"type": "RobertaProcessing", "cls": []any{"c", 1}, "sep": []any{"s", 2}},
		}}})}, []string{"several parts"}},
		{"pair", map[string]any{"tokenizer.json": tokenizerWith(t, object{"post_processor": object{"type": "BertProcessing", "cls": []any{"c"}}})}, []string{"pair"}},
		{"cls pooling without cls", map[string]any{pooling: legacy("cls_token"), "tokenizer.json": tokenizerWith(t, object{"post_processor": nil})}, []string{"needs a CLS token"}},
		{"no graph", map[string]any{"onnx/model.onnx": nil}, []string{"onnx/model.onnx", "export"}},
		{"several graphs", map[string]any{"onnx/model.onnx": nil, "onnx/model_O1.onnx": 1, "onnx/model_O2.onnx": 1}, []string{"model_O1.onnx", "model_O2.onnx", "waymark.json"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := modeldir.Load(dir(c.files))
			wantError(t, err, c.words...)
		})
	}
}

// TestFrame reads what a tokenizer puts around a text.
func TestFrame(t *testing.T) {
	special := func(id string) object { return object{"SpecialToken": object{"id": id, "type_id": 0}} }
	text := object{"Sequence": object{"id": "A", "type_id": 0}}
	ids := object{"<s>": object{"ids": []int{5}}, "</s>": object{"ids": []int{6}}, "two": object{"ids": []int{1, 2}}}
	template := func(single ...object) object {
		return object{"type": "TemplateProcessing", "single": single, "special_tokens": ids}
	}
	for _, c := range []struct {
		name        string
		post        any
		cls, closes int32
		err         string
	}{
		{"none", nil, -1, -1, ""},
		{"byte level", object{"type": "ByteLevel"}, -1, -1, ""},
		{"both", template(special("<s>"), text, special("</s>")), 5, 6, ""},
		{"close only", template(text, special("</s>")), -1, 6, ""},
		{"sequence", object{"type": "Sequence", "processors": []object{{"type": "ByteLevel"}, template(special("<s>"), text)}}, 5, -1, ""},
		{"roberta", object{"type": "RobertaProcessing", "cls": []any{"<s>", 0}, "sep": []any{"</s>", 2}}, 0, 2, ""},
		{"two in front", template(special("<s>"), special("<s>"), text), 0, 0, "at most one"},
		{"of two ids", template(special("two"), text), 0, 0, "at most one"},
		{"unknown", template(special("?"), text), 0, 0, "at most one"},
		{"no text", template(special("<s>")), 0, 0, "no place for the text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec, err := modeldir.Load(dir(map[string]any{"tokenizer.json": tokenizerWith(t, object{"post_processor": c.post})}))
			if c.err != "" {
				wantError(t, err, c.err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if spec.Config.CLS != c.cls || spec.Config.Separator != c.closes {
				t.Errorf("frame %d and %d, want %d and %d", spec.Config.CLS, spec.Config.Separator, c.cls, c.closes)
			}
		})
	}
}

// TestPadOfUnigram finds a token in a vocabulary that is a list.
func TestPadOfUnigram(t *testing.T) {
	spec, err := modeldir.Load(dir(map[string]any{
		"tokenizer.json": tokenizerWith(t, object{
			"added_tokens": nil, "model": object{"type": "Unigram", "vocab": [][]any{{"<unk>", 0}, {"[PAD]", -1.5}}},
		}),
	}))
	if err != nil {
		t.Fatal(err)
	}
	if spec.Config.Pad != 1 {
		t.Errorf("pad id %d, want 1", spec.Config.Pad)
	}
}
