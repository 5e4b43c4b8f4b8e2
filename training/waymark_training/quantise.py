"""8-bit graphs: weights per channel, activations while the graph runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy
import onnx
from onnxruntime.quantization import QuantType, quantize_dynamic

from .encode import Runner, encode
from .graph import FLOAT
from .layout import intervals
from .spec import Spec
from .tokens import Tokenizer


def quantise(graph: onnx.ModelProto, path: Path, exclude: Sequence[str] = ()) -> None:
    """Writes the graph in 8 bits, except for the nodes named and those that are to stay in floating point."""
    names = [node.name for node in graph.graph.node]
    unknown = sorted(set(exclude) - set(names))
    if unknown:
        raise ValueError(f"the graph has no node {unknown[0]!r} to exclude")
    path.parent.mkdir(parents=True, exist_ok=True)
    quantize_dynamic(
        graph,
        path,
        per_channel=True,
        weight_type=QuantType.QInt8,
        nodes_to_exclude=[*exclude, *(name for name in names if name.endswith(FLOAT))],
        # What leaves contributed operators has no inferred type.
        extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
    )
    quantised = onnx.load(path)
    _order(quantised.graph)
    onnx.checker.check_model(quantised)
    onnx.save(quantised, path)


def _order(graph: onnx.GraphProto) -> None:
    """Puts each node after those it needs.

    The quantiser's own order overlooks what the branches of an If take from outside.
    """
    makers = {name: node for node in graph.node for name in node.output}
    ordered: dict[str, onnx.NodeProto] = {}

    def place(node: onnx.NodeProto) -> None:
        if node.output[0] in ordered:
            return
        for name in _needs(node):
            if name in makers:
                place(makers[name])
        ordered[node.output[0]] = node

    for node in graph.node:
        place(node)
    nodes = list(ordered.values())
    del graph.node[:]
    graph.node.extend(nodes)


def _needs(node: onnx.NodeProto) -> list[str]:
    branches = [attribute.g for attribute in node.attribute if attribute.type == onnx.AttributeProto.GRAPH]
    return [*node.input, *(name for branch in branches for inner in branch.node for name in _needs(inner))]


@dataclasses.dataclass(frozen=True)
class Drift:
    """Cosines of a graph's unit vectors to those of another, over landmarks and over documents."""

    landmarks: numpy.ndarray
    documents: numpy.ndarray

    def __str__(self) -> str:
        def line(kind: str, cosines: numpy.ndarray) -> str:
            return f"{len(cosines)} {kind}: cosine {cosines.mean():.5f} on average, {cosines.min():.5f} at least"

        return "; ".join((line("landmarks", self.landmarks), line("documents", self.documents)))


def drift(
    reference: Runner, other: Runner, tokenizer: Tokenizer, spec: Spec, texts: Sequence[str], every: int = 64
) -> Drift:
    """Compares two ways to run a model on texts in chunks of so many tokens."""
    landmarks, documents = [], []
    for text in texts:
        chunks = intervals(tokenizer.tokens(text), len(text.encode()), every)
        want, got = (encode(run, tokenizer, spec, text, chunks) for run in (reference, other))
        landmarks.append((want.landmarks * got.landmarks).sum(axis=1))
        documents.append(want.document @ got.document)
    return Drift(numpy.concatenate(landmarks), numpy.array(documents))
