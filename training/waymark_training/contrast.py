"""Stage 2: a question finds its passage, by the best landmark and by the pooled vector at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy
import torch
from numpy.random import Generator
from torch import Tensor

from . import draw, losses
from .batches import Row
from .bert import Bert
from .distil import MEASURED, compared, question_chunk
from .draw import Chunk, Sampler
from .layout import Frame, Window
from .packed import Packed
from .settings import Settings
from .students import Parts
from .vectors import at_heads, mean_vectors, row_vectors, to_device, unit, window_vectors


@dataclasses.dataclass(frozen=True)
class Drawn:
    """The questions of a step and the windows to find the answers in."""

    questions: list[int]
    windows: list[list[Chunk]]


@dataclasses.dataclass(frozen=True)
class Right:
    """Which candidates answer which question, and which only touch an answer: [questions, candidates]."""

    right: numpy.ndarray
    ignored: numpy.ndarray


class Contrasting:
    """The objective of stage 2. negatives are mined rows: question, then text, first and end of a chunk."""

    def __init__(self, packed: Packed, settings: Settings, parts: Parts, negatives: numpy.ndarray | None) -> None:
        self.packed = packed
        self.settings = settings.contrast
        self.plain = settings.distil
        self.parts = parts
        self.room = parts.passage.room
        self.sampler = Sampler(packed, settings.mix.weights())
        self.gold = by_question(packed.gold)
        self.negatives = by_question(negatives) if negatives is not None else {}
        if self.settings.pooling == "cls":
            # A window is one chunk (_cut), so that it has one vector; plain ones are
            # then whole texts, since parts of texts fill a window together.
            self.plain = dataclasses.replace(self.plain, whole=1.0)
        elif self.settings.pooling != "landmark":
            raise ValueError(f"pooling {self.settings.pooling!r}, want landmark or cls")
        if self.settings.negatives and not self.negatives:
            raise ValueError(f"the stage wants {self.settings.negatives} negatives a question, but none were given")
        held = Sampler(packed, settings.mix.weights(), held=True)
        rng = numpy.random.default_rng([settings.seed, MEASURED])
        self.held = self._draw(held, self.settings.measured, 0, rng)
        self.held_want = self._wanted(self.held)

    def loss(self, model: Bert, rng: Generator, progress: float) -> tuple[Tensor, dict[str, float], int]:
        s = self.settings
        drawn = self._draw(self.sampler, s.texts, s.negatives, rng)
        drawn.windows.extend(draw.windows(self.sampler, self.plain, s.plain, self.room, rng))
        asked, found, tokens = self._student(model, drawn)
        landmarks, documents = unit(torch.cat(found)), pooled(found)
        scores = asked @ landmarks.T
        answers = judge(self.packed, self.gold, drawn, s.overlap)
        texts = judge_windows(answers, drawn.windows)
        want_asked, want_landmarks = self._wanted(drawn)
        terms = {
            "landmark": s.landmark * _info_nce(scores, answers, s.temperature),
            "pooled": s.pooled * _info_nce(asked @ documents.T, texts, s.temperature),
            "anchor": s.anchor * (losses.cosine(landmarks, want_landmarks) + losses.cosine(asked, want_asked)),
        }
        several = [i for i, window in enumerate(drawn.windows) if len(window) > 1]
        if s.document and several:
            wanted = self._whole([drawn.windows[i] for i in several])
            terms["document"] = s.document * losses.cosine(documents[several], wanted)
        if s.soft:
            terms["soft"] = s.soft * losses.soft_labels(
                scores, want_asked @ want_landmarks.T, s.temperature, s.soft_temperature
            )
        return sum(terms.values()), {name: term.item() for name, term in terms.items()}, tokens

    def measure(self, model: Bert) -> dict[str, float]:
        """How often the first landmark, and the first window, is a right one, for the model and for its teacher."""
        asked, found, _ = self._student(model, self.held)
        landmarks = unit(torch.cat(found))
        want_asked, want_landmarks = self.held_want
        answers = judge(self.packed, self.gold, self.held, self.settings.overlap)
        texts = judge_windows(answers, self.held.windows)
        return {
            "landmark hit@1": _hit(asked @ landmarks.T, answers),
            "teacher hit@1": _hit(want_asked @ want_landmarks.T, answers),
            "pooled hit@1": _hit(asked @ pooled(found).T, texts),
        } | compared(landmarks, want_landmarks)

    def _draw(self, sampler: Sampler, count: int, negatives: int, rng: Generator) -> Drawn:
        """Questions with a window around an answer each, and windows of mined negatives."""
        drawn = Drawn([], [])
        source = self._source(sampler, rng) if rng.random() < self.settings.alike else None
        while len(drawn.questions) < count:
            name = source or self._source(sampler, rng)
            long = name.startswith("long/")
            together = int(rng.integers(1, self.settings.together + 1)) if long else 1
            for question, answer in sampler.gold(rng, name, min(together, count - len(drawn.questions))):
                drawn.questions.append(question)
                part = around(self.packed, answer, self.settings.content, rng) if long else answer
                drawn.windows.append(self._cut(part, rng))
                mined = self.negatives.get(question, [])
                for i in rng.permutation(len(mined))[:negatives]:
                    drawn.windows.append(draw.fit([mined[i]], self.room))
        return drawn

    def _source(self, sampler: Sampler, rng: Generator) -> str:
        kind = "long" if rng.random() < self.settings.long else "pairs"
        if not sampler.has(kind):
            kind = "pairs" if kind == "long" else "long"
        return sampler.answered(rng, kind)

    def _cut(self, part: Chunk, rng: Generator) -> list[Chunk]:
        if self.settings.pooling == "cls":
            return draw.fit([part], self.room)
        size = int(rng.choice(self.settings.sizes))
        natural = rng.random() < self.settings.natural
        return draw.fit(draw.cut(self.packed, part, size, natural), self.room)

    def _question_windows(self, drawn: Drawn) -> list[list[Chunk]]:
        return [[question_chunk(self.packed, question, self.parts.query)] for question in drawn.questions]

    def _student(self, model: Bert, drawn: Drawn) -> tuple[Tensor, list[Tensor], int]:
        """The questions' unit vectors, each window's raw landmark states, and how many tokens were read."""
        questions = [draw.lay(self.packed, w, self.parts.query) for w in self._question_windows(drawn)]
        windows = [draw.lay(self.packed, w, self.parts.passage) for w in drawn.windows]
        asked = unit(torch.cat(self._vectors(model, questions, self.parts.query)))
        found = self._vectors(model, windows, self.parts.passage)
        return asked, found, sum(len(window.ids) for window in (*questions, *windows))

    def _vectors(self, model: Bert, windows: Sequence[Window], frame: Frame) -> list[Tensor]:
        if self.settings.pooling == "landmark":
            return window_vectors(model, windows, frame)
        rows = [Row(window.ids, [(0, len(window.ids))]) for window in windows]
        return row_vectors(model, rows, frame.pad, at_heads)

    def _wanted(self, drawn: Drawn) -> tuple[Tensor, Tensor]:
        """The teacher's vectors of the questions and of the chunks, each alone."""

        def vectors(windows: Sequence[Sequence[Chunk]], frame: Frame) -> Tensor:
            ids = [draw.ids(self.packed, chunk) for chunks in windows for chunk in chunks]
            return unit(mean_vectors(self.parts.teacher, ids, frame))

        return vectors(self._question_windows(drawn), self.parts.query), vectors(drawn.windows, self.parts.passage)

    def _whole(self, windows: Sequence[Sequence[Chunk]]) -> Tensor:
        """The teacher's vectors of windows as one text each."""
        ids = [[i for chunk in window for i in draw.ids(self.packed, chunk)] for window in windows]
        return unit(mean_vectors(self.parts.teacher, ids, self.parts.passage))


