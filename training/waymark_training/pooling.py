"""The ways to make vectors of a document's chunks that are compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy
import torch
from torch import Tensor

from . import checkpoint
from .batches import Group, Row, landmark_row
from .encode import onnx_runner
from .layout import Batch, Frame, Range, blocks, even_room, intervals, spans, windows
from .spec import Spec
from .tokens import Token, Tokenizer
from .vectors import alone, at_heads, at_landmarks, best_device, chunk_means, row_vectors, unit

READ: dict[str, Callable[[Tensor, Group], Tensor]] = {
    "landmark": at_landmarks,
    "naive": chunk_means,
    "late": chunk_means,
    "truncated": chunk_means,
    "cls": at_heads,
    "multicls": at_heads,
}
"""How each mode takes the vectors of rows' parts from their states."""
MODES = tuple(READ)


@dataclasses.dataclass(frozen=True)
class Encoder:
    """A model with a way to make vectors.

    landmark  the states of chunks' landmarks
    naive     each chunk encoded alone, the mean of its states
    late      the means of chunks' own states in windows of several chunks
    truncated one vector for what fits one window, the mean of all its states
    cls       one vector for what fits one window, the state of its [CLS]
    multicls  the states of a [CLS] in front of each chunk
    """

    vectors: Callable[[Sequence[Row]], list[Tensor]]
    """The raw vectors of each row's parts."""
    tokenizer: Tokenizer
    spec: Spec
    mode: str
    overlap: int = 0
    """Tokens that landmark's windows overlap by."""

    def queries(self, texts: Sequence[str]) -> Tensor:
        """The unit vectors of questions."""
        frame = self.spec.frame(self.tokenizer, query=True)
        rows = []
        for text in texts:
            row = alone(self.tokenizer.ids(text)[: frame.room - 1], frame)
            rows.append(dataclasses.replace(row, landmarks=[len(row.ids) - 1]))
        return unit(torch.cat(self.vectors(rows))).cpu()

    def documents(self, texts: Sequence[str], every: int) -> tuple[list[list[Range]], list[Tensor]]:
        """Each document's chunks in bytes, and their raw vectors."""
        frame = self.spec.frame(self.tokenizer)
        ranges, rows, counts = [], [], []
        for text in texts:
            found, laid = self._rows(text, every, frame)
            ranges.append(found)
            rows += laid
            counts.append(len(found))
        return ranges, list(torch.cat(self.vectors(rows)).cpu().split(counts))

    def _rows(self, text: str, every: int, frame: Frame) -> tuple[list[Range], list[Row]]:
        tokens, size = self.tokenizer.tokens(text), len(text.encode())
        if self.mode in ("truncated", "cls"):
            read = tokens[: frame.room - 1]
            return [(0, read[-1].end if read else 0)], [alone([t.id for t in read], frame)]
        chunks = intervals(tokens, size, every)
        if self.mode == "landmark":
            laid = windows(tokens, chunks, size, frame, alike=True, overlap=self.overlap)
            return chunks, [landmark_row(window, frame) for window in laid]
        if self.mode == "late":
            return chunks, late_rows(tokens, chunks, size, frame)
        if self.mode == "multicls":
            return chunks, headed_rows(tokens, chunks, size, frame)
        return chunks, [alone(ids, frame) for _, ids in blocks(tokens, chunks, size, frame.room - 1)]


def open_encoder(source: Path, mode: str, window: int = 0, overlap: int = 0, graph: Path | None = None) -> Encoder:
    """Opens a checkpoint, or an exported graph of it.

    window is the most tokens of a pass, 0 for what the model was trained on.
    """
    tokenizer = Tokenizer(source / "tokenizer.json")
    model = checkpoint.load(source).to(best_device())
    spec = Spec.of(source.name, tokenizer, model.config)
    if window:
        spec = dataclasses.replace(spec, max_length=window)
    if not graph:
        return Encoder(lambda rows: row_vectors(model, rows, spec.pad, READ[mode]), tokenizer, spec, mode, overlap)
    if mode != "landmark":
        raise ValueError(f"a graph gives the states of landmarks alone: mode {mode} needs a checkpoint")
    return Encoder(graph_vectors(graph), tokenizer, spec, mode, overlap)


def graph_vectors(graph: Path) -> Callable[[Sequence[Row]], list[Tensor]]:
    """Runs an exported graph row by row, as Waymark does."""
    run = onnx_runner(graph, threads=torch.get_num_threads())

    def vectors(rows: Sequence[Row]) -> list[Tensor]:
        out = []
        for row in rows:
            ids = numpy.array([row.ids], dtype=numpy.int64)
            positions = numpy.array([row.landmarks], dtype=numpy.int64)
            out.append(torch.from_numpy(run(Batch(ids, numpy.ones_like(ids), positions))[0]))
        return out

    return vectors


def late_rows(tokens: Sequence[Token], chunks: Sequence[Range], size: int, frame: Frame) -> list[Row]:
    """Windows without landmarks, closed by one separator; a part for each chunk."""
    parts = [ids for _, ids in blocks(tokens, chunks, size, frame.room - 1)]
    return _rows(parts, frame, [frame.cls, *frame.prefix], ())


def headed_rows(tokens: Sequence[Token], chunks: Sequence[Range], size: int, frame: Frame) -> list[Row]:
    """Windows with a [CLS] in front of each chunk, the prefix behind the first, closed by one separator."""
    parts = [ids for _, ids in blocks(tokens, chunks, size, frame.room - 1)]
    return _rows(parts, frame, [], (frame.cls,))


def _rows(parts: Sequence[Sequence[int]], frame: Frame, opening: list[int], head: tuple[int, ...]) -> list[Row]:
    room = frame.room if head else frame.room - 1
    costs = [len(ids) + len(head) for ids in parts]
    out = []
    for start, end in spans(costs, even_room(costs, room)):
        row, ranges = list(opening), []
        for number, ids in enumerate(parts[start:end]):
            prefix = frame.prefix if head and number == 0 else ()
            first = len(row)
            row.extend([*head, *prefix, *ids])
            ranges.append((first, len(row)))
        out.append(Row([*row, frame.landmark], ranges))
    return out
