"""Checkpoints: safetensors under BERT's tensor names, with config.json and tokenizer.json."""

from __future__ import annotations

import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from .bert import Bert, BertConfig

WEIGHTS = ("model.safetensors", "model.fp16.safetensors")

_EMBEDDINGS = {
    "embeddings.words": "embeddings.word_embeddings",
    "embeddings.positions": "embeddings.position_embeddings",
    "embeddings.types": "embeddings.token_type_embeddings",
    "embeddings.norm": "embeddings.LayerNorm",
}
_LAYER = {
    "attention.query": "attention.self.query",
    "attention.key": "attention.self.key",
    "attention.value": "attention.self.value",
    "attention.output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "output_norm": "output.LayerNorm",
}


def bert_name(name: str) -> str:
    """BERT's name for one of our parameters."""
    module, _, kind = name.rpartition(".")
    if module in _EMBEDDINGS:
        return f"{_EMBEDDINGS[module]}.{kind}"
    _, number, part = module.split(".", 2)
    return f"encoder.layer.{number}.{_LAYER[part]}.{kind}"


def load(folder: Path) -> Bert:
    """Reads a checkpoint into single precision."""
    found = [folder / name for name in WEIGHTS if (folder / name).is_file()]
    if len(found) != 1:
        raise FileNotFoundError(f"{folder} has {len(found)} of the files {', '.join(WEIGHTS)}, want one")
    model = Bert(BertConfig.read(folder / "config.json"))
    # Checkpoints of whole models call the encoder "bert." and carry a pooler.
    stored = {name.removeprefix("bert."): tensor for name, tensor in load_file(found[0]).items()}
    state = {}
    for name in model.state_dict():
        if bert_name(name) not in stored:
            raise ValueError(f"{found[0]}: the tensor {bert_name(name)!r} is missing")
        state[name] = stored[bert_name(name)].float()
    model.load_state_dict(state)
    return model.eval()


def save(model: Bert, folder: Path, tokenizer: Path, half: bool = True) -> None:
    """Writes a checkpoint, in half precision unless told otherwise, with a copy of tokenizer.json.

    The folder must not hold one in the other precision already: load would not know which to take.
    """
    folder.mkdir(parents=True, exist_ok=True)
    dtype, name = (torch.float16, WEIGHTS[1]) if half else (torch.float32, WEIGHTS[0])
    tensors = {bert_name(key): value.to(dtype).contiguous() for key, value in model.state_dict().items()}
    save_file(tensors, folder / name)
    model.config.write(folder / "config.json")
    shutil.copyfile(tokenizer, folder / "tokenizer.json")
