"""Model directories: all that Waymark reads, and sentence-transformers' files beside it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy

from .bert import BertConfig
from .encode import encode, onnx_runner
from .graph import OUTPUT
from .layout import Range
from .spec import Spec
from .tokens import Tokenizer

GOLDEN = (
    "The harbour bridge was opened in 1932 and carries eight lanes of traffic. It is painted every ten years.\n\n",
    "Ferries to the islands leave from the north quay at seven in the morning; tickets are sold on board.\n\n",
    "Bread keeps best in a cloth bag. Re-heat it at 180 °C for five minutes.",
)
"""The chunks of the text whose vectors tell a wrong graph, tokenizer or setting."""


def write(out: Path, graph: str, checkpoint: Path, config: BertConfig, spec: Spec, quantised: bool) -> None:
    """Writes everything around the graph, which is at out/graph already."""
    _write_tokenizer(checkpoint, out, spec)
    config.write(out / "config.json", spec.pad)
    _write_sentence_transformers(out, spec)
    _write_manifest(out, graph, spec, quantised)


def _write_manifest(out: Path, graph: str, spec: Spec, quantised: bool) -> None:
    """Writes waymark.json; it needs the graph and tokenizer.json in place."""
    settings = {
        "format": 1,
        "name": spec.name,
        "weights": {"file": graph, "sha256": hashlib.sha256((out / graph).read_bytes()).hexdigest()},
        "output": OUTPUT,
        "tokens": {"landmark": spec.landmark, "cls": spec.cls, "pad": spec.pad, "separator": spec.landmark},
        "style": "paper",
        "pooling": "landmark",
        "base": "landmark",
        "interval": spec.interval,
        "max_length": spec.max_length,
        "dimension": spec.dimension,
        "prefixes": {"query": spec.query_prefix, "document": spec.document_prefix},
        # Activations are scaled by their range over the whole batch.
        "one_per_batch": quantised,
    }
    # On one line, or each number of the vectors would have its own.
    vectors = json.dumps(golden(out, graph, spec, quantised), ensure_ascii=False, separators=(",", ":"))
    body = json.dumps(settings, indent=2, ensure_ascii=False).removesuffix("\n}")
    (out / "waymark.json").write_text(f'{body},\n  "golden": {vectors}\n}}\n', encoding="utf-8")


def golden(out: Path, graph: str, spec: Spec, quantised: bool) -> dict[str, Any]:
    """The golden text with the vectors that this graph gives it."""
    text, chunks = "".join(GOLDEN), tiles(GOLDEN)
    got = encode(onnx_runner(out / graph), Tokenizer(out / "tokenizer.json"), spec, text, chunks)
    return {
        "text": text,
        "chunks": [{"start": start, "end": end} for start, end in chunks],
        "landmarks": [_numbers(vector) for vector in got.landmarks],
        "document": _numbers(got.document),
        # Processors with and without VNNI differ by 0.003 in an 8-bit graph; in
        # single precision the sums' order alone differs.
        "tolerance": 0.01 if quantised else 0.001,
    }


def tiles(parts: tuple[str, ...]) -> list[Range]:
    """The byte ranges of parts in the text that they make up."""
    ends = numpy.cumsum([len(part.encode()) for part in parts]).tolist()
    return list(zip([0, *ends], ends))


def _write_tokenizer(checkpoint: Path, out: Path, spec: Spec) -> None:
    tokenizer = json.loads((checkpoint / "tokenizer.json").read_text(encoding="utf-8"))
    # What a training run left switched on would cut and fill texts elsewhere.
    tokenizer |= {"truncation": None, "padding": None}
    compact = json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":"))
    (out / "tokenizer.json").write_text(compact, encoding="utf-8")
    special = {f"{name.lower()}_token": f"[{name}]" for name in ("CLS", "MASK", "PAD", "SEP", "UNK")}
    settings = special | {
        "do_lower_case": tokenizer["normalizer"]["lowercase"],
        "model_max_length": spec.max_length,
        "tokenizer_class": "BertTokenizer",
    }
    _write_json(out / "tokenizer_config.json", dict(sorted(settings.items())))


def _write_sentence_transformers(out: Path, spec: Spec) -> None:
    """The same settings in the words of the landmark pull request, #3642."""
    modules = (("0", "", "LandmarkTransformer"), ("1", "1_Pooling", "Pooling"), ("2", "2_Normalize", "Normalize"))
    _write_json(
        out / "modules.json",
        [
            {"idx": i, "name": name, "path": path, "type": f"sentence_transformers.models.{kind}"}
            for i, (name, path, kind) in enumerate(modules)
        ],
    )
    _write_json(
        out / "sentence_bert_config.json",
        {
            "max_seq_length": spec.max_length,
            "do_lower_case": False,
            "landmark_interval": spec.interval,
            "train_landmark_interval": None,
            "lmk_token_id": spec.landmark,
        },
    )
    _write_json(
        out / "config_sentence_transformers.json",
        {
            "model_type": "SentenceTransformer",
            "prompts": {"query": spec.query_prefix, "document": spec.document_prefix},
            "default_prompt_name": None,
            "similarity_fn_name": "cosine",
        },
    )
    others = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")
    (out / "1_Pooling").mkdir(exist_ok=True)
    _write_json(
        out / "1_Pooling" / "config.json",
        {
            "word_embedding_dimension": spec.dimension,
            **{f"pooling_mode_{mode}": False for mode in others},
            "pooling_mode_lmk": True,
            "lmk_token_id": spec.landmark,
            "include_prompt": True,
        },
    )


def _numbers(vector: numpy.ndarray) -> list[float]:
    return [round(float(x), 8) for x in vector]


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
