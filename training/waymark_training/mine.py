"""Hard negatives: chunks that a model ranks high for a question that they do not answer."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path

import numpy
import torch
from torch import Tensor

from . import draw
from .bert import Bert
from .contrast import by_question
from .distil import question_chunk
from .draw import Chunk, runs
from .layout import Frame, spans
from .packed import Packed
from .settings import Mine, Settings
from .students import Parts
from .vectors import autocast, device_of, unit, window_vectors

BLOCK = 256  # questions scored at a time

log = logging.getLogger(__name__)


def mine(packed: Packed, settings: Settings, parts: Parts, out: Path) -> numpy.ndarray:
    """Writes rows of question, text, first, end: the best-ranked wrong chunks of each question."""
    model = parts.student.eval()
    gold = by_question(trainable(packed, settings))
    rng = numpy.random.default_rng(settings.seed)
    questions = [int(q) for q in rng.permutation(sorted(gold))[: settings.mine.questions]]
    texts = searched(packed, {chunk.text for q in questions for chunk in gold[q]}, settings.mine.texts, rng)
    found = Index(packed, texts, min(settings.mine.size, parts.passage.room - 1))
    log.info("searching %d chunks of %d texts for %d questions", len(found.chunks), len(texts), len(questions))
    with torch.no_grad(), autocast(device_of(model), settings.contrast.precision):
        windows = [w for t in texts for w in found.windows(t, parts.passage)]
        vectors = encoded(model, packed, windows, parts.passage)
        asked = encoded(model, packed, [[question_chunk(packed, q, parts.query)] for q in questions], parts.query)
    rows = []
    for start in range(0, len(questions), BLOCK):
        scores = (asked[start : start + BLOCK] @ vectors.T).cpu()
        for question, row in zip(questions[start : start + BLOCK], scores):
            mined = negatives(packed, settings.mine, gold[question], found, row)
            rows.extend((question, *chunk) for chunk in mined)
    table = numpy.array(rows, dtype=numpy.int32).reshape(-1, 4)
    part = out.with_name(out.name + ".part")
    with part.open("wb") as file:
        numpy.save(file, table)
    os.replace(part, out)
    log.info("%d negatives for %d questions", len(table), len(set(table[:, 0].tolist())))
    return table


def trainable(packed: Packed, settings: Settings) -> numpy.ndarray:
    """The gold rows of the mix's sources that are not held out."""
    weights = settings.mix.weights()
    wanted = numpy.array([weights.get(name, 0) > 0 for name in packed.names])
    gold = packed.gold
    return gold[wanted[packed.source[gold[:, 0]]] & ~packed.held[gold[:, 0]] & ~packed.held[gold[:, 1]]]


def searched(packed: Packed, answers: set[int], count: int, rng: numpy.random.Generator) -> list[int]:
    """The texts of the answers and, up to a count, other texts that answer something."""
    others = sorted({int(t) for t in packed.gold[:, 1] if not packed.held[t]} - answers)
    more = rng.permutation(others)[: max(count - len(answers), 0)]
    return sorted(answers | {int(t) for t in more})


class Index:
    """The chunks of some texts, all of one size, text after text."""

    def __init__(self, packed: Packed, texts: Sequence[int], size: int) -> None:
        self.chunks: list[Chunk] = []
        self._first: dict[int, int] = {}
        self._size = size
        for text in texts:
            self._first[text] = len(self.chunks)
            self.chunks += draw.cut(packed, Chunk(text, 0, packed.length(text)), size, natural=False)
        self._after = dict(zip(texts, [*(self._first[text] for text in texts[1:]), len(self.chunks)]))

    def windows(self, text: int, frame: Frame) -> list[list[Chunk]]:
        """A text's chunks, as many in a window as fit."""
        mine = self.chunks[self._first[text] : self._after[text]]
        return [mine[a:b] for a, b in spans([c.end - c.first + 1 for c in mine], frame.room)]

    def overlapping(self, chunk: Chunk) -> range:
        """The numbers of the chunks that share tokens with another range of a text."""
        first = self._first[chunk.text]
        return range(first + chunk.first // self._size, first + (chunk.end - 1) // self._size + 1)


def encoded(model: Bert, packed: Packed, windows: Sequence[Sequence[Chunk]], frame: Frame) -> Tensor:
    """The unit vectors of all landmarks of some windows."""
    return unit(torch.cat(window_vectors(model, [draw.lay(packed, w, frame) for w in windows], frame)))


def negatives(packed: Packed, limits: Mine, gold: Sequence[Chunk], found: Index, scores: Tensor) -> list[Chunk]:
    """The first chunks in a question's ranking that neither overlap an answer nor score as if they were one."""
    answers = set().union(*(runs(packed, chunk) for chunk in gold))
    best = max(float(scores[i]) for chunk in gold for i in found.overlapping(chunk))
    out = []
    for score, i in zip(*(x.tolist() for x in scores.topk(min(limits.depth, len(scores))))):
        chunk = found.chunks[i]
        if score <= best + limits.margin and runs(packed, chunk).isdisjoint(answers):
            out.append(chunk)
    return out[: limits.keep]
