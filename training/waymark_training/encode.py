"""Vectors for texts, from a model in torch or a graph in ONNX Runtime."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy
import onnxruntime
import torch

from .bert import Bert
from .graph import OUTPUT
from .layout import Batch, Range, Window, batch, windows
from .spec import Spec
from .tokens import Tokenizer

Runner = Callable[[Batch], numpy.ndarray]
"""Gives the raw states at a batch's positions, [B, N, H]."""


@dataclasses.dataclass(frozen=True)
class Embedding:
    """A text's windows, the unit vector of each chunk, and its own unit vector."""

    windows: list[Window]
    landmarks: numpy.ndarray
    document: numpy.ndarray


def onnx_runner(graph: Path | bytes, threads: int = 0) -> Runner:
    """Runs a graph, with the inputs and the output that Waymark feeds and reads, on the CPU.

    0 threads stand for as many as there are cores.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    source = graph if isinstance(graph, bytes) else str(graph)
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    return lambda b: session.run(
        [OUTPUT],
        {"input_ids": b.ids, "attention_mask": b.mask, "landmark_positions": b.positions},
    )[0]


def torch_runner(model: Bert) -> Runner:
    """Runs a model in torch, without gradients or dropout."""

    def run(b: Batch) -> numpy.ndarray:
        model.eval()
        with torch.inference_mode():
            states = model(torch.from_numpy(b.ids), torch.from_numpy(b.mask)).numpy()
        return numpy.take_along_axis(states, b.positions[:, :, None], axis=1)

    return run


def encode(
    run: Runner, tokenizer: Tokenizer, spec: Spec, text: str, chunks: Sequence[Range], query: bool = False
) -> Embedding:
    """Encodes a text in chunks that tile its bytes, one window at a time.

    The vector of a chunk in several windows is the mean of its landmarks; the
    document's is the mean of the chunks', before they are scaled to length 1.
    """
    size = len(text.encode())
    laid = windows(tokenizer.tokens(text), chunks, size, spec.frame(tokenizer, query))
    raw = numpy.zeros((len(chunks), spec.dimension))
    parts = numpy.zeros((len(chunks), 1))
    for window in laid:
        states = run(batch([window], spec.pad))[0]
        numpy.add.at(raw, window.chunks, states)
        numpy.add.at(parts, window.chunks, 1)
    raw /= parts
    return Embedding(laid, unit(raw), unit(raw.mean(axis=0)))


def unit(vectors: numpy.ndarray) -> numpy.ndarray:
    """Scales vectors to length 1, in single precision."""
    return (vectors / numpy.linalg.norm(vectors, axis=-1, keepdims=True)).astype(numpy.float32)
