"""Checkpoints as model directories."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import numpy
import onnx

from . import checkpoint, modeldir
from .bert import Bert
from .encode import Runner, onnx_runner, torch_runner
from .graph import build
from .layout import Batch, batch, intervals, windows
from .outliers import neutral, plan
from .quantise import drift, quantise
from .spec import Spec
from .tokens import Tokenizer

GRAPHS = {"fp32": "onnx/model.onnx", "int8": "onnx/model_qint8.onnx"}
TOLERANCE = 1e-5

log = logging.getLogger(__name__)


def export(source: Path, out: Path, name: str, precision: str) -> None:
    """Writes the model directory of a checkpoint, in precision fp32 or int8."""
    model = checkpoint.load(source)
    tokenizer = Tokenizer(source / "tokenizer.json")
    spec = Spec.of(name, tokenizer, model.config)
    file = GRAPHS[precision]
    (out / file).parent.mkdir(parents=True, exist_ok=True)
    if precision == "fp32":
        graph = checked(model, build(model, neutral(model)))
        onnx.save(graph, out / file)
    else:
        texts = calibration_texts()
        graph = checked(model, build(model, plan(model, calibration(tokenizer, spec, texts))))
        quantise(graph, out / file)
        found = drift(torch_runner(model), onnx_runner(out / file), tokenizer, spec, texts)
        log.info("8 bits against full precision, %s", found)
    modeldir.write(out, file, source, model.config, spec, quantised=precision == "int8")
    log.info("wrote %s", out)


def checked(model: Bert, graph: onnx.ModelProto) -> onnx.ModelProto:
    """Returns the graph if it computes what the model does, else raises ValueError."""
    worst = difference(model, onnx_runner(graph.SerializeToString()))
    log.info("the graph differs from torch by %.2g at most", worst)
    if not worst <= TOLERANCE:
        raise ValueError(f"the graph differs from torch by {worst:.2g}, want at most {TOLERANCE}")
    return graph


def difference(model: Bert, run: Runner) -> float:
    """The largest difference to torch over the states of random batches, with and without padding."""
    reference = torch_runner(model)
    longest = model.config.max_position_embeddings
    worst = 0.0
    for rows, length in ((1, 1), (1, 7), (3, longest // 3), (2, longest)):
        example = random_batch(model, rows, length)
        worst = max(worst, float(numpy.abs(run(example) - reference(example)).max()))
    return worst


def random_batch(model: Bert, rows: int, length: int) -> Batch:
    """Random ids; the first row is full, each other is padded by a length of its own."""
    ids = numpy.random.default_rng(length).integers(model.config.vocab_size, size=(rows, length))
    mask = numpy.ones_like(ids)
    for row in range(1, rows):
        mask[row, length - length * row // (rows + 1) :] = 0
    positions = numpy.stack([numpy.zeros(rows, dtype=ids.dtype), mask.sum(axis=1) - 1], axis=1)
    return Batch(ids * mask, mask, positions)


def calibration_texts() -> list[str]:
    """Short texts of many kinds that come with the package."""
    return resources.files(__package__).joinpath("calibration.txt").read_text(encoding="utf-8").split("\n---\n")


def calibration(tokenizer: Tokenizer, spec: Spec, texts: list[str]) -> Iterator[Batch]:
    """Texts as documents, each window a batch."""
    for text in texts:
        tokens, size = tokenizer.tokens(text), len(text.encode())
        for window in windows(tokens, intervals(tokens, size, 64), size, spec.frame(tokenizer)):
            yield batch([window], spec.pad)
