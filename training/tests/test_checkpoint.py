import pytest
import torch
from safetensors.torch import load_file, save_file

from waymark_training import checkpoint
from waymark_training.bert import BertConfig


def test_round_trip(model, saved):
    loaded = checkpoint.load(saved)
    assert loaded.config == model.config
    for name, value in model.state_dict().items():
        assert torch.equal(value, loaded.state_dict()[name]), name


def test_half_precision_is_rounded_and_read_as_single(model, tokenizer_file, tmp_path):
    checkpoint.save(model, tmp_path, tokenizer_file)
    loaded = checkpoint.load(tmp_path)
    for name, value in model.state_dict().items():
        assert torch.equal(value.half().float(), loaded.state_dict()[name]), name


def test_names_are_berts(saved):
    names = set(load_file(saved / "model.safetensors"))
    assert "embeddings.LayerNorm.weight" in names
    assert "encoder.layer.2.attention.output.LayerNorm.bias" in names
    assert "encoder.layer.0.intermediate.dense.weight" in names


def test_names_of_whole_models_are_read(saved, tmp_path):
    tensors = load_file(saved / "model.safetensors")
    whole = {f"bert.{name}": x for name, x in tensors.items()} | {"cls.bias": torch.zeros(1)}
    save_file(whole, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_bytes((saved / "config.json").read_bytes())
    assert checkpoint.load(tmp_path).config.num_hidden_layers == 3


def test_refusals(saved, tmp_path):
    with pytest.raises(FileNotFoundError, match="has 0 of the files"):
        checkpoint.load(tmp_path)
    tensors = load_file(saved / "model.safetensors")
    del tensors["encoder.layer.1.output.dense.bias"]
    save_file(tensors, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_bytes((saved / "config.json").read_bytes())
    with pytest.raises(ValueError, match="encoder.layer.1.output.dense.bias"):
        checkpoint.load(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "roberta"}')
    with pytest.raises(ValueError, match="model_type is 'roberta', want 'bert'"):
        checkpoint.load(tmp_path)
    with pytest.raises(ValueError, match="hidden_size 10"):
        BertConfig(hidden_size=10, num_attention_heads=3)
