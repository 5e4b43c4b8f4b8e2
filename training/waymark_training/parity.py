"""Fixtures that hold the Go side to this one: what is fed for a text, and what comes out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy

from . import checkpoint
from .encode import encode, onnx_runner, torch_runner
from .layout import intervals
from .spec import Spec
from .tokens import Tokenizer

NOTE = (
    "windows here do not overlap; chunk_token_byte_ranges run from the first to the last token of a chunk"
    " (gaps between chunks are whitespace to be given to a neighbour); literal special tokens are plain text"
)


def write(source: Path, graph: Path, cases: Path, out: Path) -> None:
    """Writes the fixture of a checkpoint and its 8-bit graph for the texts of an earlier one."""
    model = checkpoint.load(source)
    tokenizer = Tokenizer(source / "tokenizer.json")
    spec = Spec.of(source.name, tokenizer, model.config)
    full, quantised = torch_runner(model), onnx_runner(graph)

    def fixture(kind: str, text: str, every: int) -> dict[str, Any]:
        tokens, size = tokenizer.tokens(text), len(text.encode())
        chunks = intervals(tokens, size, every)
        parts = [[t for t in tokens if start <= t.start < end] for start, end in chunks]
        want = encode(full, tokenizer, spec, text, chunks, query=kind == "query")
        got = encode(quantised, tokenizer, spec, text, chunks, query=kind == "query")
        return {
            "kind": kind,
            "text": text,
            "chunk_tokens": every,
            "chunk_token_byte_ranges": [[part[0].start, part[-1].end] for part in parts],
            "windows": [{"ids": window.ids, "landmark_positions": window.landmarks} for window in want.windows],
            "landmarks_fp32": _numbers(want.landmarks),
            "document_fp32": _numbers(want.document),
            "landmarks_int8": _numbers(got.landmarks),
        }

    earlier = json.loads(cases.read_text(encoding="utf-8"))["cases"]
    fixtures = [fixture(case["kind"], case["text"], case["chunk_tokens"]) for case in earlier]
    out.write_text(json.dumps({"note": NOTE, "cases": fixtures}), encoding="utf-8")


def _numbers(vectors: numpy.ndarray) -> list:
    return vectors.astype(float).round(6).tolist()