def by_question(rows: numpy.ndarray) -> dict[int, list[Chunk]]:
    """Rows of question, text, first, end as the chunks of each question."""
    out: dict[int, list[Chunk]] = {}
    for question, *chunk in rows.tolist():
        out.setdefault(question, []).append(Chunk(*chunk))
    return out


def around(packed: Packed, answer: Chunk, content: tuple[int, int], rng: Generator) -> Chunk:
    """A part of a long text that has a token drawn from the answer somewhere in it."""
    length = packed.length(answer.text)
    size = min(int(rng.integers(content[0], content[1] + 1)), length)
    inside = int(rng.integers(answer.first, answer.end))
    start = min(max(inside - int(rng.integers(size)), 0), length - size)
    return Chunk(answer.text, start, start + size)


def judge(packed: Packed, gold: dict[int, list[Chunk]], drawn: Drawn, overlap: int) -> Right:
    """A chunk answers a question if it shares enough tokens with an answer: so many, or a third of either.

    All chunks of a batch are judged by where they stand and by their words, so that
    another window of the same text, or a copy of it, is never taken for wrong.
    """
    listed = [chunk for window in drawn.windows for chunk in window]
    chunks = numpy.array(listed).reshape(-1, 3)
    right = numpy.zeros((len(drawn.questions), len(chunks)), dtype=bool)
    touched = numpy.zeros_like(right)
    answered: dict[bytes, set[int]] = {}
    for row, question in enumerate(drawn.questions):
        for text, first, end in gold[question]:
            shared = numpy.minimum(chunks[:, 2], end) - numpy.maximum(chunks[:, 1], first)
            shared = numpy.where(chunks[:, 0] == text, shared, 0)
            least = numpy.minimum(overlap, numpy.minimum((chunks[:, 2] - chunks[:, 1]) / 3, (end - first) / 3))
            touched[row] |= shared > 0
            right[row] |= (shared > 0) & (shared >= least)
            for run in draw.runs(packed, Chunk(text, first, end)):
                answered.setdefault(run, set()).add(row)
    for column, chunk in enumerate(listed):
        for run in draw.runs(packed, chunk) & answered.keys():
            touched[list(answered[run]), column] = True
    return Right(right, touched & ~right)


def judge_windows(chunks: Right, windows: Sequence[Sequence[Chunk]]) -> Right:
    """A window is right if one of its chunks is."""
    starts = numpy.concatenate([[0], numpy.cumsum([len(window) for window in windows])[:-1]]).astype(int)
    right = numpy.logical_or.reduceat(chunks.right, starts, axis=1)
    return Right(right, numpy.logical_or.reduceat(chunks.ignored, starts, axis=1) & ~right)


def pooled(found: Sequence[Tensor]) -> Tensor:
    """The unit vectors of windows: means of raw landmark states."""
    return unit(torch.stack([vectors.mean(dim=0) for vectors in found]))


def _info_nce(scores: Tensor, answers: Right, temperature: float) -> Tensor:
    right, ignored = (to_device(x, scores.device) for x in (answers.right, answers.ignored))
    return losses.info_nce(scores, right, ignored, temperature)


def _hit(scores: Tensor, answers: Right) -> float:
    """How often the best candidate is right, of those questions that have one."""
    right = to_device(answers.right, scores.device)
    first = scores.argmax(dim=1, keepdim=True)
    return right.gather(1, first)[right.any(dim=1)].float().mean().item()
