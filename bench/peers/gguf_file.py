"""A BERT as the file that llama.cpp reads."""
import json

import gguf

SPACE = "\u2581"  # in front of what begins a word, in the vocabularies of llama.cpp
TYPES = {"f32": gguf.GGMLQuantizationType.F32, "q8_0": gguf.GGMLQuantizationType.Q8_0}
FILES = {"f32": gguf.LlamaFileType.ALL_F32, "q8_0": gguf.LlamaFileType.MOSTLY_Q8_0}


def write(folder, weights, kind):
    """Writes folder/KIND.gguf from weights under Hugging Face's names: kind is f32 or q8_0."""
    config = json.loads((folder / "config.json").read_text())
    out = gguf.GGUFWriter(folder / f"{kind}.gguf", "bert")
    out.add_file_type(FILES[kind])
    out.add_context_length(config["max_position_embeddings"])
    out.add_embedding_length(config["hidden_size"])
    out.add_block_count(config["num_hidden_layers"])
    out.add_feed_forward_length(config["intermediate_size"])
    out.add_head_count(config["num_attention_heads"])
    out.add_layer_norm_eps(config["layer_norm_eps"])
    out.add_causal_attention(False)
    out.add_pooling_type(gguf.PoolingType.MEAN)
    vocabulary(out, json.loads((folder / "tokenizer.json").read_text()))
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, config["num_hidden_layers"])
    for name, value in weights.items():
        if name.startswith("pooler."):
            continue
        target = names.get_name(name, try_suffixes=(".weight", ".bias"))
        # As in llama.cpp's own converter; positions and types are added, which 8 bits do not allow.
        if value.ndim == 2 and kind != "f32" and not name.startswith(("embeddings.position", "embeddings.token_type")):
            out.add_tensor(target, gguf.quants.quantize(value, TYPES[kind]), raw_dtype=TYPES[kind])
        else:
            out.add_tensor(target, value)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def vocabulary(out, tokenizer):
    """Adds the words of a WordPiece tokenizer."""
    ids = tokenizer["model"]["vocab"]
    special = {t["content"] for t in tokenizer["added_tokens"] if t["special"]}
    tokens, types = [], []
    for token in sorted(ids, key=ids.get):
        types.append(gguf.TokenType.CONTROL if token in special else gguf.TokenType.NORMAL)
        if token in special:
            tokens.append(token)
        else:
            tokens.append(token[2:] if token.startswith("##") else SPACE + token)
    out.add_tokenizer_model("bert")
    out.add_tokenizer_pre("default")
    out.add_token_list(tokens)
    out.add_token_types(types)
    out.add_token_type_count(2)
    for name in ("sep", "pad", "unk", "mask"):
        getattr(out, f"add_{name}_token_id")(ids[f"[{name.upper()}]"])
    out.add_bos_token_id(ids["[CLS]"])
    out.add_eos_token_id(ids["[SEP]"])
    out.add_add_bos_token(True)
    out.add_add_eos_token(True)
